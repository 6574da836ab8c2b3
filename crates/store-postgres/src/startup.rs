//! What a server must be before a store is made on it.

use tokio_postgres::Client;

use crate::ConnectError;

/// Older ones are no longer maintained, and nobody has tried.
const OLDEST: i32 = 140_000;

/// One row, so that all settings are of one session.
const SETTINGS: &str = "SELECT current_setting('server_version_num')::integer, pg_is_in_recovery(), \
    current_setting('transaction_read_only'), current_setting('fsync'), current_setting('full_page_writes'), \
    current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
    current_setting('server_encoding'), current_setting('transaction_isolation'), \
    current_setting('server_version')";

/// Refuses a server that can't be truth. One whose commits can be lost is only warned of where `only_warn` says so.
pub(crate) async fn check(client: &Client, only_warn: bool) -> Result<(), ConnectError> {
    let doing = "reading the server's settings failed";
    let failed = |source| ConnectError::Database { doing, source };
    let rows = client.query_typed(SETTINGS, &[]).await.map_err(failed)?;
    let Some(row) = rows.first() else {
        return Ok(());
    };
    let text = |column: usize| row.try_get::<_, String>(column).map_err(failed);
    if row.try_get(1).map_err(failed)? {
        return Err(ConnectError::Standby);
    }
    let needs = |setting, value: String, needed| {
        Err(ConnectError::Unfit {
            setting,
            value,
            needed,
        })
    };
    if row.try_get::<_, i32>(0).map_err(failed)? < OLDEST {
        return needs("server_version", text(9)?, "14 or later");
    }
    if text(2)? != "off" {
        return needs("transaction_read_only", text(2)?, "off");
    }
    if text(7)? != "UTF8" {
        return needs("server_encoding", text(7)?, "UTF8");
    }
    if text(8)? != "read committed" {
        return needs("default_transaction_isolation", text(8)?, "read committed");
    }
    for (setting, value) in not_durable(&text(3)?, &text(4)?, &text(5)?, &text(6)?) {
        if !only_warn {
            return Err(ConnectError::NotDurable { setting, value });
        }
        tracing::warn!(
            setting,
            value,
            "a claim that was acknowledged could be lost, and its effect happen twice"
        );
    }
    Ok(())
}

/// The settings under which the server acknowledges a commit that it can lose, or that a failover to a synchronous
/// standby can.
fn not_durable(
    fsync: &str,
    full_page_writes: &str,
    synchronous_commit: &str,
    standbys: &str,
) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if fsync != "on" {
        found.push(("fsync", fsync.to_owned()));
    }
    if full_page_writes != "on" {
        found.push(("full_page_writes", full_page_writes.to_owned()));
    }
    // `local` and `remote_write` flush here. Where a standby is to take over without losing anything, they don't wait
    // until it has flushed too.
    let flushed = match synchronous_commit {
        "on" | "remote_apply" => true,
        "local" | "remote_write" => standbys.is_empty(),
        _ => false,
    };
    if !flushed {
        found.push(("synchronous_commit", synchronous_commit.to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::not_durable;

    #[test]
    fn what_can_lose_a_commit_is_found() {
        assert!(not_durable("on", "on", "on", "").is_empty());
        assert!(not_durable("on", "on", "remote_apply", "a").is_empty());
        assert!(not_durable("on", "on", "local", "").is_empty());
        for (synchronous_commit, standbys) in [
            ("off", ""),
            ("local", "a"),
            ("remote_write", "a"),
            ("?", ""),
        ] {
            let found = not_durable("on", "on", synchronous_commit, standbys);
            assert_eq!(found.len(), 1, "{synchronous_commit} {standbys:?}");
        }
        assert_eq!(not_durable("off", "off", "off", "").len(), 3);
    }
}
