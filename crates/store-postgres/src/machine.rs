//! The statements that carry out the transitions: one set for each table.

use counterfoil_core::OperationId;
use tokio_postgres::types::Type;

use crate::template::{KEYED, SchemaName, TIMED};

/// A statement, and the types of its parameters, so that the server need not be asked for them.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) types: &'static [Type],
}

/// Whose sessions the statements run in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sessions {
    /// Each is greeted when it begins; see `connecting`.
    Own,
    /// A transaction pooler's: each call brings its settings along.
    Shared,
}

/// The transitions on one table.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) acquire: Statement,
    pub(crate) acquire_batch: Statement,
    pub(crate) renew: Statement,
    pub(crate) complete: Statement,
    pub(crate) complete_batch: Statement,
    pub(crate) release: Statement,
    pub(crate) annotate: Statement,
    pub(crate) receive: Statement,
    pub(crate) fence: Statement,
    pub(crate) resolve: Statement,
    pub(crate) cancel: Statement,
    pub(crate) find: Statement,
    pub(crate) list: Statement,
    pub(crate) purge: Statement,
    pub(crate) acquire_in: Statement,
    pub(crate) complete_in: Statement,
}

/// Both tables' transitions, and what is done about days.
#[derive(Debug)]
pub(crate) struct Machines {
    pub(crate) timed: Machine,
    pub(crate) keyed: Machine,
    pub(crate) next_days: Statement,
    pub(crate) create_partition: Statement,
    pub(crate) past_days: Statement,
    pub(crate) drop_day: Statement,
    pub(crate) give_up: Statement,
}

impl Machines {
    pub(crate) fn new(schema: &SchemaName, sessions: Sessions) -> Self {
        Self {
            timed: Machine::new(schema, TIMED, sessions),
            keyed: Machine::new(schema, KEYED, sessions),
            next_days: Statement {
                sql: schema.fill("SELECT a.day, a.is_made FROM {schema}.next_days() AS a"),
                types: &[],
            },
            create_partition: Statement {
                sql: schema.fill("SELECT {schema}.create_partition($1)"),
                types: &[Type::INT8],
            },
            past_days: Statement {
                sql: schema.fill("SELECT a.day FROM {schema}.past_days() AS a (day)"),
                types: &[],
            },
            drop_day: Statement {
                sql: schema.fill(
                    "SELECT a.answer, a.ddl, a.dropped, a.moved FROM {schema}.drop_day($1) AS a",
                ),
                types: &[Type::INT8],
            },
            give_up: Statement {
                sql: schema.fill("SELECT {schema}.give_up($1)"),
                types: &[Type::TEXT],
            },
        }
    }

    /// An id has its place by what it is, so that it is always looked for where it was written.
    pub(crate) fn of(&self, id: OperationId) -> &Machine {
        if id.minted_at().is_some() {
            &self.timed
        } else {
            &self.keyed
        }
    }
}

/// A whole record in one column; see `row`.
const RECORD: &str = "pg_catalog.record_send(a.r)";

/// Of what was claimed its epoch and the count of its attempts, of all else the record.
const CLAIM: &str = "a.answer, a.now, (a.r).epoch, (a.r).attempts, CASE WHEN a.answer <> 'claimed' THEN pg_catalog.record_send(a.r) END";

impl Machine {
    fn new(schema: &SchemaName, table: &str, sessions: Sessions) -> Self {
        let statement = |columns: &str, name: &str, types: &'static [Type]| {
            let places: Vec<_> = (1..=types.len()).map(|n| format!("${n}")).collect();
            let call = format!("{{schema}}.{{table}}_{name}({})", places.join(", "));
            let template = format!("SELECT {columns} FROM {call} AS a");
            Statement {
                sql: schema.fill_for(&template, table),
                types,
            }
        };
        // In a session of our own, what every call needs is set once.
        let hot = |name: &str| match sessions {
            Sessions::Own => name.to_owned(),
            Sessions::Shared => format!("{name}_pooled"),
        };
        let judged = format!("a.answer, a.now, {RECORD}");
        let placed = format!("a.claimed, a.place, {CLAIM}");
        let read = format!("a.now, {RECORD}");
        Self {
            acquire: statement(CLAIM, &hot("acquire"), ACQUIRE),
            acquire_batch: statement(&placed, "acquire_batch", ACQUIRE_BATCH),
            renew: statement("a.answer", "renew", RENEW),
            complete: statement("a.answer", &hot("complete"), COMPLETE),
            complete_batch: statement("a.places, a.answers", "complete_batch", COMPLETE_BATCH),
            release: statement("a.answer", "release", RELEASE),
            annotate: statement("a.answer", "annotate", ANNOTATE),
            receive: statement("a.answer", "receive", RECEIVE),
            fence: statement(&judged, "fence", FENCE),
            resolve: statement(&judged, "resolve", RESOLVE),
            cancel: statement(&judged, "cancel", CANCEL),
            find: statement(&read, "find", FIND),
            list: statement(&read, "list", LIST),
            acquire_in: statement(CLAIM, "acquire_in", ACQUIRE),
            complete_in: statement("a.answer", "complete_in", COMPLETE),
            purge: statement("a.now, a.dropped, a.next, a.due", "purge", PURGE),
        }
    }
}

use Type as T;

const ACQUIRE: &[T] = &[
    T::UUID,
    T::TEXT,
    T::TEXT,
    T::TEXT,
    T::BYTEA,
    T::UUID,
    T::INT8,
    T::INT8,
    T::INT8,
    T::BOOL,
    T::INT2,
    T::INT8,
    T::INT8,
];
const ACQUIRE_BATCH: &[T] = &[
    T::BOOL_ARRAY,
    T::UUID_ARRAY,
    T::TEXT_ARRAY,
    T::TEXT_ARRAY,
    T::TEXT_ARRAY,
    T::BYTEA_ARRAY,
    T::UUID_ARRAY,
    T::INT8_ARRAY,
    T::INT8_ARRAY,
    T::INT8_ARRAY,
    T::BOOL_ARRAY,
    T::INT2_ARRAY,
    T::INT8_ARRAY,
    T::INT8_ARRAY,
];
const RENEW: &[T] = &[T::UUID, T::UUID, T::INT8, T::INT8];
const COMPLETE: &[T] = &[
    T::UUID,
    T::UUID,
    T::INT8,
    T::INT2,
    T::INT8,
    T::TEXT,
    T::BYTEA,
    T::TEXT,
    T::TEXT,
];
const COMPLETE_BATCH: &[T] = &[
    T::BOOL_ARRAY,
    T::UUID_ARRAY,
    T::UUID_ARRAY,
    T::INT8_ARRAY,
    T::INT2_ARRAY,
    T::INT8_ARRAY,
    T::TEXT_ARRAY,
    T::BYTEA_ARRAY,
    T::TEXT_ARRAY,
    T::TEXT_ARRAY,
];
const RELEASE: &[T] = &[T::UUID, T::UUID, T::INT8];
const ANNOTATE: &[T] = &[T::UUID, T::UUID, T::INT8, T::TEXT, T::TEXT];
const RECEIVE: &[T] = &[T::UUID, T::INT8, T::INT2, T::TEXT, T::BYTEA, T::TEXT];
const FENCE: &[T] = &[T::UUID, T::UUID, T::INT8, T::INT8];
const RESOLVE: &[T] = &[
    T::UUID,
    T::UUID,
    T::INT8,
    T::INT2,
    T::BOOL,
    T::TEXT,
    T::BYTEA,
    T::TEXT,
    T::TEXT,
    T::TEXT,
    T::TEXT,
];
const CANCEL: &[T] = &[
    T::UUID,
    T::TEXT,
    T::TEXT,
    T::TEXT,
    T::TEXT,
    T::BYTEA,
    T::INT8,
    T::INT8,
];
const FIND: &[T] = &[T::UUID];
const LIST: &[T] = &[T::INT2, T::TEXT, T::UUID, T::INT4];
const PURGE: &[T] = &[T::UUID, T::INT4, T::INT4, T::INT8];
