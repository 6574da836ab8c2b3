//! What everybody would write by hand: one statement for one row, and a commit for each. A table with the columns of a
//! record, with room on its pages for updates, and no more than its primary key; no question is asked and no rule kept.

use counterfoil::store::Acquire;
use tokio::sync::Mutex;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

use crate::operations;

/// As many connections as there are callers.
pub(crate) struct Floor {
    connections: Mutex<Vec<Connection>>,
}

struct Connection {
    client: Client,
    insert: Statement,
    update: Statement,
}

const TABLE: &str = "
    SET client_min_messages = warning;
    CREATE TABLE IF NOT EXISTS floor (
        operation_id uuid PRIMARY KEY,
        owner uuid,
        created bigint NOT NULL,
        updated bigint NOT NULL,
        deadline bigint,
        exp bigint,
        retention bigint NOT NULL,
        epoch integer NOT NULL,
        attempts integer NOT NULL,
        state smallint NOT NULL,
        in_doubt boolean NOT NULL DEFAULT false,
        param_hash bytea NOT NULL,
        scope text NOT NULL,
        tenant text NOT NULL,
        principal text NOT NULL,
        result_format text,
        result bytea
    ) WITH (fillfactor = 50)";

const INSERT: &str = "
    INSERT INTO floor (
        operation_id, owner, created, updated, deadline, exp, retention, epoch, attempts, state,
        param_hash, scope, tenant, principal
    ) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, 1, 5, $8, $9, $10, $11)";

const UPDATE: &str = "
    UPDATE floor SET state = 9, deadline = NULL, updated = $2, result_format = $3, result = $4
    WHERE operation_id = $1";

impl Floor {
    pub(crate) async fn new(url: &str, connections: usize) -> Self {
        let mut open = Vec::new();
        for _ in 0..connections {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("one");
            tokio::spawn(connection);
            client.batch_execute(TABLE).await.expect("a table");
            open.push(Connection {
                insert: client.prepare(INSERT).await.expect("a statement"),
                update: client.prepare(UPDATE).await.expect("a statement"),
                client,
            });
        }
        Self {
            connections: Mutex::new(open),
        }
    }

    /// Inserts what a claim would, and gives its id.
    pub(crate) async fn insert(&self) -> Uuid {
        let Acquire {
            id,
            identity,
            claim,
            retention,
            ..
        } = operations::fresh();
        let id = Uuid::from_bytes(*id.as_bytes());
        let owner = Uuid::from_bytes(*claim.owner.as_bytes());
        let exp = claim.exp.map(|exp| signed(exp.unix_ms()));
        let now = exp.unwrap_or_default();
        let retention = signed(u64::try_from(retention.as_millis()).expect("some days"));
        let connection = self.take().await;
        connection
            .client
            .execute(
                &connection.insert,
                &[
                    &id,
                    &owner,
                    &now,
                    &now,
                    &now,
                    &exp,
                    &retention,
                    &&identity.hash.as_bytes()[..],
                    &identity.scope.as_str(),
                    &identity.subject.tenant(),
                    &identity.subject.principal(),
                ],
            )
            .await
            .expect("it inserts");
        self.connections.lock().await.push(connection);
        id
    }

    /// Writes to it what a completion with 200 bytes would.
    pub(crate) async fn update(&self, id: Uuid) {
        let connection = self.take().await;
        connection
            .client
            .execute(
                &connection.update,
                &[&id, &0_i64, &"json", &&[b'7'; 200][..]],
            )
            .await
            .expect("it updates");
        self.connections.lock().await.push(connection);
    }

    async fn take(&self) -> Connection {
        let mut connections = self.connections.lock().await;
        connections.pop().expect("as many as callers")
    }
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).expect("a time of this age")
}
