//! One entry for a key, and the fence.

use super::*;

/// A new path, removed at the end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("granted-ledger-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn entry(key: &str, epoch: u64, amount: u64) -> Entry {
    Entry {
        key: key.to_owned(),
        operation_id: "op".to_owned(),
        step: None,
        epoch,
        at_ms: 1,
        entry: Map::from_iter([("amount".to_owned(), amount.into())]),
    }
}

fn enter(books: &Books, entry: Entry) -> Result<Entered, EnterError> {
    books.inner().enter(entry)
}

#[test]
fn a_key_has_one_entry_however_often_it_comes() {
    let books = Books::in_memory();
    assert!(matches!(
        enter(&books, entry("a", 1, 10)),
        Ok(Entered::New(_))
    ));
    // A later attempt of the same operation gets what the earlier one entered.
    for epoch in [1, 1, 2] {
        let again = enter(&books, entry("a", epoch, 10)).expect("entered");
        assert_eq!(again, Entered::Before(entry("a", 1, 10)));
    }
    assert!(matches!(
        enter(&books, entry("a", 2, 11)),
        Err(EnterError::KeyReused)
    ));
    assert!(matches!(
        enter(&books, entry("b", 2, 10)),
        Ok(Entered::New(_))
    ));
    assert_eq!(books.entries(None).len(), 2);
}

#[test]
fn an_epoch_below_the_highest_enters_nothing_also_after_a_restart() {
    let scratch = Scratch::new("fence.jsonl");
    let books = Books::open(&scratch.0).expect("opened");
    enter(&books, entry("a", 1, 10)).expect("entered");
    // It raised the fence, and had nothing to enter.
    enter(&books, entry("a", 3, 10)).expect("entered");
    assert_fenced(&books);
    drop(books);
    assert_fenced(&Books::open(&scratch.0).expect("opened again"));
}

fn assert_fenced(books: &Books) {
    assert_eq!(books.highest("op"), Some(3));
    for (key, epoch) in [("a", 1), ("a", 2), ("b", 2)] {
        let refused = enter(books, entry(key, epoch, 10));
        assert!(matches!(refused, Err(EnterError::Stale)), "{refused:?}");
    }
    assert_eq!(books.entries(None).len(), 1);
}

#[test]
fn a_torn_last_line_is_cut_off_and_what_is_no_ledger_is_left_alone() {
    let scratch = Scratch::new("torn.jsonl");
    enter(&Books::open(&scratch.0).expect("opened"), entry("a", 1, 10)).expect("entered");
    let whole = std::fs::read(&scratch.0).expect("read");
    for cut in 1..whole.len() {
        std::fs::write(&scratch.0, [&whole[..], &whole[..cut]].concat()).expect("written");
        let books = Books::open(&scratch.0).expect("opened");
        assert_eq!(books.entries(None), [entry("a", 1, 10)]);
        drop(books);
        assert_eq!(std::fs::read(&scratch.0).expect("read"), whole);
    }
    for other in ["hello", "hello\n", "{\"a\":1}\n", "{}\n{"] {
        std::fs::write(&scratch.0, other).expect("written");
        let refused = Books::open(&scratch.0).expect_err(other);
        assert!(matches!(refused, OpenError::NotOurs(_, 1)), "{refused}");
        assert_eq!(std::fs::read(&scratch.0).expect("read"), other.as_bytes());
    }
}
