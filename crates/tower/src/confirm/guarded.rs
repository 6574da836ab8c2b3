//! A gate without its params type, so that a layer needs no type parameter.

use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use counterfoil_core::{
    OperationId, Subject,
    answer::{Answer, Status},
    engine::{Admission, Bound, Gate, Running, Verdict},
    fingerprint::Opened,
};
use http::{HeaderMap, request::Parts};

use crate::{
    headers,
    http_answer::Refusal,
    request::{Reading, json_of},
};

/// A gate, erased.
#[async_trait]
pub(crate) trait Guarded: Send + Sync {
    /// What can be said of the head alone, before the body is waited for.
    fn look(&self, _: &Parts) -> Result<(), Refusal> {
        Ok(())
    }

    /// All checks that come before the claim, in their order. The store is asked by none of them.
    async fn prepare(
        &self,
        reading: &Reading,
        parts: &mut Parts,
        subject: Subject,
        body: &Bytes,
    ) -> Result<Box<dyn Prepared>, Refusal>;

    /// The scope's name, for `Debug`.
    fn scope(&self) -> &str;
}

/// A request that may be claimed.
#[async_trait]
pub(crate) trait Prepared: Send {
    /// The operation that its credential names.
    fn operation_id(&self) -> OperationId;

    /// Runs the rest of the call in a task that a shutdown waits for.
    fn spawn(self: Box<Self>, rest: Rest);

    /// Claims, and starts the run. Not cancel safe: only inside the task that has the operation.
    async fn claim(self: Box<Self>, gone: Gone<'_>) -> Result<Running, Box<Answer>>;
}

/// Ends when the caller has gone away.
pub(crate) type Gone<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What is to be done with a prepared request, in its own task.
pub(crate) type Rest =
    Box<dyn FnOnce(Box<dyn Prepared>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

#[async_trait]
impl<P: Send + Sync + 'static> Guarded for Gate<P> {
    async fn prepare(
        &self,
        reading: &Reading,
        parts: &mut Parts,
        subject: Subject,
        body: &Bytes,
    ) -> Result<Box<dyn Prepared>, Refusal> {
        let mut incoming = self.incoming(json_of(body))?;
        let in_body = incoming.take_fingerprint()?;
        // Signed in the fingerprint where it counts; sent along again it is no param.
        incoming.take_repeat_of()?;
        let fingerprint = credential(&parts.headers, in_body.as_deref())?;
        let opened = self.open(&subject, &fingerprint)?;
        reading.join(parts, &mut incoming).await?;
        let params = self.bind_incoming(incoming)?;
        let id = opened.terms().id();
        let admission = self.admit().map_err(|refused| refused.with_operation(id))?;
        Ok(Box::new(Ready {
            gate: self.clone(),
            admission,
            subject,
            opened,
            params,
        }))
    }

    fn scope(&self) -> &str {
        Self::scope(self).as_str()
    }
}

/// The one credential of a request: from the header, or from the body.
fn credential(headers: &HeaderMap, in_body: Option<&str>) -> Result<Vec<u8>, Answer> {
    let mut in_headers = headers.get_all(headers::FINGERPRINT).iter();
    let in_header = in_headers.next().map(http::HeaderValue::as_bytes);
    if in_headers.next().is_some() {
        return Err(Answer::new(Status::CredentialsDiffer));
    }
    match (in_header, in_body.map(str::as_bytes)) {
        (Some(one), Some(other)) if one != other => Err(Answer::new(Status::CredentialsDiffer)),
        (Some(one), _) | (None, Some(one)) => Ok(one.to_vec()),
        (None, None) => Err(Answer::new(Status::FingerprintRequired)),
    }
}

struct Ready<P> {
    gate: Gate<P>,
    admission: Admission,
    subject: Subject,
    opened: Opened,
    params: Bound<P>,
}

#[async_trait]
impl<P: Send + Sync + 'static> Prepared for Ready<P> {
    fn operation_id(&self) -> OperationId {
        self.opened.terms().id()
    }

    fn spawn(self: Box<Self>, rest: Rest) {
        let gate = self.gate.clone();
        gate.spawn(rest(self));
    }

    async fn claim(self: Box<Self>, gone: Gone<'_>) -> Result<Running, Box<Answer>> {
        let Self {
            gate,
            admission,
            subject,
            opened,
            params,
        } = *self;
        let claim = gate.claim(admission, &subject, opened, params, gone);
        match claim.await {
            Verdict::Run(execution) => Ok(execution.start()),
            Verdict::Answer(answer) => Err(answer.into()),
        }
    }
}
