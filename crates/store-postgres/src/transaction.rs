//! Claims and completions in a transaction of the caller's.

use counterfoil_core::store::{Acquire, Acquired, Completed, Completion, Lease, StoreError};
use tokio::time::timeout;
use tokio_postgres::{Row, Transaction, types::ToSql};

use crate::{
    PostgresStore,
    calls::{acquire, finish},
    database::typed,
    failure::{self, misuse, not_applied},
    machine::Statement,
};

/// For a write that ends in this very database, with no outward call inside: business rows, claim and completion commit
/// or vanish together, and a lost reply to the COMMIT is the only doubt there is. [`find`](counterfoil_core::store::Store::find)
/// clears it: either the operation is on record with its result, or nothing of it happened.
///
/// ```no_run
/// use counterfoil_core::store::{Acquire, Acquired, Completion, StoreError};
/// use counterfoil_store_postgres::{PostgresStore, tokio_postgres::Client};
///
/// async fn pay(
///     store: &PostgresStore,
///     client: &mut Client,
///     request: &Acquire,
///     completion: &Completion,
/// ) -> Result<Option<Acquired>, Box<dyn std::error::Error>> {
///     let transaction = client.transaction().await?;
///     match store.acquire_in(&transaction, request).await? {
///         Acquired::Claimed(claimed) => {
///             transaction
///                 .execute("UPDATE accounts SET balance = balance - 5 WHERE id = 7", &[])
///                 .await?;
///             store.complete_in(&transaction, &claimed.lease, completion).await?;
///             store.commit(transaction).await?;
///             Ok(None)
///         }
///         // Dropped, the transaction is rolled back. The caller is told what stands.
///         stands => Ok(Some(stands)),
///     }
/// }
/// ```
///
/// The transaction must be READ COMMITTED, and short: while it is open, a call that has to write the same record waits for
/// it, up to half a second, and so does a claim of an operation that it claimed first. Then that one is told what stood
/// before, or `NotApplied`. A claim that has only to be told what stands waits for nobody. **After an error, roll it back**: nothing of it is applied then, which is
/// why no error here is `Indeterminate` but those of [`commit`](Self::commit).
impl PostgresStore {
    /// [`acquire`](counterfoil_core::store::Store::acquire) in a transaction. It does not wait for another transaction that
    /// claims the same operation in this way, so that no two of them can hold each other up.
    ///
    /// # Errors
    ///
    /// `NotApplied`, also where another transaction is at this operation and there is no record to show. `Misuse` for a
    /// transaction of another isolation than READ COMMITTED, and for guards.
    pub async fn acquire_in(
        &self,
        transaction: &Transaction<'_>,
        request: &Acquire,
    ) -> Result<Acquired, StoreError> {
        acquire::check(request)?;
        let asked = acquire::Asked::new(request);
        let statement = &self.machines.of(request.id).acquire_in;
        let rows = self.ask_in(transaction, statement, &asked.values()).await?;
        acquire::read_in(&rows, request)
    }

    /// [`complete`](counterfoil_core::store::Store::complete) in a transaction: best as its last statement.
    ///
    /// # Errors
    ///
    /// `NotApplied`; `Misuse` for a transaction of another isolation than READ COMMITTED.
    pub async fn complete_in(
        &self,
        transaction: &Transaction<'_>,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        let said = finish::Said::new(held, completion)?;
        let statement = &self.machines.of(held.id).complete_in;
        let rows = self.ask_in(transaction, statement, &said.values()).await?;
        finish::read(&rows)
    }

    /// Commits a transaction that still can be. The driver's own `commit` reports success for one that an error has aborted,
    /// and stores nothing.
    ///
    /// # Errors
    ///
    /// `NotApplied`: it was aborted, or the server refused to commit it. `Indeterminate`: the reply was lost; find the
    /// operation. A warning about a synchronous standby goes to the connection's own listener, and isn't seen here.
    pub async fn commit(&self, transaction: Transaction<'_>) -> Result<(), StoreError> {
        let limit = self.database.limits().call;
        match timeout(limit, transaction.batch_execute("SELECT 1")).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(aborted(error)),
            Err(_) => return Err(failure::timed_out(false)),
        }
        match timeout(limit, transaction.commit()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(failure::of_statement(error).into()),
            Err(_) => Err(failure::timed_out(true)),
        }
    }

    /// Unnamed statements: the caller's connection may lead through a transaction pooler.
    async fn ask_in(
        &self,
        transaction: &Transaction<'_>,
        statement: &Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let values = typed(statement, values);
        let asked = transaction.query_typed(&statement.sql, &values);
        match timeout(self.database.limits().call, asked).await {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err(error)) => Err(aborted(error)),
            Err(_) => Err(failure::timed_out(false)),
        }
    }
}

fn aborted(error: tokio_postgres::Error) -> StoreError {
    not_applied("the transaction is aborted, and must be rolled back")
        .with_source(failure::cause(error))
}

/// For a transaction in which transitions are not safe.
pub(crate) fn wrong_isolation() -> StoreError {
    misuse("the transaction is not READ COMMITTED")
}
