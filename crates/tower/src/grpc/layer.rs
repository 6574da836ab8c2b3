//! The layer: which methods of a service are guarded, and how their calls are read.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use counterfoil_core::{Subject, engine::Params};
use http::request::Parts;
use prost::Message;
use tower_layer::Layer;

use super::{GrpcConfirm, GrpcGate, methods::Methods};
use crate::request::{Reading, reading_methods};

/// Wraps a tonic service, so that a confirmed call of a method runs once and every retry gets the first reply.
///
/// Methods that are named here are guarded, each by its own gate; all others pass as they came. For a service that can be
/// changed, [`GrpcGate::confirm`] inside a method does the same with less; this layer is for services that can't be, and for
/// methods that reply with a stream.
///
/// The checks come in this order: the subject, the media type and the encoding, the body within its limits, its one frame,
/// the credential, the message, the params, the claim. From the claim on a task of its own has the operation, and a caller
/// that hangs up, or whose `grpc-timeout` ends, changes nothing.
///
/// # Where it goes
///
/// Around the generated service, with authentication outside of it: an interceptor layer that puts a [`Subject`] into the
/// extensions. Limits of concurrency go outside too.
///
/// # What the method sees
///
/// The message that was read, encoded again: nothing that wasn't bound reaches it. The metadata and the extensions are as
/// they came, and an [`Attempt`](counterfoil_core::engine::Attempt) is added to the extensions, with the params that were
/// hashed. Compression is taken out of the call on both ways, since the stored reply must be readable by every later caller.
///
/// # What its reply means
///
/// `OK` is done. For every other status the handler's word counts, given by
/// [`Attempt::declare`](counterfoil_core::engine::Attempt::declare), and it wins over every status. Without a word the
/// outcome is unknown, and its caller is told so in place of the status. So it is after an error of the service, a panic, and
/// a reply that ends without a status.
///
/// # Replies past the limit
///
/// A reply with its trailers is read whole before its first caller gets it, up to the gate's limits of bytes and time. Past
/// them it is handed on as it comes, and its trailers are held until the end is on record. A retry is told that it was done,
/// without the messages.
#[derive(Clone, Default)]
pub struct GrpcLayer {
    settings: Settings,
}

#[derive(Clone, Default)]
pub(super) struct Settings {
    pub(super) methods: Methods,
    pub(super) reading: Reading,
}

impl GrpcLayer {
    /// A layer that guards no method yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Guards the method at `path`, such as `/payouts.v1.Payouts/Confirm`. The last gate of a path counts.
    ///
    /// It is the path that the layer sees, letter by letter. A call whose path is spelt otherwise and has the same service
    /// and method in it, as behind a prefix, in other letters or with escapes, is `not_implemented` and reaches nothing:
    /// what stands further in might take it for this method, and run it unguarded. A method's name is not known here, so
    /// one that is written wrongly guards nothing: let a test see the metadata `counterfoil-status` of each method.
    ///
    /// # Panics
    ///
    /// If `path` is not a slash, a service, a slash and a method.
    #[must_use]
    pub fn with_method<M, P>(
        mut self,
        path: impl Into<Cow<'static, str>>,
        gate: GrpcGate<M, P>,
    ) -> Self
    where
        M: Message + Default + 'static,
        P: Params,
    {
        self.settings.methods.guard(path.into(), Arc::new(gate));
        self
    }
}

reading_methods!(GrpcLayer);

impl fmt::Debug for GrpcLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcLayer")
            .field("methods", &self.settings.methods.paths())
            .field("reading", &self.settings.reading)
            .finish()
    }
}

impl<S> Layer<S> for GrpcLayer {
    type Service = GrpcConfirm<S>;

    fn layer(&self, inner: S) -> GrpcConfirm<S> {
        GrpcConfirm::new(inner, self.settings.clone())
    }
}
