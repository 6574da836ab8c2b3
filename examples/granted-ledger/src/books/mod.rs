//! What the ledger holds: one entry for each downstream key, and of each operation the highest epoch.
//!
//! Both are compared and written under one lock, which stands for the transaction of a database: no other write comes
//! between the look at the epoch and the entry.

mod file;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use counterfoil::{Clock, OperationId, SystemClock, tower::Granted};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use file::BooksFile;
pub(crate) use file::OpenError;

/// The books. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Books(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
    highest: HashMap<String, u64>,
    file: Option<BooksFile>,
}

/// One write.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The downstream key: the operation id, or that of the step.
    pub(crate) key: String,
    pub(crate) operation_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    pub(crate) epoch: u64,
    /// When, in milliseconds since 1970, by this service's clock.
    pub(crate) at_ms: u64,
    /// What was entered.
    pub(crate) entry: Map<String, Value>,
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Entry(Entry),
    /// A later attempt came, for what an earlier one had entered.
    Raised {
        operation_id: String,
        epoch: u64,
    },
}

/// What became of a write.
#[derive(Debug, PartialEq)]
pub(crate) enum Entered {
    /// It is in the books now.
    New(Entry),
    /// It was there before, under this key.
    Before(Entry),
}

/// Why a write is not in the books, or may not be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EnterError {
    /// A later attempt has the operation. Nothing is changed.
    #[error("a later attempt has the operation")]
    Stale,
    /// The key was used for something else. Nothing is changed.
    #[error("the key was used for another entry")]
    KeyReused,
    /// An earlier write to the file failed, and it can't be trusted any more. Nothing is changed.
    #[error("the ledger takes no more entries since a write failed")]
    Closed,
    /// It may be on disk or not.
    #[error("the write failed")]
    InDoubt(#[source] std::io::Error),
}

impl Books {
    pub(crate) fn in_memory() -> Self {
        Self(Arc::default())
    }

    /// In a file that keeps what it holds. A torn last line, of a process that was killed, is cut off.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let (file, lines) = BooksFile::open(path)?;
        let mut inner = Inner::default();
        for line in lines {
            inner.take(line);
        }
        inner.file = Some(file);
        Ok(Self(Arc::new(Mutex::new(inner))))
    }

    /// Enters what was granted, once for its key, unless a later attempt was here. It may wait for the disk.
    pub(crate) fn enter(
        &self,
        granted: &Granted,
        entry: Map<String, Value>,
    ) -> Result<Entered, EnterError> {
        self.inner().enter(Entry {
            key: granted.downstream_key().to_string(),
            operation_id: granted.operation_id().to_string(),
            step: granted.step().map(ToString::to_string),
            epoch: granted.epoch().as_u64(),
            at_ms: SystemClock.now().unix_ms(),
            entry,
        })
    }

    /// The entries, or those of one operation, in the order in which they came.
    pub(crate) fn entries(&self, of: Option<OperationId>) -> Vec<Entry> {
        let of = of.map(|id| id.to_string());
        let inner = self.inner();
        let asked = |entry: &&Entry| of.as_ref().is_none_or(|id| entry.operation_id == *id);
        inner.entries.iter().filter(asked).cloned().collect()
    }

    /// Whole even if a holder panicked: what is written is taken over last, by pushes.
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn enter(&mut self, new: Entry) -> Result<Entered, EnterError> {
        let highest = self.highest.get(&new.operation_id).copied();
        if highest.is_some_and(|highest| new.epoch < highest) {
            return Err(EnterError::Stale);
        }
        if let Some(&at) = self.by_key.get(&new.key) {
            let before = self.entries[at].clone();
            if before.entry != new.entry {
                return Err(EnterError::KeyReused);
            }
            if highest.is_some_and(|highest| new.epoch > highest) {
                self.write(Line::Raised {
                    operation_id: new.operation_id,
                    epoch: new.epoch,
                })?;
            }
            return Ok(Entered::Before(before));
        }
        self.write(Line::Entry(new.clone()))?;
        Ok(Entered::New(new))
    }

    /// On disk first, then here.
    fn write(&mut self, line: Line) -> Result<(), EnterError> {
        if let Some(file) = &mut self.file {
            file.append(&line)?;
        }
        self.take(line);
        Ok(())
    }

    fn take(&mut self, line: Line) {
        let (operation_id, epoch) = match line {
            Line::Raised {
                operation_id,
                epoch,
            } => (operation_id, epoch),
            Line::Entry(entry) => {
                let of = (entry.operation_id.clone(), entry.epoch);
                self.by_key.insert(entry.key.clone(), self.entries.len());
                self.entries.push(entry);
                of
            }
        };
        let highest = self.highest.entry(operation_id).or_insert(epoch);
        *highest = epoch.max(*highest);
    }
}

/// The epoch that was seen of an operation, for tests.
#[cfg(test)]
impl Books {
    fn highest(&self, of: &str) -> Option<u64> {
        self.inner().highest.get(of).copied()
    }
}

#[cfg(test)]
mod tests;
