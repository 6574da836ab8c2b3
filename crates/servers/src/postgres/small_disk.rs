//! A small disk for one server alone, to fill up.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::account::Account;
use crate::error::Error;

/// Mounts a file system of `$2` MiB at `$1`, and becomes the rest of the command.
const SCRIPT: &str =
    "mount -t tmpfs -o size=\"$2m\",mode=700 tmpfs \"$1\" && shift 2 && exec \"$@\"";

pub(super) fn place(directory: &Path) -> PathBuf {
    directory.join("small-disk")
}

/// The directory that it is mounted on.
pub(super) fn make(account: Account, directory: &Path) -> Result<(), Error> {
    let place = place(directory);
    fs::create_dir(&place).map_err(Error::io(&format!("making {}", place.display())))?;
    account.give(&place)
}

/// The words to start the program with, so that it has the disk.
///
/// In a namespace of its own, where nobody else sees the mount, and with which it vanishes. One of users too: in it, whoever
/// made it may mount. The processes that come before the program become it.
pub(super) fn command(
    account: Account,
    directory: &Path,
    mebibytes: u32,
    program: &Path,
) -> Vec<OsString> {
    let mut words = in_a_namespace(account);
    for word in ["sh", "-c", SCRIPT, "small-disk"] {
        words.push(word.into());
    }
    words.push(place(directory).into());
    words.push(mebibytes.to_string().into());
    words.push(program.into());
    words
}

fn in_a_namespace(account: Account) -> Vec<OsString> {
    let mut words = account.command(Path::new("unshare"));
    for word in ["--user", "--map-current-user", "--keep-caps", "--mount"] {
        words.push(word.into());
    }
    words
}

/// Whether the system lets this account have one. Containers often don't.
pub(super) fn is_allowed(account: Account) -> bool {
    let mut words = in_a_namespace(account);
    words.extend(["mount", "-t", "tmpfs", "tmpfs", "/mnt"].map(Into::into));
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let mut probe = Command::new(program);
    probe.args(arguments).stdout(Stdio::null());
    probe
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
