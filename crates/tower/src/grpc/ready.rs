//! Claims, and runs, in tasks of their own.

use std::{future::Future, sync::Arc};

use counterfoil_core::{
    OperationId, Subject,
    answer::{Answer, Status},
    engine::{Admission, Attempt, Bound, Execution, Gate, Outcome, Settled, Verdict},
    fingerprint::Opened,
    idempotency::Keyed,
};
use tokio::sync::oneshot;
use tracing::Instrument;

/// What names the operation of a call.
pub(super) enum Credential {
    Fingerprint(Opened),
    Key(Keyed),
}

/// A call that may be claimed.
pub(super) struct Ready<P> {
    gate: Gate<P>,
    admission: Admission,
    subject: Subject,
    credential: Credential,
    params: Bound<P>,
}

/// What its caller is to be told.
pub(super) struct Told {
    /// Whether the handler's own reply stands.
    pub(super) own_reply: bool,
    pub(super) answer: Answer,
}

impl From<Answer> for Told {
    fn from(answer: Answer) -> Self {
        Self {
            own_reply: false,
            answer,
        }
    }
}

impl Credential {
    fn operation_id(&self) -> OperationId {
        match self {
            Self::Fingerprint(opened) => opened.terms().id(),
            Self::Key(keyed) => keyed.operation_id(),
        }
    }
}

impl<P: Send + Sync + 'static> Ready<P> {
    pub(super) fn new(
        gate: Gate<P>,
        subject: Subject,
        credential: Credential,
        params: Bound<P>,
    ) -> Result<Self, Answer> {
        let id = credential.operation_id();
        let admission = gate.admit().map_err(|refused| refused.with_operation(id))?;
        Ok(Self {
            gate,
            admission,
            subject,
            credential,
            params,
        })
    }

    /// Claims, and runs the handler if it is this caller's to run.
    ///
    /// Cancellation: dropping this future changes nothing but that a duplicate stops waiting.
    pub(super) async fn run<F, Fut>(self, handler: F) -> Told
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
            subject,
            credential,
            params,
        } = self;
        match credential {
            Credential::Fingerprint(opened) => {
                gate.claim(admission, &subject, opened, params, gone).await
            }
            Credential::Key(keyed) => gate.claim_keyed(admission, keyed, params, gone).await,
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
        // The first caller of an unknown outcome is told it, as every later one: an `INTERNAL` or `UNAVAILABLE` of the
        // handler's reads as leave to begin anew.
        own_reply: own_response && answer.status != Status::OutcomeUnknown,
        answer,
    }
}
