//! Where the servers' programs lie.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A program of the path, or of the directory for system programs, which is not in every user's path.
pub(crate) fn find(program: &'static str, package: &'static str) -> Result<PathBuf, Error> {
    let directories = path().chain([PathBuf::from("/usr/sbin")]);
    directories
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
        .ok_or(Error::Missing { program, package })
}

/// The directory with Postgres's programs: in the path, or the newest of those that Debian keeps aside.
pub(crate) fn postgres() -> Result<PathBuf, Error> {
    path()
        .chain(debian())
        .find(|directory| has_postgres(directory))
        .ok_or(Error::Missing {
            program: "postgres",
            package: "postgresql",
        })
}

/// Postgres's program that copies a server, of the same installation if that has it.
pub(crate) fn pg_basebackup(programs: &Path) -> Result<PathBuf, Error> {
    // The path may hold a link to a part of the programs.
    let real = fs::canonicalize(programs.join("postgres")).ok();
    let real = real.as_deref().and_then(Path::parent).map(Path::to_owned);
    real.into_iter()
        .chain(path())
        .chain(debian())
        .map(|directory| directory.join("pg_basebackup"))
        .find(|file| file.is_file())
        .ok_or(Error::Missing {
            program: "pg_basebackup",
            package: "postgresql-client",
        })
}

fn path() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).collect::<Vec<_>>().into_iter()
}

/// Newest first.
fn debian() -> Vec<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut versions: Vec<PathBuf> = versions.flatten().map(|entry| entry.path()).collect();
    versions.sort_by_key(|path| std::cmp::Reverse(version(path)));
    versions.into_iter().map(|path| path.join("bin")).collect()
}

fn version(directory: &Path) -> Option<u32> {
    directory.file_name()?.to_str()?.parse().ok()
}

fn has_postgres(directory: &Path) -> bool {
    let has = |name| directory.join(name).is_file();
    has("postgres") && has("initdb")
}
