//! A gate without its types, so that one layer can hold the methods of a service.

use bytes::Bytes;
use counterfoil_core::{
    Subject,
    answer::{Answer, Status, Wording},
    engine::Params,
};
use http::{Extensions, HeaderMap};
use prost::Message;

use super::{GrpcGate, frame::framed};
use crate::{Failures, confirm::Limits, run::Run};

/// A gate, erased.
pub(super) trait Guarded: Send + Sync {
    /// All checks between the frame and the claim, in their order. The store is asked by none of them.
    fn prepare(
        &self,
        subject: Subject,
        metadata: &HeaderMap,
        extensions: &Extensions,
        message: Bytes,
    ) -> Result<Prepared, Answer>;

    fn wording(&self) -> &Wording;

    fn failures(&self) -> Failures;

    fn limits(&self) -> Limits;
}

/// A call that may be claimed.
pub(super) struct Prepared {
    /// What was read from its message, in a frame: no more than was bound reaches the method.
    pub(super) body: Bytes,
    pub(super) run: Run,
}

impl<M, P> Guarded for GrpcGate<M, P>
where
    M: Message + Default + 'static,
    P: Params,
{
    fn prepare(
        &self,
        subject: Subject,
        metadata: &HeaderMap,
        extensions: &Extensions,
        message: Bytes,
    ) -> Result<Prepared, Answer> {
        let credential = self.credential(subject, metadata, extensions)?;
        let length = message.len();
        let message = M::decode(message)
            .map_err(|_| Answer::new(Status::ParamsInvalid).with_reason("syntax"))?;
        if message.encoded_len() != length && !self.drops_unknown_fields() {
            return Err(Answer::new(Status::ParamsInvalid).with_reason("unknown_member"));
        }
        let too_large = || Answer::new(Status::BodyTooLarge);
        let body = framed(&message).ok_or_else(too_large)?;
        let params = self.bind(message)?;
        let run = self.ready(credential, params)?.erased();
        Ok(Prepared { body, run })
    }

    fn wording(&self) -> &Wording {
        self.wording()
    }

    fn failures(&self) -> Failures {
        self.failures()
    }

    fn limits(&self) -> Limits {
        self.limits()
    }
}
