//! What a store is made with.

use std::{fmt, sync::Arc, time::Duration};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres::Config;

use crate::{ConnectError, PostgresStore, database::Limits, lanes::Sharing};

/// Makes a [`PostgresStore`].
#[derive(Clone)]
#[must_use]
pub struct PostgresStoreBuilder {
    pub(crate) config: Config,
    pub(crate) schema: String,
    pub(crate) tls: Option<ClientConfig>,
    pub(crate) behind_pooler: bool,
    pub(crate) only_warn: bool,
    pub(crate) max_connections: usize,
    pub(crate) limits: Limits,
    pub(crate) sharing: Sharing,
    pub(crate) commit_delay: Duration,
}

impl PostgresStore {
    /// Begins with a URL such as `postgres://user:password@host:5432/database`.
    ///
    /// Without `sslmode` in it that is `prefer`, which here means plain text, password and all as whoever sits in between can
    /// read it, until the store is given root certificates: they make it `require`, and nothing is sent before the server
    /// has proved who it is. See [`with_tls_roots`](PostgresStoreBuilder::with_tls_roots).
    ///
    /// # Errors
    ///
    /// [`ConnectError::InvalidUrl`]; the URL is not shown, since it may hold a password.
    pub fn builder(url: &str) -> Result<PostgresStoreBuilder, ConnectError> {
        if url.contains("sslmode=verify") {
            return Err(ConnectError::SslModeVerify);
        }
        // The driver's error can quote a part of the text.
        let config = url.parse().map_err(|_| ConnectError::InvalidUrl)?;
        Ok(Self::builder_with(config))
    }

    /// Begins with a configuration of the driver.
    pub fn builder_with(config: Config) -> PostgresStoreBuilder {
        PostgresStoreBuilder {
            config,
            schema: PostgresStoreBuilder::DEFAULT_SCHEMA.to_owned(),
            tls: None,
            behind_pooler: false,
            only_warn: false,
            max_connections: PostgresStoreBuilder::DEFAULT_MAX_CONNECTIONS,
            limits: Limits {
                wait: PostgresStoreBuilder::DEFAULT_WAIT,
                connect: PostgresStoreBuilder::DEFAULT_CONNECT,
                call: PostgresStoreBuilder::DEFAULT_CALL,
                scan: PostgresStoreBuilder::DEFAULT_SCAN,
            },
            sharing: Sharing {
                width: PostgresStoreBuilder::DEFAULT_STATEMENTS_AT_ONCE,
                batch: PostgresStoreBuilder::DEFAULT_CALLS_PER_STATEMENT,
            },
            commit_delay: PostgresStoreBuilder::DEFAULT_COMMIT_DELAY,
        }
    }
}

impl PostgresStoreBuilder {
    /// The schema that everything lives in, unless told otherwise.
    pub const DEFAULT_SCHEMA: &'static str = "counterfoil";
    /// How many connections a store holds at most, unless told otherwise.
    pub const DEFAULT_MAX_CONNECTIONS: usize = 4;
    /// How many statements claim at once, and as many complete, unless told otherwise.
    pub const DEFAULT_STATEMENTS_AT_ONCE: usize = 2;
    /// How many claims, or completions, share a statement at most, unless told otherwise.
    pub const DEFAULT_CALLS_PER_STATEMENT: usize = 256;
    /// How long a call waits for a free connection, unless told otherwise.
    pub const DEFAULT_WAIT: Duration = Duration::from_secs(1);
    /// How long a new connection may take, unless told otherwise.
    pub const DEFAULT_CONNECT: Duration = Duration::from_secs(2);
    /// How long a reply may take, unless told otherwise. More than the half second for which a transition waits for a
    /// locked row.
    pub const DEFAULT_CALL: Duration = Duration::from_secs(2);
    /// How long a listing or a purge may take, unless told otherwise.
    pub const DEFAULT_SCAN: Duration = Duration::from_secs(30);
    /// The longest that a commit is expected to take, unless told otherwise.
    pub const DEFAULT_COMMIT_DELAY: Duration = Duration::from_secs(30);

    /// Another schema: 1 to 63 of `a-z 0-9 _`, not a digit first, nothing that begins with `pg_`. Several services may
    /// share a database, each with its own.
    pub fn with_schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// At most so many connections at a time; at least one. One whose call ran out of time or was dropped counts until the
    /// server has ended the statement on it.
    pub const fn with_max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// So many statements claim at once on each of the two tables, and as many complete; at least one. While they are under
    /// way, further claims and completions wait, and go out together as soon as one of them has ended, so that they share
    /// a statement and its commit. A caller that finds one free has a statement of its own.
    ///
    /// With more of them, fewer calls share a commit. With one, two callers take turns.
    pub const fn with_statements_at_once(mut self, statements: usize) -> Self {
        self.sharing.width = statements;
        self
    }

    /// At most so many claims, or completions, share a statement; at least one. With one, none do.
    pub const fn with_calls_per_statement(mut self, calls: usize) -> Self {
        self.sharing.batch = calls;
        self
    }

    /// How long a call waits for a free connection, and before that for a statement to share. Then it is `NotApplied`.
    pub const fn with_wait(mut self, limit: Duration) -> Self {
        self.limits.wait = limit;
        self
    }

    /// How long a new connection may take, with TLS, authentication and all. Then a call is `NotApplied`.
    pub const fn with_connect(mut self, limit: Duration) -> Self {
        self.limits.connect = limit;
        self
    }

    /// How long the reply to a statement may take. Then a call is `Indeterminate`, and its connection is lent to nobody until
    /// the server has ended the statement.
    pub const fn with_call(mut self, limit: Duration) -> Self {
        self.limits.call = limit;
        self
    }

    /// How long a listing, a purge or the dropping of a day may take.
    pub const fn with_scan(mut self, limit: Duration) -> Self {
        self.limits.scan = limit;
        self
    }

    /// The longest that a commit may take from judging a credential's end to being visible. Only after it "there is no
    /// record" is taken for "there will be none". It must be longer than a caller waits for its claim.
    pub const fn with_commit_delay(mut self, delay: Duration) -> Self {
        self.commit_delay = delay;
        self
    }

    /// Encrypts, and verifies the server by this configuration, always; `sslmode` is then `require`.
    pub fn with_tls(mut self, config: ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Encrypts, and verifies the server by root certificates in PEM, and its name. `sslmode` is `require` from then
    /// on, also where the URL says `prefer` or nothing: a server without TLS is refused.
    ///
    /// # Errors
    ///
    /// [`ConnectError::TlsRoots`] where there is none, or one can't be read.
    pub fn with_tls_roots(self, pem: &[u8]) -> Result<Self, ConnectError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| ConnectError::TlsRoots(error.into()))?;
            roots
                .add(certificate)
                .map_err(|error| ConnectError::TlsRoots(error.into()))?;
        }
        if roots.is_empty() {
            return Err(ConnectError::TlsRoots(
                "there is no certificate in it".into(),
            ));
        }
        // With a provider of its own: a process may hold two, and then none is the default.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| ConnectError::TlsRoots(error.into()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(self.with_tls(config))
    }

    /// For a URL that leads to a pooler which hands a server's session to another client after each transaction, such as
    /// PgBouncer in its mode `transaction`.
    ///
    /// Then nothing is kept in a session: statements have no names, which costs each call some 30 µs of parsing, and
    /// no timeout is set but that for locks. Set `statement_timeout` and `idle_in_transaction_session_timeout` for the role
    /// instead. In a mode that keeps sessions, it isn't needed.
    pub const fn behind_transaction_pooler(mut self) -> Self {
        self.behind_pooler = true;
        self
    }

    /// Makes a store also where the server may lose a commit that it acknowledged, with a warning in the log. Then an
    /// effect can happen twice: for development.
    pub const fn warn_if_not_durable(mut self) -> Self {
        self.only_warn = true;
        self
    }
}

/// No user, no password.
impl fmt::Debug for PostgresStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStoreBuilder")
            .field("hosts", &self.config.get_hosts())
            .field("ports", &self.config.get_ports())
            .field("database", &self.config.get_dbname())
            .field("schema", &self.schema)
            .field("tls", &self.tls.is_some())
            .field("behind_transaction_pooler", &self.behind_pooler)
            .field("max_connections", &self.max_connections)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
