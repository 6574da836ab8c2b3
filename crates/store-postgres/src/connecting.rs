//! How a builder comes to a server: migrating, and looking whether it is fit.

use std::{sync::Arc, time::Duration};

use counterfoil_core::Timestamp;
use tokio::time::timeout;
use tokio_postgres::{
    Client, Config,
    config::{SslMode, TargetSessionAttrs},
};

use crate::{
    ConnectError, PostgresStore, PostgresStoreBuilder,
    calls::purge::Progress,
    database::{Database, Limits},
    failure::Warnings,
    lanes::Lanes,
    machine::{Machines, Sessions},
    migrate,
    partitions::Days,
    startup,
    template::{LOCK_TIMEOUT, SchemaName},
    wire::Wire,
};

impl PostgresStoreBuilder {
    /// Creates the schema, or brings it up to this version. Does nothing where that is done; many processes may do it at
    /// the same time.
    ///
    /// The role needs the right to create a schema in the database, or to create tables in one that exists.
    ///
    /// # Errors
    ///
    /// [`ConnectError::SchemaIsNewer`], or any of those about connecting. Nothing is left half done.
    pub async fn migrate(&self) -> Result<(), ConnectError> {
        let schema = SchemaName::parse(&self.schema)?;
        let mut client = self.open(&self.wire()?).await?;
        let doing = "migrating the schema";
        within(MIGRATION, doing, migrate::migrate(&mut client, &schema)).await
    }

    /// Connects to a server that is fit for it, and to a schema of this version.
    ///
    /// # Errors
    ///
    /// Any [`ConnectError`].
    pub async fn connect(self) -> Result<PostgresStore, ConnectError> {
        let schema = SchemaName::parse(&self.schema)?;
        let wire = self.wire()?;
        let doing = "looking at the server";
        let look = async {
            let client = self.open(&wire).await?;
            startup::check(&client, self.only_warn).await?;
            migrate::check(&client, &schema).await
        };
        within(self.limits.connect * 2 + self.limits.call, doing, look).await?;

        let database = Database::new(
            self.config(),
            wire,
            self.max_connections.max(1),
            self.limits,
            !self.behind_pooler,
        )
        .map_err(|_| ConnectError::NoRuntime)?;
        let database = Arc::new(database);
        let sessions = if self.behind_pooler {
            Sessions::Shared
        } else {
            Sessions::Own
        };
        let machines = Arc::new(Machines::new(&schema, sessions));
        let days = Arc::new(Days::default());
        let store = PostgresStore {
            lanes: Lanes::new(&database, &machines, &days, self.sharing),
            database,
            machines,
            progress: Arc::new(Progress::default()),
            schema,
            commit_delay: self.commit_delay,
        };
        let now = Timestamp::from_unix_ms(0);
        days.make(&store.database, &store.machines, now).await;
        Ok(store)
    }

    fn wire(&self) -> Result<Wire, ConnectError> {
        match (&self.tls, self.config.get_ssl_mode()) {
            (None, SslMode::Require) => return Err(ConnectError::TlsWithoutRoots),
            (Some(_), SslMode::Disable) => return Err(ConnectError::TlsDisabled),
            _ => {}
        }
        Ok(Wire {
            tls: self.tls.clone(),
            greeting: (!self.behind_pooler).then(|| greeting(&self.limits)),
            warnings: Arc::new(Warnings::default()),
        })
    }

    fn config(&self) -> Config {
        let mut config = self.config.clone();
        if self.tls.is_some() {
            // Else whoever sits in between could strip it.
            config.ssl_mode(SslMode::Require);
        }
        if config.get_application_name().is_none() {
            config.application_name("counterfoil");
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(DEAD_AFTER);
        }
        if config.get_keepalives_idle() > IDLE_PROBE {
            config.keepalives_idle(IDLE_PROBE);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(NEXT_PROBE);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(PROBES);
        }
        config
    }

    /// A connection for looking and migrating: of several hosts to the one that can be written to, and where there is none
    /// to whatever answers, so that `startup` can say what it is.
    async fn open(&self, wire: &Wire) -> Result<Client, ConnectError> {
        if self.config.get_hosts().len() > 1
            && let Ok(client) = self.open_to(wire, TargetSessionAttrs::ReadWrite).await
        {
            return Ok(client);
        }
        self.open_to(wire, TargetSessionAttrs::Any).await
    }

    async fn open_to(
        &self,
        wire: &Wire,
        target: TargetSessionAttrs,
    ) -> Result<Client, ConnectError> {
        let mut config = self.config();
        config.target_session_attrs(target);
        let doing = "connecting to the server";
        let opened = async {
            let opened = wire.open(&config).await;
            opened.map_err(|source| ConnectError::Database { doing, source })
        };
        let (client, _) = within(self.limits.connect, doing, opened).await?;
        Ok(client)
    }
}

/// How long a migration may take, with waiting for another process that is at it.
const MIGRATION: Duration = Duration::from_secs(120);

/// After so long without a sign of life, a connection is given up by the system.
const DEAD_AFTER: Duration = Duration::from_secs(10);

/// An idle connection is probed so often: a firewall that forgets it must not cost a call its deadline.
const IDLE_PROBE: Duration = Duration::from_secs(30);

/// A probe that is not answered is sent again after this, and so many in a row end the connection where the system has no
/// time of its own for a peer that is silent.
const NEXT_PROBE: Duration = Duration::from_secs(5);
const PROBES: u32 = 3;

/// What a session of our own is told: bounds for statements that nobody waits for any more, the isolation that the
/// transitions are written for, and what those have no settings of their own for: names that nobody can shadow, and plans
/// that are made once.
fn greeting(limits: &Limits) -> String {
    let scan = limits.scan.as_millis();
    format!(
        "SET default_transaction_isolation = 'read committed'; SET statement_timeout = {scan}; \
         SET idle_in_transaction_session_timeout = {scan}; SET lock_timeout = '{LOCK_TIMEOUT}'; \
         SET search_path = pg_catalog, pg_temp; SET plan_cache_mode = force_generic_plan"
    )
}

async fn within<T>(
    limit: Duration,
    doing: &'static str,
    work: impl Future<Output = Result<T, ConnectError>>,
) -> Result<T, ConnectError> {
    match timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => Err(ConnectError::TimedOut { doing, limit }),
    }
}
