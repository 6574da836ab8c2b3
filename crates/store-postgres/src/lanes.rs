//! The lanes of a store: claims and completions, for each table. Those of both tables can't share a statement.

use std::sync::Arc;

use counterfoil_core::{
    OperationId, Timestamp,
    store::{Acquire, Acquired, Completed, Completion, Lease, StoreError},
};

use crate::{
    calls::{acquire, acquire_batch, batch, complete_batch, finish, query},
    database::Database,
    failure::{Failure, indeterminate, not_applied},
    lane::{Lane, Limits, Statements},
    machine::Machines,
    partitions::{Days, keep_up},
};

/// What the results in one statement may weigh together, in bytes. The server keeps a statement's parameters and its lists
/// of them in memory, and would begin to write the lists to files at 4 MiB.
const WEIGHT: usize = 1 << 20;

/// How many calls share a statement, and how many statements there are at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    pub(crate) width: usize,
    pub(crate) batch: usize,
}

/// All lanes of a store. Clones are the same lanes.
#[derive(Clone)]
pub(crate) struct Lanes {
    timed: Pair,
    keyed: Pair,
}

#[derive(Clone)]
struct Pair {
    acquire: Lane<Acquires>,
    complete: Lane<Completes>,
}

impl Lanes {
    pub(crate) fn new(
        database: &Arc<Database>,
        machines: &Arc<Machines>,
        days: &Arc<Days>,
        sharing: Sharing,
    ) -> Self {
        let limits = Limits {
            width: sharing.width.max(1),
            batch: sharing.batch.max(1),
            weight: WEIGHT,
            wait: database.limits().wait,
        };
        let pair = || Pair {
            acquire: Lane::new(
                Acquires {
                    database: Arc::clone(database),
                    machines: Arc::clone(machines),
                    days: Arc::clone(days),
                },
                limits,
            ),
            complete: Lane::new(
                Completes {
                    database: Arc::clone(database),
                    machines: Arc::clone(machines),
                },
                limits,
            ),
        };
        Self {
            timed: pair(),
            keyed: pair(),
        }
    }

    pub(crate) async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        self.of(request.id).acquire.call(request).await
    }

    pub(crate) async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        // The result is shared, so that this copies little.
        let call = (*held, completion.clone());
        self.of(held.id).complete.call(&call).await
    }

    fn of(&self, id: OperationId) -> &Pair {
        if id.minted_at().is_some() {
            &self.timed
        } else {
            &self.keyed
        }
    }
}

/// Makes claims on one table.
struct Acquires {
    database: Arc<Database>,
    machines: Arc<Machines>,
    days: Arc<Days>,
}

impl Acquires {
    fn keep_up(&self, now: Timestamp) {
        keep_up(&self.days, &self.database, &self.machines, now);
    }
}

impl Statements for Acquires {
    type Call = Acquire;
    type Answer = Result<Acquired, StoreError>;

    async fn one(&self, request: &Acquire) -> Self::Answer {
        let machine = self.machines.of(request.id);
        let asked = acquire::Asked::new(request);
        match self.database.call(&machine.acquire, &asked.values()).await {
            Ok(rows) => {
                let (acquired, now) = acquire::read(&rows, request)?;
                self.keep_up(now);
                Ok(acquired)
            }
            Err(Failure::Locked(locked)) => {
                let found = query::find(&self.database, machine, request.id).await?;
                acquire::while_locked(request, found.record, locked)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    async fn many(&self, calls: &[Acquire]) -> Vec<Option<Self::Answer>> {
        let Some(first) = calls.first() else {
            return Vec::new();
        };
        let asked = acquire_batch::Batch::new(calls);
        let statement = &self.machines.of(first.id).acquire_batch;
        match self.database.call(statement, &asked.values()).await {
            Ok(rows) => match asked.read(&rows) {
                Ok((answers, now)) => {
                    self.keep_up(now);
                    answers
                }
                Err(error) => batch::shared(error, calls.len()),
            },
            Err(failure) => apart(failure, calls.len()),
        }
    }

    /// Its texts are short.
    fn weight(&self, _: &Acquire) -> usize {
        0
    }

    fn never_sent(&self) -> Self::Answer {
        Err(waited())
    }

    fn lost(&self) -> Self::Answer {
        Err(lost())
    }
}

/// Makes completions on one table.
struct Completes {
    database: Arc<Database>,
    machines: Arc<Machines>,
}

impl Statements for Completes {
    type Call = (Lease, Completion);
    type Answer = Result<Completed, StoreError>;

    async fn one(&self, (held, completion): &Self::Call) -> Self::Answer {
        let said = finish::Said::new(held, completion)?;
        let statement = &self.machines.of(held.id).complete;
        let rows = self.database.call(statement, &said.values()).await?;
        finish::read(&rows)
    }

    async fn many(&self, calls: &[Self::Call]) -> Vec<Option<Self::Answer>> {
        let Some((first, _)) = calls.first() else {
            return Vec::new();
        };
        let Ok(said) = complete_batch::Batch::new(calls) else {
            // One of them can't be said at all.
            return calls.iter().map(|_| None).collect();
        };
        let statement = &self.machines.of(first.id).complete_batch;
        match self.database.call(statement, &said.values()).await {
            Ok(rows) => match said.read(&rows) {
                Ok(answers) => answers,
                Err(error) => batch::shared(error, calls.len()),
            },
            Err(failure) => apart(failure, calls.len()),
        }
    }

    fn weight(&self, (_, completion): &Self::Call) -> usize {
        match completion {
            Completion::Ended { result, .. } | Completion::Accepted { result, .. } => {
                result.as_ref().map_or(0, |result| result.bytes.len())
            }
            _ => 0,
        }
    }

    fn never_sent(&self) -> Self::Answer {
        Err(waited())
    }

    fn lost(&self) -> Self::Answer {
        Err(lost())
    }
}

/// What the calls of a statement that failed are told; where one of them may be why, each is asked alone.
fn apart<A>(failure: Failure, calls: usize) -> Vec<Option<Result<A, StoreError>>> {
    if failure.may_be_of_one() {
        return (0..calls).map(|_| None).collect();
    }
    batch::shared(failure.into(), calls)
}

fn waited() -> StoreError {
    not_applied("the call waited too long for its statement to begin")
}

fn lost() -> StoreError {
    indeterminate("the statement that this call shared was given up")
}
