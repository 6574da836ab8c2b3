//! A statement's way to the server and back: a connection from the pool, and deadlines around it.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::{
    Config, Error, Row,
    config::TargetSessionAttrs,
    types::{ToSql, Type},
};

use crate::{
    failure::{self, Failure, Warnings},
    lent::Lent,
    machine::Statement,
    template::LOCK_TIMEOUT,
    wire::Wire,
};

/// How long each part of a call may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For a connection of the pool to be free.
    pub(crate) wait: Duration,
    /// For a new connection to stand.
    pub(crate) connect: Duration,
    /// For a statement's reply.
    pub(crate) call: Duration,
    /// For the reply of a statement that walks a table.
    pub(crate) scan: Duration,
}

/// How often a statement that was rolled back is sent again.
const ROUNDS: u32 = 3;

/// The pool, and how it is asked.
pub(crate) struct Database {
    pool: Pool,
    limits: Limits,
    /// Named statements live in a session, which a transaction pooler gives to another client after each transaction.
    named_statements: bool,
    warnings: Arc<Warnings>,
}

/// What became of a statement that runs by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    Through,
    /// Others were in the way. The rest of a build may be left behind.
    Hindered,
    /// Nobody waits for it any more.
    OutOfTime,
}

impl Database {
    pub(crate) fn new(
        config: Config,
        wire: Wire,
        max_connections: usize,
        limits: Limits,
        named_statements: bool,
    ) -> Result<Self, deadpool_postgres::BuildError> {
        let warnings = Arc::clone(&wire.warnings);
        let mut config = config;
        // Each new connection is asked whether it can write: after a failover one of several hosts is a standby, which
        // lags, and whose "there is no record" would be wrong.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let recycling = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool = Pool::builder(Manager::from_connect(config, wire, recycling))
            .max_size(max_connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(limits.wait))
            .create_timeout(Some(limits.connect))
            .recycle_timeout(Some(limits.connect))
            .build()?;
        Ok(Self {
            pool,
            limits,
            named_statements,
            warnings,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn status(&self) -> deadpool_postgres::Status {
        self.pool.status()
    }

    /// Sends a statement that is a transaction of its own. One that was rolled back for a reason that passes is sent again.
    pub(crate) async fn call(
        &self,
        statement: &Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        self.call_within(self.limits.call, statement, values).await
    }

    pub(crate) async fn call_within(
        &self,
        limit: Duration,
        statement: &Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        let mut round = 1;
        loop {
            match self.once(limit, statement, values).await {
                Err(Failure::Again(_)) if round < ROUNDS => round += 1,
                answer => return answer,
            }
        }
    }

    async fn once(
        &self,
        limit: Duration,
        statement: &Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        let object = self
            .pool
            .get()
            .await
            .map_err(|error| Failure::Final(failure::of_pool(error)))?;
        let lent = Lent::new(object);
        let warned = self.warnings.count();
        let mut sent = false;
        let reply = timeout(limit, self.ask(&lent, statement, values, &mut sent)).await;
        match reply {
            Ok(Ok(rows)) => {
                lent.give_back();
                if self.warnings.count() == warned {
                    Ok(rows)
                } else {
                    Err(Failure::Final(failure::indeterminate(
                        "the server warned while it committed: a standby may not have it",
                    )))
                }
            }
            Ok(Err(Broken::Preparing(error))) => Err(failure::of_preparing(error)),
            Ok(Err(Broken::Asking(error))) => {
                if failure::is_in_step(&error) {
                    lent.give_back();
                }
                Err(failure::of_statement(error))
            }
            Err(_) => Err(Failure::Final(failure::timed_out(sent))),
        }
    }

    /// Runs a statement that the server takes outside of a transaction only. Whether it has come to its end by `until`:
    /// where not, it may run on, on a connection that nobody has any more.
    pub(crate) async fn run(&self, until: Instant, ddl: &str) -> Result<Ran, Failure> {
        let object = self
            .pool
            .get()
            .await
            .map_err(|error| Failure::Final(failure::of_pool(error)))?;
        let mut lent = Lent::new(object);
        let Ok(ran) = timeout_at(until, self.patiently(&mut lent, ddl)).await else {
            return Ok(Ran::OutOfTime);
        };
        let Err(error) = ran else {
            lent.give_back();
            return Ok(Ran::Through);
        };
        if failure::is_in_step(&error) {
            lent.give_back();
        }
        if failure::is_hindrance(&error) {
            let error = failure::cause(error);
            tracing::debug!(%error, "an index of a day could not be built or dropped now");
            return Ok(Ran::Hindered);
        }
        Err(failure::of_statement(error))
    }

    /// A build waits for transactions that began before it, longer than a call waits for a row. Behind a pooler the session
    /// has no limit to lift.
    async fn patiently(&self, lent: &mut Lent, ddl: &str) -> Result<(), Error> {
        if !self.named_statements {
            return lent.client().batch_execute(ddl).await;
        }
        lent.set_altered(true);
        lent.client().batch_execute("SET lock_timeout = 0").await?;
        let ran = lent.client().batch_execute(ddl).await;
        let restored = format!("SET lock_timeout = '{LOCK_TIMEOUT}'");
        lent.client().batch_execute(&restored).await?;
        lent.set_altered(false);
        ran
    }

    async fn ask(
        &self,
        lent: &Lent,
        statement: &Statement,
        values: &[&(dyn ToSql + Sync)],
        sent: &mut bool,
    ) -> Result<Vec<Row>, Broken> {
        let client = lent.client();
        if self.named_statements {
            let prepared = client
                .prepare_typed_cached(&statement.sql, statement.types)
                .await
                .map_err(Broken::Preparing)?;
            *sent = true;
            client
                .query(&prepared, values)
                .await
                .map_err(Broken::Asking)
        } else {
            *sent = true;
            client
                .query_typed(&statement.sql, &typed(statement, values))
                .await
                .map_err(Broken::Asking)
        }
    }
}

/// Parameters with their types, as an unnamed statement takes them.
pub(crate) fn typed<'a>(
    statement: &Statement,
    values: &[&'a (dyn ToSql + Sync)],
) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    values
        .iter()
        .copied()
        .zip(statement.types.iter().cloned())
        .collect()
}

enum Broken {
    Preparing(Error),
    Asking(Error),
}
