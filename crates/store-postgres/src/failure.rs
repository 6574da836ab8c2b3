//! What is known after a call went wrong: by the SQLSTATE, and by where it broke.

use std::{
    error, fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use counterfoil_core::store::{StoreError, StoreErrorKind};
use deadpool_postgres::PoolError;
use tokio_postgres::{
    Error,
    error::{DbError, Severity, SqlState},
};

/// Why a call gave no rows.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Rolled back for a reason that may be gone at once, or never sent.
    Again(StoreError),
    /// Another transaction held the row for as long as a transition waits. Rolled back.
    Locked(StoreError),
    /// Anything else.
    Final(StoreError),
}

impl Failure {
    /// Whether all that a statement did was rolled back for what may concern one of its calls only, so that each is worth
    /// asking alone: a row that is held, a deadlock, data that the server refuses, a statement that took it too long.
    pub(crate) fn may_be_of_one(&self) -> bool {
        let error = match self {
            Self::Locked(_) => return true,
            Self::Again(error) | Self::Final(error) => error,
        };
        let code = error::Error::source(error)
            .and_then(|source| source.downcast_ref::<Told>())
            .map(|told| &told.code);
        error.kind() == StoreErrorKind::NotApplied
            && code.is_some_and(|code| {
                let class = code.code().get(..2).unwrap_or_default();
                ["22", "23", "40", "53", "54"].contains(&class) || *code == SqlState::QUERY_CANCELED
            })
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Again(error) | Failure::Locked(error) | Failure::Final(error) => error,
        }
    }
}

/// After a statement was sent.
pub(crate) fn of_statement(error: Error) -> Failure {
    let Some(db) = error.as_db_error() else {
        return Failure::Final(lost(error));
    };
    match verdict(db) {
        Verdict::Lost => Failure::Final(lost(error)),
        Verdict::Again => {
            Failure::Again(not_applied("the transaction was rolled back").with_source(cause(error)))
        }
        Verdict::Locked => Failure::Locked(
            not_applied("another transaction holds the record").with_source(cause(error)),
        ),
        Verdict::Corrupt => Failure::Final(
            StoreError::new(
                StoreErrorKind::Corrupt,
                "the server can't read its own pages",
            )
            .with_source(cause(error)),
        ),
        Verdict::Refused(why) => Failure::Final(not_applied(why).with_source(cause(error))),
    }
}

/// Whether the connection can be used again after the error: the server has answered, and goes on.
pub(crate) fn is_in_step(error: &Error) -> bool {
    error
        .as_db_error()
        .is_some_and(|db| !matches!(verdict(db), Verdict::Lost))
}

/// Whether others were in the way of a statement that builds or drops an index: a lock, a deadlock, a limit of the server or
/// an operator who cancelled it, and whoever did the same before.
pub(crate) fn is_hindrance(error: &Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::QUERY_CANCELED,
            SqlState::UNDEFINED_TABLE,
            SqlState::UNDEFINED_OBJECT,
            SqlState::DUPLICATE_TABLE,
        ]
        .contains(code)
    })
}

/// Before a statement was sent.
pub(crate) fn of_preparing(error: Error) -> Failure {
    let closed = error.as_db_error().is_none();
    let failed = not_applied("a statement could not be prepared").with_source(cause(error));
    if closed {
        // A pooled connection that ended while nobody used it; another one will do.
        Failure::Again(failed)
    } else {
        Failure::Final(failed)
    }
}

pub(crate) fn of_pool(error: PoolError) -> StoreError {
    let why = match &error {
        PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
            "every connection was in use for as long as a call waits for one"
        }
        PoolError::Closed => "the pool is closed",
        _ => "the server is out of reach",
    };
    not_applied(why).with_source(error)
}

pub(crate) fn lost(error: Error) -> StoreError {
    indeterminate("the connection broke before the reply came").with_source(cause(error))
}

pub(crate) fn timed_out(sent: bool) -> StoreError {
    if sent {
        indeterminate("the reply did not come in time")
    } else {
        not_applied("the server did not answer in time")
    }
}

/// A reply that this version does not understand says nothing of what was written.
pub(crate) fn unknown_answer() -> StoreError {
    indeterminate("the schema gave an answer that this version does not know")
}

pub(crate) fn locked() -> StoreError {
    not_applied("another transaction holds the record")
}

pub(crate) fn misuse(message: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Misuse, message)
}

pub(crate) fn not_applied(message: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::NotApplied, message)
}

pub(crate) fn indeterminate(message: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Indeterminate, message)
}

enum Verdict {
    Lost,
    Again,
    Locked,
    Corrupt,
    Refused(&'static str),
}

/// An error of severity ERROR ends its transaction, which is all of the call: nothing of it was applied. The classes that
/// tell of the connection or of the server itself say nothing about the commit, nor does anything more severe.
fn verdict(db: &DbError) -> Verdict {
    let code = db.code();
    let class = code.code().get(..2).unwrap_or_default();
    if class == "08"
        || code.code().starts_with("57P0")
        || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        || db.parsed_severity() != Some(Severity::Error)
    {
        return Verdict::Lost;
    }
    if *code == SqlState::LOCK_NOT_AVAILABLE {
        return Verdict::Locked;
    }
    if *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::T_R_DEADLOCK_DETECTED
        // A partition was made at this moment: the row's place is another one now.
        || *code == SqlState::CHECK_VIOLATION
    {
        return Verdict::Again;
    }
    if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED {
        return Verdict::Corrupt;
    }
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        return Verdict::Refused(
            "the server is read-only: a standby, or a primary that was demoted",
        );
    }
    if *code == SqlState::QUERY_CANCELED {
        return Verdict::Refused("the statement was cancelled, or took too long for the server");
    }
    if *code == SqlState::IN_FAILED_SQL_TRANSACTION {
        return Verdict::Refused("the transaction was aborted by an earlier error");
    }
    Verdict::Refused("the server refused the statement")
}

/// What is handed on of an error: of one that the server told no detail, which can quote a row, and where it is about data
/// no message either.
pub(crate) fn cause(error: Error) -> Box<dyn error::Error + Send + Sync> {
    match error.as_db_error() {
        Some(db) => Box::new(Told::new(db)),
        None => Box::new(error),
    }
}

/// What the server told, as far as it may be read in a log.
#[derive(Debug)]
struct Told {
    code: SqlState,
    message: Option<String>,
}

impl Told {
    fn new(db: &DbError) -> Self {
        let about_data = ["22", "23"]
            .iter()
            .any(|class| db.code().code().starts_with(class));
        Self {
            code: db.code().clone(),
            message: (!about_data).then(|| db.message().to_owned()),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SQLSTATE {}", self.code.code())?;
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl error::Error for Told {}

/// Counts the warnings that the server sends, on all connections of a pool.
///
/// A commit that waits for a synchronous standby can be cut short by an operator: the server then acknowledges it, with a
/// warning that the standby may not have it. No transition warns of anything else, so a call during which a warning came
/// is one whose outcome is not known. That another call's warning counts too costs it only a repetition.
#[derive(Debug, Default)]
pub(crate) struct Warnings(AtomicU64);

impl Warnings {
    pub(crate) fn note(&self, notice: &DbError) {
        if notice.parsed_severity() == Some(Severity::Warning) {
            self.0.fetch_add(1, Ordering::SeqCst);
            tracing::warn!(sqlstate = notice.code().code(), "the server warns");
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
