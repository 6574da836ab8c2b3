//! The `.sql` files are templates: `{schema}`, `{table}` and the constants of the state machine are filled in once, when
//! a store is made. Everything is named with its schema, so that no `search_path` matters.

use counterfoil_core::{lifecycle::State, store::RETENTION_SKEW};

use crate::ConnectError;

/// How long a transition waits for a row that another transaction is writing. Longer than a commit takes on a slow disk,
/// shorter than a caller's patience.
pub(crate) const LOCK_TIMEOUT: &str = "500ms";

/// How long a batch waits for a row, while all of its callers do. Then each call goes alone, with the whole patience.
const BATCH_LOCK_TIMEOUT: &str = "100ms";

/// How long all waits of a batch may take together.
const BATCH_PATIENCE: &str = "1s";

/// A result of so many bytes is not sent together with others' answers. 256 that are just smaller make 4 MiB.
const LARGE: &str = "16384";

/// Results and evidence of so many bytes end a page of a listing, which is kept in memory on both sides.
const PAGE_WEIGHT: &str = "4194304";

/// How long the making and the dropping of a partition waits for calls under way. New calls queue behind it meanwhile.
const DDL_LOCK_TIMEOUT: &str = "100ms";

/// How long the dropping of a day waits for a vacuum of it, which gives way after the server's `deadlock_timeout`, by
/// default a second. Nobody queues behind that.
const DAY_LOCK_TIMEOUT: &str = "2s";

/// How many rows are moved while all calls wait: some milliseconds.
const MOVABLE: &str = "1000";

/// How large what these rows bring along may be together, in bytes as they are stored.
const MOVABLE_BYTES: &str = "4194304";

/// How large the default partition may be for the server to read it while all calls wait, in bytes.
const READABLE: &str = "67108864";

/// With more partitions than this, a transition that is planned anew costs less than one that locks them all.
const MANY_DAYS: &str = "64";

/// How often a transition reads a row again that moves on under it.
const ROUNDS: &str = "100";

/// How full a page is made by claims; the rest is for the versions that completions write.
const FILLFACTOR: &str = "52";

/// Why an honest `failed` or release leaves a record unknown.
const IN_DOUBT: &str = "an earlier attempt may have done it";

/// Two ids have one home each: those that carry their time, and the others.
pub(crate) const TIMED: &str = "operations";
pub(crate) const KEYED: &str = "keyed_operations";

/// The schema that everything lives in: an identifier that needs no escaping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SchemaName(String);

impl SchemaName {
    pub(crate) fn parse(name: &str) -> Result<Self, ConnectError> {
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        // The server's own schemas begin with pg_, and its names end after 63 bytes.
        let ours = !name.starts_with("pg_") && name != "information_schema";
        if starts && ours && name.len() <= 63 && name.bytes().all(plain) {
            Ok(Self(name.to_owned()))
        } else {
            Err(ConnectError::InvalidSchema {
                name: name.to_owned(),
            })
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Fills in a template.
    pub(crate) fn fill(&self, template: &str) -> String {
        let quoted = format!("\"{}\"", self.0);
        let literal = format!("'{}'", self.0);
        let mut text = template
            .replace("{complete_set}", COMPLETE_SET.trim_end())
            .replace("{t_is_open}", T_IS_OPEN)
            .replace("{t_stays_unknown}", T_STAYS_UNKNOWN)
            .replace("{schema}", &quoted)
            .replace("{schema_text}", &literal)
            .replace("{schema_name}", &self.0)
            .replace("{lock_timeout}", LOCK_TIMEOUT)
            .replace("{batch_lock_timeout}", BATCH_LOCK_TIMEOUT)
            .replace("{batch_patience}", BATCH_PATIENCE)
            .replace("{large}", LARGE)
            .replace("{page_weight}", PAGE_WEIGHT)
            .replace("{ddl_lock_timeout}", DDL_LOCK_TIMEOUT)
            .replace("{day_lock_timeout}", DAY_LOCK_TIMEOUT)
            .replace("{movable}", MOVABLE)
            .replace("{movable_bytes}", MOVABLE_BYTES)
            .replace("{readable}", READABLE)
            .replace("{many_days}", MANY_DAYS)
            .replace("{rounds}", ROUNDS)
            .replace("{fillfactor}", FILLFACTOR)
            .replace("{in_doubt_reason}", IN_DOUBT)
            .replace("{skew}", &RETENTION_SKEW.as_millis().to_string());
        for state in State::ALL {
            let name = format!("{{{}}}", state.as_str());
            text = text.replace(&name, &code_of(state).to_string());
        }
        text
    }

    /// Fills in a template that is used once for each table.
    pub(crate) fn fill_for(&self, template: &str, table: &str) -> String {
        self.fill(&template.replace("{table}", table))
    }
}

/// Whether the owner of the row may still say how it ended: it runs, or its outcome is unknown.
///
/// Text and no SQL function, so that no call is left in a statement that every completion runs.
const T_IS_OPEN: &str = "(t.state IN ({in_flight}, {unknown}) OR (t.state = {accepted} AND coalesce(t.deadline <= now, false)))";

/// Whether what is said leaves the row unknown: doubt does, and `failed` after a takeover.
const T_STAYS_UNKNOWN: &str = "(p_state = {unknown} OR (p_state = {failed} AND t.in_doubt))";

/// What a completion writes, alone or with others.
const COMPLETE_SET: &str = include_str!("sql/transitions/complete_set.sql");

/// The number that stands for a state in a row. They are never given to another state.
pub(crate) const fn code_of(state: State) -> i16 {
    match state {
        State::AwaitingApproval => 1,
        State::Approved => 2,
        State::Denied => 3,
        State::Cancelled => 4,
        State::InFlight => 5,
        State::Accepted => 6,
        State::Unknown => 7,
        State::Released => 8,
        State::Done => 9,
        State::Failed => 10,
    }
}

pub(crate) fn state_of(code: i16) -> Option<State> {
    State::ALL.into_iter().find(|state| code_of(*state) == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_number_of_its_own() {
        for state in State::ALL {
            assert_eq!(state_of(code_of(state)), Some(state));
        }
        assert_eq!(state_of(0), None);
    }

    #[test]
    fn only_plain_identifiers_are_schemas() {
        for good in ["counterfoil", "_x", "a1_b"] {
            assert_eq!(SchemaName::parse(good).expect("plain").as_str(), good);
        }
        let long = "a".repeat(64);
        for bad in [
            "", "Upper", "1a", "a-b", "a b", "a\"b", "a;b", "pg_x", "ä", &long,
        ] {
            assert!(SchemaName::parse(bad).is_err(), "{bad}");
        }
    }
}
