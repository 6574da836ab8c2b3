//! The books' file: one JSON line for each entry, on disk before it counts.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use tracing::warn;

use super::{EnterError, Line};

/// An open file, locked for as long as the process lives.
#[derive(Debug)]
pub(super) struct BooksFile {
    file: File,
    /// After a failed write nobody knows what is on disk; another line could join a torn one.
    broken: bool,
}

/// A file that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("{0:?} can't be opened: {1}")]
    Io(PathBuf, #[source] io::Error),
    #[error("{0:?} is no regular file")]
    NotAFile(PathBuf),
    #[error("{0:?} is in use by another process")]
    InUse(PathBuf),
    #[error("{0:?} holds something else in line {1}; take another file")]
    NotOurs(PathBuf, usize),
}

impl BooksFile {
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<Line>), OpenError> {
        let failed = |error| OpenError::Io(path.to_owned(), error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(OpenError::NotAFile(path.to_owned()));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        // A line without its end was never acknowledged.
        let whole = bytes
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let lines = bytes[..whole].split_inclusive(|b| *b == b'\n').enumerate();
        let lines = lines
            .map(|(index, line)| {
                serde_json::from_slice(line)
                    .map_err(|_| OpenError::NotOurs(path.to_owned(), index + 1))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if whole < bytes.len() {
            // Of something else nothing is cut off.
            if bytes[whole] != b'{' {
                return Err(OpenError::NotOurs(path.to_owned(), lines.len() + 1));
            }
            warn!(
                bytes = bytes.len() - whole,
                "the last line was torn, and is cut off"
            );
            file.set_len(whole as u64).map_err(failed)?;
            file.sync_all().map_err(failed)?;
        }
        let file = Self {
            file,
            broken: false,
        };
        Ok((file, lines))
    }

    pub(super) fn append(&mut self, line: &Line) -> Result<(), EnterError> {
        if self.broken {
            return Err(EnterError::Closed);
        }
        let mut text = serde_json::to_vec(line).expect("texts and numbers make JSON");
        text.push(b'\n');
        let written = self
            .file
            .write_all(&text)
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            self.broken = true;
            EnterError::InDoubt(error)
        })
    }
}
