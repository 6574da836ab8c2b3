//! On whose account a server runs.
//!
//! Postgres and PgBouncer refuse to run as root. Where the tests do, these two run as the user `postgres`, whom their
//! packages bring, and own their directory.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use crate::error::Error;

const USER: &str = "postgres";

/// Who runs a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// Whoever runs the tests.
    Own,
    /// The user `postgres`.
    Postgres {
        /// The user's number.
        user: u32,
        /// The group's number.
        group: u32,
    },
}

impl Account {
    /// One that is not root's.
    pub(crate) fn unprivileged() -> Result<Self, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Own);
        }
        Ok(Self::Postgres {
            user: number("-u")?,
            group: number("-g")?,
        })
    }

    /// The words to start the program with.
    pub(crate) fn command(self, program: &Path) -> Vec<OsString> {
        let mut words = Vec::new();
        if let Self::Postgres { user, group } = self {
            // It replaces itself with the program, so that the process that we know is the server.
            words.push("setpriv".into());
            words.push(format!("--reuid={user}").into());
            words.push(format!("--regid={group}").into());
            words.push("--clear-groups".into());
        }
        words.push(program.into());
        words
    }

    /// Hands a file or an empty directory over.
    pub(crate) fn give(self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Own => Ok(()),
            Self::Postgres { user, group } => chown(path, Some(user), Some(group))
                .map_err(Error::io(&format!("giving {} to {USER}", path.display()))),
        }
    }

    /// Writes a file that this account may read and nobody else.
    pub(crate) fn write(self, path: &Path, text: &[u8]) -> Result<(), Error> {
        use std::os::unix::fs::PermissionsExt as _;
        let doing = format!("writing {}", path.display());
        fs::write(path, text).map_err(Error::io(&doing))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(Error::io(&doing))?;
        self.give(path)
    }
}

fn number(which: &str) -> Result<u32, Error> {
    let output = Command::new("id").args([which, USER]).output();
    let output = output.map_err(Error::io("running id"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| Error::Missing {
        program: "the user postgres, as whom root runs Postgres,",
        package: "postgresql",
    })
}
