//! The ledger: what really happened. It stands for the bank behind the service, and counts every effect.
//!
//! It does not deduplicate: a second effect of one operation is written, and seen in the count that must never pass 1.
//! It is fenced: an epoch below the highest that it was told of for an operation is refused.

mod effect;
mod file;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use counterfoil::{Epoch, OperationId};

pub(crate) use effect::{Action, Content, Deed, Effect, Filed, Moved};
use file::LedgerFile;
pub(crate) use file::OpenError;

/// The ledger. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    books: Arc<Mutex<Books>>,
    /// Then whoever holds the books may wait for the disk, and they are opened on threads that may block.
    on_disk: bool,
}

#[derive(Debug)]
struct Books {
    effects: Vec<Effect>,
    /// Where an operation's effects stand, and the highest epoch.
    by_operation: HashMap<OperationId, Account>,
    /// Where the last effect on a ticket stands.
    by_ticket: HashMap<String, usize>,
    file: Option<LedgerFile>,
}

#[derive(Debug)]
struct Account {
    highest: Epoch,
    effects: Vec<usize>,
}

/// Why an effect is not in the ledger, or may not be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppendError {
    /// Surely not written: a later attempt has the operation.
    #[error("the epoch is below one that the ledger was told of")]
    Fenced,
    /// Surely not written: an earlier write failed, and the file can't be trusted any more.
    #[error("the ledger takes no more effects since a write failed")]
    Closed,
    /// It may be on disk or not.
    #[error("the write to the ledger failed")]
    InDoubt(#[source] std::io::Error),
}

impl AppendError {
    /// Whether the effect is surely not there.
    pub(crate) const fn nothing_happened(&self) -> bool {
        matches!(self, Self::Fenced | Self::Closed)
    }
}

impl Ledger {
    /// In memory.
    pub(crate) fn in_memory() -> Self {
        Self::with(Vec::new(), None)
    }

    /// In a file that keeps what it holds. A torn last line, of a process that was killed, is cut off.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let (file, effects) = LedgerFile::open(path)?;
        Ok(Self::with(effects, Some(file)))
    }

    fn with(effects: Vec<Effect>, file: Option<LedgerFile>) -> Self {
        let on_disk = file.is_some();
        let mut books = Books {
            effects: Vec::with_capacity(effects.len()),
            by_operation: HashMap::new(),
            by_ticket: HashMap::new(),
            file,
        };
        for effect in effects {
            books.enter(effect);
        }
        Self {
            books: Arc::new(Mutex::new(books)),
            on_disk,
        }
    }

    /// Writes an effect; in a file, it is on disk when this returns.
    ///
    /// Cancellation: once begun the write goes on.
    pub(crate) async fn append(&self, effect: Effect) -> Result<(), AppendError> {
        self.apart(move |ledger| ledger.append_now(effect))
            .await
            .unwrap_or_else(|failed| Err(AppendError::InDoubt(std::io::Error::other(failed))))
    }

    /// The effects of a tenant, or of one of its operations, in the order in which they came.
    pub(crate) async fn effects(&self, tenant: &str, of: Option<OperationId>) -> Vec<Effect> {
        let tenant = tenant.to_owned();
        self.apart(move |ledger| ledger.effects_now(&tenant, of))
            .await
            .expect("reading the books does not panic")
    }

    /// A ticket of a tenant as it stands; `None` for one that never was, is deleted, or is another tenant's.
    pub(crate) async fn ticket(&self, tenant: &str, id: &str) -> Option<Content> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.apart(move |ledger| ledger.ticket_now(&tenant, &id))
            .await
            .expect("reading the books does not panic")
    }

    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, tokio::task::JoinError> {
        if !self.on_disk {
            return Ok(work(self));
        }
        let ledger = self.clone();
        tokio::task::spawn_blocking(move || work(&ledger)).await
    }

    fn effects_now(&self, tenant: &str, of: Option<OperationId>) -> Vec<Effect> {
        let books = self.books();
        let of_tenant = |effect: &&Effect| effect.tenant == tenant;
        match of {
            None => books.effects.iter().filter(of_tenant).cloned().collect(),
            Some(id) => {
                let places = books.by_operation.get(&id).map(|account| &account.effects);
                let effects = places.into_iter().flatten().map(|at| &books.effects[*at]);
                effects.filter(of_tenant).cloned().collect()
            }
        }
    }

    fn ticket_now(&self, tenant: &str, id: &str) -> Option<Content> {
        let books = self.books();
        let last = &books.effects[*books.by_ticket.get(id)?];
        (last.tenant == tenant)
            .then(|| last.filed()?.content.clone())
            .flatten()
    }

    fn append_now(&self, effect: Effect) -> Result<(), AppendError> {
        let mut books = self.books();
        let account = books.by_operation.get(&effect.operation_id);
        if account.is_some_and(|account| effect.epoch < account.highest) {
            return Err(AppendError::Fenced);
        }
        if let Some(file) = &mut books.file {
            file.append(&effect)?;
        }
        books.enter(effect);
        Ok(())
    }

    /// Whole even if a holder panicked: what is written to the file is entered last, by pushes.
    fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn enter(&mut self, effect: Effect) {
        let at = self.effects.len();
        let account = self
            .by_operation
            .entry(effect.operation_id)
            .or_insert(Account {
                highest: effect.epoch,
                effects: Vec::new(),
            });
        account.highest = account.highest.max(effect.epoch);
        account.effects.push(at);
        if let Some(filed) = effect.filed() {
            self.by_ticket.insert(filed.ticket_id.clone(), at);
        }
        self.effects.push(effect);
    }
}

#[cfg(test)]
mod tests {
    use super::{effect::example, *};

    #[tokio::test]
    async fn every_effect_is_counted_also_the_second_of_one_operation() {
        let ledger = Ledger::in_memory();
        for _ in 0..2 {
            ledger.append(example("acme", 1, 1)).await.expect("written");
        }
        ledger.append(example("acme", 2, 1)).await.expect("written");
        let id = example("acme", 1, 1).operation_id;
        assert_eq!(ledger.effects("acme", Some(id)).await.len(), 2);
        assert_eq!(ledger.effects("acme", None).await.len(), 3);
    }

    #[tokio::test]
    async fn a_tenant_sees_its_own_effects_only() {
        let ledger = Ledger::in_memory();
        ledger.append(example("acme", 1, 1)).await.expect("written");
        let id = example("acme", 1, 1).operation_id;
        assert!(ledger.effects("other", None).await.is_empty());
        assert!(ledger.effects("other", Some(id)).await.is_empty());
    }

    #[tokio::test]
    async fn an_epoch_below_the_highest_is_refused() {
        let ledger = Ledger::in_memory();
        ledger.append(example("acme", 1, 2)).await.expect("written");
        let refused = ledger
            .append(example("acme", 1, 1))
            .await
            .expect_err("fenced");
        assert!(refused.nothing_happened());
        assert_eq!(ledger.effects("acme", None).await.len(), 1);
    }
}
