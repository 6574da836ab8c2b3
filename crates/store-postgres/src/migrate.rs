//! The schema, and how it comes to be.
//!
//! A migration runs in one transaction under an advisory lock, so that of many processes that start at once one migrates
//! and the others find it done. A version that is published never changes again; the next change is a new one.

use tokio_postgres::{Client, Error, GenericClient, IsolationLevel, types::Type};

use crate::{
    ConnectError,
    template::{KEYED, SchemaName, TIMED},
};

/// The version that this library needs, and the last one that it knows.
pub(crate) const VERSION: i32 = 1;

const ACQUIRE: &str = include_str!("sql/transitions/acquire.sql");

/// Each transition, for each table.
const TRANSITIONS: [&str; 15] = [
    ACQUIRE,
    include_str!("sql/transitions/acquire_batch.sql"),
    include_str!("sql/transitions/renew.sql"),
    include_str!("sql/transitions/complete.sql"),
    include_str!("sql/transitions/complete_batch.sql"),
    include_str!("sql/transitions/release.sql"),
    include_str!("sql/transitions/annotate.sql"),
    include_str!("sql/transitions/receive.sql"),
    include_str!("sql/transitions/fence.sql"),
    include_str!("sql/transitions/resolve.sql"),
    include_str!("sql/transitions/cancel.sql"),
    include_str!("sql/transitions/find.sql"),
    include_str!("sql/transitions/list.sql"),
    include_str!("sql/transitions/purge.sql"),
    include_str!("sql/transitions/in_transaction.sql"),
];

const SHARED: [&str; 4] = [
    include_str!("sql/tables.sql"),
    include_str!("sql/reading.sql"),
    include_str!("sql/partitions.sql"),
    include_str!("sql/drop_day.sql"),
];

/// Version 1: everything.
fn first(schema: &SchemaName) -> String {
    let mut text = String::new();
    for shared in SHARED {
        text.push_str(&schema.fill(shared));
    }
    for table in [TIMED, KEYED] {
        for transition in TRANSITIONS {
            text.push_str(&schema.fill_for(transition, table));
        }
        text.push_str(&schema.fill_for(&acquire_in_batch(), table));
    }
    text.push_str(&schema.fill(
        "SELECT {schema}.create_partition(day) FROM {schema}.next_days() WHERE NOT is_made;",
    ));
    text
}

/// The transition of a claim once more, for use in a batch, with the patience of one: a function's own settings hold inside
/// of it, whoever calls it.
fn acquire_in_batch() -> String {
    ACQUIRE
        .replace("{table}_acquire(", "{table}_acquire_in_batch(")
        .replace("{lock_timeout}", "{batch_lock_timeout}")
}

/// Brings the schema to [`VERSION`]. Does nothing where it is there already.
pub(crate) async fn migrate(client: &mut Client, schema: &SchemaName) -> Result<(), ConnectError> {
    let doing = "migrating the schema failed";
    let failed = |source| ConnectError::Database { doing, source };
    // Whoever waited for the lock must see what was done meanwhile, whatever the server's default is.
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted)
        .start()
        .await
        .map_err(failed)?;
    transaction
        .batch_execute(&schema.fill(include_str!("sql/begin_migration.sql")))
        .await
        .map_err(failed)?;
    let found = version(&transaction, schema).await.map_err(failed)?;
    check_known(schema, found)?;
    if found < VERSION {
        let record = format!("INSERT INTO {{schema}}.migrations (version) VALUES ({VERSION});");
        let text = first(schema) + &schema.fill(&record);
        transaction.batch_execute(&text).await.map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}

/// Refuses a schema that this version can't work with.
pub(crate) async fn check(client: &Client, schema: &SchemaName) -> Result<(), ConnectError> {
    let doing = "reading the version of the schema failed";
    let failed = |source| ConnectError::Database { doing, source };
    let table = format!("{}.migrations", schema.as_str());
    let there = client
        .query_typed(
            "SELECT to_regclass($1) IS NOT NULL",
            &[(&table, Type::TEXT)],
        )
        .await
        .map_err(failed)?;
    let there = there.first().is_some_and(|row| row.get(0));
    let found = if there {
        version(client, schema).await.map_err(failed)?
    } else {
        0
    };
    check_known(schema, found)?;
    if found < VERSION {
        return Err(ConnectError::NotMigrated {
            schema: schema.as_str().to_owned(),
            found,
            needed: VERSION,
        });
    }
    Ok(())
}

async fn version(client: &impl GenericClient, schema: &SchemaName) -> Result<i32, Error> {
    let last = schema.fill("SELECT coalesce(max(version), 0) FROM {schema}.migrations");
    let rows = client.query_typed(&last, &[]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get(0))
}

fn check_known(schema: &SchemaName, found: i32) -> Result<(), ConnectError> {
    if found > VERSION {
        return Err(ConnectError::SchemaIsNewer {
            schema: schema.as_str().to_owned(),
            found,
            known: VERSION,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_template_is_left_with_a_blank() {
        let schema = SchemaName::parse("some_schema").expect("plain");
        let text = first(&schema) + &schema.fill(include_str!("sql/begin_migration.sql"));
        let blank = text.split('{').skip(1).find(|rest| {
            let name = rest.split('}').next().unwrap_or_default();
            rest.contains('}')
                && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                && !name.is_empty()
        });
        assert_eq!(blank, None);
        assert!(!text.contains("\"counterfoil\""));
    }
}
