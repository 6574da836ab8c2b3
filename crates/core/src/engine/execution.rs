//! A claim that was won, and its run.

use std::{fmt, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{
    Admission, Attempt, LeaseTime, Outcome, Settled, completion, giving_back, renewal, run::Run,
};
use crate::OperationId;

/// A claim that was won and not started yet. Dropped, it is released: nothing ran.
///
/// Its lease runs already, and nothing renews it before [`start`](Self::start): start it at once, and act on the params
/// only then. Started after the lease has lapsed, the run begins with
/// [`Attempt::is_lease_lost`](super::Attempt::is_lease_lost), and gets no downstream key.
#[must_use = "a claim that isn't started is released"]
pub struct Execution<P> {
    params: Arc<P>,
    ready: Option<(Arc<Run>, Admission)>,
}

impl<P: Send + Sync + 'static> Execution<P> {
    pub(super) fn new(run: Run, params: Arc<P>, admission: Admission) -> Self {
        Self {
            params,
            ready: Some((Arc::new(run), admission)),
        }
    }

    /// The validated params.
    #[must_use]
    pub fn params(&self) -> &Arc<P> {
        &self.params
    }

    /// The operation.
    #[must_use]
    pub fn operation_id(&self) -> OperationId {
        self.ready.as_ref().map_or_else(
            || unreachable!("only start() takes it, and consumes self"),
            |(run, _)| run.lease.id,
        )
    }

    /// Starts the renewals. From here on the handler may run, and a drop is doubt: UNKNOWN, never a release.
    pub fn start(mut self) -> Running {
        let Some((run, admission)) = self.ready.take() else {
            unreachable!("only start() takes it, and consumes self");
        };
        let stop = CancellationToken::new();
        let renewals = renewal::keep_alive(Arc::clone(&run), stop.clone());
        run.spawn(renewals);
        Running {
            attempt: Attempt(run),
            stop,
            admission: Some(admission),
        }
    }
}

impl<P> Drop for Execution<P> {
    fn drop(&mut self) {
        let Some((run, admission)) = self.ready.take() else {
            return;
        };
        let (shared, lease) = (Arc::clone(&run.shared), run.lease);
        run.spawn(giving_back::release(
            shared,
            lease,
            run.time.max_run(),
            admission,
        ));
    }
}

impl<P> fmt::Debug for Execution<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution").finish_non_exhaustive()
    }
}

/// A run in progress: its lease is renewed until it is completed. Dropped uncompleted it is UNKNOWN, never released.
#[must_use = "a run that isn't completed becomes unknown"]
pub struct Running {
    attempt: Attempt,
    stop: CancellationToken,
    admission: Option<Admission>,
}

impl Running {
    /// The handler's context.
    #[must_use]
    pub const fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// How long the run may take, and is kept alive.
    #[must_use]
    pub fn time(&self) -> LeaseTime {
        self.attempt.0.time
    }

    /// Writes down how it ended, and says what the caller is to be told.
    ///
    /// A declared word that contradicts the outcome leaves doubt: the operation is UNKNOWN then.
    ///
    /// Cancellation: the completion goes on in a task of its own; dropping this future only loses the answer.
    pub async fn complete(mut self, outcome: Outcome) -> Settled {
        let admission = self.admission.take();
        let outcome = self.weighed(outcome);
        completion::complete(&self.attempt.0, outcome, self.stop.clone(), admission).await
    }

    fn weighed(&self, outcome: Outcome) -> Outcome {
        let declared = self.attempt.0.close_word();
        match (declared, outcome.disposition()) {
            (None, _) | (_, Some(super::Disposition::Unknown)) => outcome,
            (Some(word), said) if said == Some(word) => outcome,
            _ => Outcome::Unknown("the handler said two different things"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(admission) = self.admission.take() else {
            return;
        };
        self.attempt.0.close_word();
        let (run, stop) = (Arc::clone(&self.attempt.0), self.stop.clone());
        let settle = async move {
            let doubt = Outcome::Unknown("the run was dropped before it was completed");
            // Nobody is left to be told.
            let _ = completion::complete(&run, doubt, stop, Some(admission)).await;
        };
        self.attempt.0.spawn(settle);
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
