//! Why a store is not there.

use std::time::Duration;

/// A store that could not be made, or that would break its promise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The text is no connection URL. It isn't shown, since it may hold a password.
    #[error("the connection URL can't be read")]
    InvalidUrl,
    /// `sslmode=verify-ca` and `verify-full` are not spelled so here.
    #[error(
        "say sslmode=require and give roots: a certificate is always verified, with its host name"
    )]
    SslModeVerify,
    /// The name of the schema is no plain identifier.
    #[error(
        "the schema {name:?} is refused: 1 to 63 of a-z 0-9 _, not a digit first, nothing of the server's own"
    )]
    InvalidSchema {
        /// The name.
        name: String,
    },
    /// The URL asks for TLS, and no roots were given to verify the server by.
    #[error("sslmode=require needs roots to verify the server by: give them with `with_tls`")]
    TlsWithoutRoots,
    /// Roots were given, and the URL forbids TLS.
    #[error("sslmode=disable and `with_tls` contradict each other")]
    TlsDisabled,
    /// The roots can't be read.
    #[error("the root certificates can't be read")]
    TlsRoots(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server gave an error, or is out of reach.
    #[error("{doing}")]
    Database {
        /// What was tried.
        doing: &'static str,
        /// What the driver says.
        #[source]
        source: tokio_postgres::Error,
    },
    /// The server did not answer in time.
    #[error("{doing} took longer than {limit:?}")]
    TimedOut {
        /// What was tried.
        doing: &'static str,
        /// The limit.
        limit: Duration,
    },
    /// The schema is missing, or older than this version needs.
    #[error(
        "the schema {schema} has version {found}, and this library needs {needed}: run `migrate` first"
    )]
    NotMigrated {
        /// The schema.
        schema: String,
        /// Its version; 0 if there is none.
        found: i32,
        /// The one that is needed.
        needed: i32,
    },
    /// The schema was migrated by a newer version of this library.
    #[error(
        "the schema {schema} has version {found}, and this library knows no later one than {known}"
    )]
    SchemaIsNewer {
        /// The schema.
        schema: String,
        /// Its version.
        found: i32,
        /// The last one that is known.
        known: i32,
    },
    /// A commit that the server acknowledges could be lost.
    #[error(
        "{setting} is {value}: a claim that was acknowledged could be lost, and its effect happen twice"
    )]
    NotDurable {
        /// The server's setting.
        setting: &'static str,
        /// Its value.
        value: String,
    },
    /// Called outside of a runtime of tokio.
    #[error("there is no tokio runtime")]
    NoRuntime,
    /// The server is a standby: it lags, and can't be written to.
    #[error("the server is a standby; connect to the primary")]
    Standby,
    /// The server does not do what this store needs.
    #[error("{setting} is {value}, and must be {needed}")]
    Unfit {
        /// The server's setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What is needed.
        needed: &'static str,
    },
}
