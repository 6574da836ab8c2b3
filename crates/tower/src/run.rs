//! Claims, and runs, in tasks of their own: the one way from a request that passed its checks to what its caller is told.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use counterfoil_core::{
    OperationId, Subject,
    answer::{Answer, Status},
    engine::{Admission, Attempt, Bound, Execution, Gate, Outcome, Settled, Verdict},
    fingerprint::Opened,
    idempotency::Keyed,
};
use tokio::sync::oneshot;
use tracing::Instrument;

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Calls the handler, and says what its response means.
pub(crate) type Handler = Box<dyn FnOnce(Attempt) -> BoxFuture<Outcome> + Send>;

/// A [`Ready`] without its params type: a layer needs no type parameter.
pub(crate) type Run = Box<dyn FnOnce(Handler) -> BoxFuture<Told> + Send>;

/// What names the operation of a request.
pub(crate) enum Credential {
    Fingerprint {
        subject: Subject,
        opened: Opened,
    },
    Key {
        keyed: Keyed,
        /// What to name where the claim finds the key's time at fault.
        field: String,
    },
}

/// A request that may be claimed: it passed all checks that come before.
pub(crate) struct Ready<P> {
    gate: Gate<P>,
    admission: Admission,
    credential: Credential,
    params: Bound<P>,
}

/// What its caller is to be told.
pub(crate) struct Told {
    /// Whether the handler's own response stands.
    pub(crate) own_response: bool,
    /// What stands, beside that response or in its place.
    pub(crate) answer: Answer,
}

impl From<Answer> for Told {
    fn from(answer: Answer) -> Self {
        Self {
            own_response: false,
            answer,
        }
    }
}

impl Credential {
    fn operation_id(&self) -> OperationId {
        match self {
            Self::Fingerprint { opened, .. } => opened.terms().id(),
            Self::Key { keyed, .. } => keyed.operation_id(),
        }
    }
}

impl<P: Send + Sync + 'static> Ready<P> {
    pub(crate) fn new(
        gate: Gate<P>,
        credential: Credential,
        params: Bound<P>,
    ) -> Result<Self, Answer> {
        let id = credential.operation_id();
        let admission = gate.admit().map_err(|refused| refused.with_operation(id))?;
        Ok(Self {
            gate,
            admission,
            credential,
            params,
        })
    }

    pub(crate) fn erased(self) -> Run {
        Box::new(|handler| Box::pin(self.run(|attempt, _| handler(attempt))))
    }

    /// Claims, and runs the handler if it is this caller's to run.
    ///
    /// Cancellation: dropping this future changes nothing but that a duplicate stops waiting.
    pub(crate) async fn run<F, Fut>(self, handler: F) -> Told
    where
        F: FnOnce(Attempt, Arc<P>) -> Fut + Send + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let id = self.credential.operation_id();
        let gate = self.gate.clone();
        let (mut tx, rx) = oneshot::channel();
        gate.spawn(async move {
            let told = match self.claim(tx.closed()).await {
                Verdict::Answer(answer) => answer.into(),
                Verdict::Run(execution) => run_handler(execution, handler).await,
            };
            // The caller may be gone. What it was to be told is on record.
            drop(tx.send(told));
        });
        // Without a word the task is gone: the runtime ends, or we have a fault.
        rx.await.unwrap_or_else(|_| {
            Answer::new(Status::OutcomeUnknown)
                .with_operation(id)
                .into()
        })
    }

    async fn claim(self, gone: impl Future<Output = ()> + Send) -> Verdict<P> {
        let Self {
            gate,
            admission,
            credential,
            params,
        } = self;
        match credential {
            Credential::Fingerprint { subject, opened } => {
                gate.claim(admission, &subject, opened, params, gone).await
            }
            Credential::Key { keyed, field } => {
                match gate.claim_keyed(admission, keyed, params, gone).await {
                    Verdict::Answer(answer) if answer.status == Status::KeyInvalid => {
                        Verdict::Answer(answer.with_field(field))
                    }
                    verdict => verdict,
                }
            }
        }
    }
}

/// The handler has a task of its own: a panic ends it and not this one, and one that blocks stops no renewal.
async fn run_handler<P, F, Fut>(execution: Execution<P>, handler: F) -> Told
where
    P: Send + Sync + 'static,
    F: FnOnce(Attempt, Arc<P>) -> Fut + Send + 'static,
    Fut: Future<Output = Outcome> + Send + 'static,
{
    let params = Arc::clone(execution.params());
    let running = execution.start();
    let attempt = running.attempt().clone();
    let call = async move { handler(attempt, params).await };
    let outcome = match tokio::spawn(call.in_current_span()).await {
        Ok(outcome) => outcome,
        Err(failed) if failed.is_panic() => Outcome::Unknown("the handler panicked"),
        Err(_) => Outcome::Unknown("the handler was aborted"),
    };
    let Settled {
        own_response,
        answer,
        ..
    } = running.complete(outcome).await;
    Told {
        own_response,
        answer,
    }
}

/// What a handler left for its caller, once it has ended. Clones are the same place.
pub(crate) struct Left<T>(Arc<Mutex<Option<T>>>);

impl<T> Left<T> {
    pub(crate) fn put(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Default for Left<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Left<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
