//! What can go wrong with a server of a test.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// Why a server can't be had, or doesn't do as it is told.
///
/// `Debug` shows the text of `Display`, because a test's `expect` prints that, and the end of a server's log is
/// unreadable in one line.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program is not installed.
    #[error("{program} is not here; on Debian and its kin: apt-get install {package}")]
    Missing {
        /// The program's name.
        program: &'static str,
        /// The package that brings it.
        package: &'static str,
    },
    /// The system refused something.
    #[error("{doing} failed")]
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program that prepares something said no.
    #[error("{program} ended with {status}:\n{said}")]
    Failed {
        /// The program's name.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it said.
        said: String,
    },
    /// A server ended by itself.
    #[error("{server} ended by itself; its log ends with:\n{log}")]
    Ended {
        /// Which one.
        server: String,
        /// The end of its log.
        log: String,
    },
    /// Something that should become true did not in time.
    #[error("{what} took longer than {} s{log}", bound.as_secs_f32())]
    TooLate {
        /// What was waited for.
        what: String,
        /// How long it was waited for.
        bound: Duration,
        /// The end of a server's log, with a line before it that says so; empty if no server is to blame.
        log: String,
    },
    /// A server that must run for this was killed.
    #[error("{server} does not run")]
    NotRunning {
        /// Which one.
        server: String,
    },
    /// A server answered, and not what it should.
    #[error("{server} answers {answer}")]
    Answer {
        /// Which one.
        server: String,
        /// What it said.
        answer: String,
    },
}

impl Error {
    /// For `map_err`: the system refused that.
    pub(crate) fn io(doing: &str) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.to_owned();
        move |source| Self::Io { doing, source }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        match self {
            Self::Io { source, .. } => write!(f, ": {source}"),
            _ => Ok(()),
        }
    }
}
