//! Confirming without HTTP: the claim, and the handler, each in a task of its own.

use std::{future::Future, sync::Arc};

use tokio::sync::oneshot;
use tracing::Instrument;

use super::{Admission, Attempt, Bound, Execution, Gate, Outcome, Verdict};
use crate::{
    Subject,
    answer::{Answer, Status},
    fingerprint::Opened,
};

impl<P: Send + Sync + 'static> Gate<P> {
    /// Confirms without a handler at hand: whoever gets [`Verdict::Run`] starts and completes the run.
    ///
    /// Cancellation: dropping this future is safe. The claim is made by a task of its own, and one that arrives with
    /// nobody waiting is released: nothing ran.
    pub async fn confirm(
        &self,
        subject: &Subject,
        fingerprint: &str,
        params: Bound<P>,
    ) -> Verdict<P> {
        let (opened, admission) = match self.enter(subject, fingerprint) {
            Ok(entered) => entered,
            Err(answer) => return Verdict::Answer(answer),
        };
        let id = opened.terms().id();
        let (mut tx, rx) = oneshot::channel();
        let (gate, subject) = (self.clone(), subject.clone());
        self.spawn(async move {
            let claim = gate.claim(admission, &subject, opened, params, tx.closed());
            let verdict = claim.await;
            // A dropped receiver hands the execution back, and its drop releases.
            let _ = tx.send(verdict);
        });
        rx.await.unwrap_or_else(|_| {
            Verdict::Answer(Answer::new(Status::OutcomeUnknown).with_operation(id))
        })
    }

    /// Confirms, runs the handler if it is this caller's to run, stores what it says, and tells.
    ///
    /// The handler runs in a task of its own: a panic is UNKNOWN, and a blocking handler does not stop renewals.
    ///
    /// Cancellation: dropping this future changes nothing. The handler runs to its end and its result is kept.
    pub async fn run<F, Fut>(
        &self,
        subject: &Subject,
        fingerprint: &str,
        params: Bound<P>,
        handler: F,
    ) -> Answer
    where
        F: FnOnce(Attempt, Arc<P>) -> Fut + Send + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let (opened, admission) = match self.enter(subject, fingerprint) {
            Ok(entered) => entered,
            Err(answer) => return answer,
        };
        let id = opened.terms().id();
        let (mut tx, rx) = oneshot::channel();
        let (gate, subject) = (self.clone(), subject.clone());
        self.spawn(async move {
            let claim = gate.claim(admission, &subject, opened, params, tx.closed());
            let answer = match claim.await {
                Verdict::Answer(answer) => answer,
                Verdict::Run(execution) => run_handler(execution, handler).await,
            };
            // The caller may be gone; the record has it.
            let _ = tx.send(answer);
        });
        rx.await
            .unwrap_or_else(|_| Answer::new(Status::OutcomeUnknown).with_operation(id))
    }

    fn enter(&self, subject: &Subject, fingerprint: &str) -> Result<(Opened, Admission), Answer> {
        let opened = self.open(subject, fingerprint.as_bytes())?;
        let id = opened.terms().id();
        let admission = self.admit().map_err(|refused| refused.with_operation(id))?;
        Ok((opened, admission))
    }
}

pub(super) async fn run_handler<P, F, Fut>(execution: Execution<P>, handler: F) -> Answer
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
    running.complete(outcome).await.answer
}
