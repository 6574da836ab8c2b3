//! The ledger's file: one JSON line per effect, on disk before it counts.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use tracing::warn;

use super::{AppendError, Effect};

/// An open file, locked for as long as the process lives.
#[derive(Debug)]
pub(super) struct LedgerFile {
    file: File,
    /// After a failed write nobody knows what is on disk; another line could join a torn one.
    broken: bool,
}

/// A ledger that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("the ledger {0:?} can't be opened: {1}")]
    Io(PathBuf, #[source] io::Error),
    #[error("the ledger {0:?} is no regular file")]
    NotAFile(PathBuf),
    #[error("the ledger {0:?} is in use by another process")]
    InUse(PathBuf),
    #[error("the ledger {0:?} holds something else in line {1}; take another file")]
    NotOurs(PathBuf, usize),
}

impl LedgerFile {
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<Effect>), OpenError> {
        let failed = |error| OpenError::Io(path.to_owned(), error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        // A device may have no end, and a pipe has none as long as we hold it ourselves: neither is read.
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
        let (effects, torn) =
            read(&bytes).map_err(|line| OpenError::NotOurs(path.to_owned(), line))?;
        heal(&mut file, bytes.len(), torn).map_err(failed)?;
        let file = Self {
            file,
            broken: false,
        };
        Ok((file, effects))
    }

    pub(super) fn append(&mut self, effect: &Effect) -> Result<(), AppendError> {
        if self.broken {
            return Err(AppendError::Closed);
        }
        let mut line = serde_json::to_vec(effect)
            .map_err(|error| AppendError::InDoubt(io::Error::other(error)))?;
        line.push(b'\n');
        let written = self
            .file
            .write_all(&line)
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            self.broken = true;
            AppendError::InDoubt(error)
        })
    }
}

/// What to do about a last line without its end.
#[derive(Debug, PartialEq, Eq)]
enum Torn {
    No,
    /// All of it is there but the line feed.
    Unended,
    /// It begins here and is cut.
    From(usize),
}

/// # Errors
///
/// The number of a line that is none of ours.
fn read(bytes: &[u8]) -> Result<(Vec<Effect>, Torn), usize> {
    let mut effects = Vec::new();
    let mut at = 0;
    for (index, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let ended = line.ends_with(b"\n");
        match serde_json::from_slice(line) {
            Ok(effect) => effects.push(effect),
            Err(_) if !ended && line.starts_with(b"{") => return Ok((effects, Torn::From(at))),
            Err(_) => return Err(index + 1),
        }
        if !ended {
            return Ok((effects, Torn::Unended));
        }
        at += line.len();
    }
    Ok((effects, Torn::No))
}

fn heal(file: &mut File, len: usize, torn: Torn) -> io::Result<()> {
    match torn {
        Torn::No => return Ok(()),
        Torn::Unended => file.write_all(b"\n")?,
        Torn::From(at) => {
            warn!(
                bytes = len - at,
                "the last line of the ledger was torn, and is cut off"
            );
            file.set_len(at as u64)?;
            file.seek(SeekFrom::End(0))?;
        }
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{super::effect::example, *};

    fn text(numbers: &[u8]) -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|n| {
                let mut line = serde_json::to_vec(&example("acme", *n, 1)).expect("JSON");
                line.push(b'\n');
                line
            })
            .collect()
    }

    /// A temporary file of this test's own, removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let file = format!("counterfoil-ledger-{}-{name}", std::process::id());
            Self(std::env::temp_dir().join(file))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_torn_last_line_is_cut_and_the_rest_is_kept() {
        let scratch = Scratch::new("torn");
        let whole = text(&[1, 2]);
        for torn in [0, 1, 20, text(&[3]).len() - 2] {
            let mut bytes = whole.clone();
            bytes.extend_from_slice(&text(&[3])[..torn]);
            std::fs::write(&scratch.0, bytes).expect("written");
            let (mut file, effects) = LedgerFile::open(&scratch.0).expect("opened");
            assert_eq!(effects.len(), 2, "{torn}");
            file.append(&example("acme", 4, 1)).expect("appended");
            assert_eq!(std::fs::read(&scratch.0).expect("read"), text(&[1, 2, 4]));
        }
    }

    #[test]
    fn a_last_line_that_lacks_only_its_end_counts() {
        let scratch = Scratch::new("unended");
        let mut bytes = text(&[1]);
        bytes.pop();
        std::fs::write(&scratch.0, bytes).expect("written");
        let (mut file, effects) = LedgerFile::open(&scratch.0).expect("opened");
        assert_eq!(effects, [example("acme", 1, 1)]);
        file.append(&example("acme", 2, 1)).expect("appended");
        assert_eq!(std::fs::read(&scratch.0).expect("read"), text(&[1, 2]));
    }

    #[test]
    fn a_file_of_something_else_is_left_alone() {
        let scratch = Scratch::new("else");
        for other in ["hello", "hello\n", "{\"a\":1}\n", "{\"torn\n{}\n"] {
            std::fs::write(&scratch.0, other).expect("written");
            let refused = LedgerFile::open(&scratch.0).expect_err(other);
            assert!(matches!(refused, OpenError::NotOurs(_, 1)), "{refused}");
            assert_eq!(std::fs::read(&scratch.0).expect("read"), other.as_bytes());
        }
    }

    #[test]
    fn what_is_no_regular_file_is_refused() {
        for path in ["/dev/null", "/dev/zero"] {
            let refused = LedgerFile::open(Path::new(path)).expect_err(path);
            assert!(matches!(refused, OpenError::NotAFile(_)), "{refused}");
        }
    }

    #[test]
    fn two_processes_do_not_share_a_ledger() {
        let scratch = Scratch::new("shared");
        let first = LedgerFile::open(&scratch.0).expect("opened");
        assert!(matches!(
            LedgerFile::open(&scratch.0),
            Err(OpenError::InUse(_))
        ));
        drop(first);
        assert!(LedgerFile::open(&scratch.0).is_ok());
    }
}
