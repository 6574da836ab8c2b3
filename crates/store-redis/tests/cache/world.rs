//! Caches, records, and a look past them.

use std::time::Duration;

use counterfoil_core::{
    Clock, Epoch, OperationId, Owner, ParamHash, Scope, Subject, SystemClock,
    lifecycle::{Ending, Life, State},
    store::{
        Approval, Cache, Completion, Evidence, GuardClaim, Identity, Record, StoreError,
        StoredResult,
    },
};
use counterfoil_store_redis::{RedisCache, RedisConfig};

use crate::common::{client::Redis, config, keys, prefix};

pub(crate) const LONG: Duration = Duration::from_secs(86_400);

/// Caches on one server that share a prefix, and a plain client.
pub(crate) struct World {
    pub(crate) url: String,
    pub(crate) prefix: String,
}

impl World {
    pub(crate) fn on(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            prefix: prefix(),
        }
    }

    pub(crate) fn config(&self) -> RedisConfig {
        config(&self.url)
            .with_prefix(&self.prefix)
            .expect("a valid prefix")
    }

    /// A cache that is connected.
    pub(crate) async fn cache(&self) -> RedisCache {
        let cache = RedisCache::connect(self.config(), keys())
            .await
            .expect("a valid configuration");
        connected(&cache).await;
        cache
    }

    pub(crate) async fn client(&self) -> Redis {
        Redis::connect(&self.url).await
    }

    pub(crate) fn key(&self, id: OperationId) -> String {
        format!("{}copy:{{{}}}", self.prefix, id.simple())
    }
}

pub(crate) async fn connected(cache: &RedisCache) {
    let id = record(State::Done).id;
    until_done(|| cache.get(id)).await;
}

/// Makes a call until it is no error.
pub(crate) async fn until_done<T, F: Future<Output = Result<T, StoreError>>>(
    call: impl Fn() -> F,
) -> T {
    let done = async {
        loop {
            match call().await {
                Ok(answer) => return answer,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), done)
        .await
        .expect("the cache connects")
}

/// A record in a state, with all that a record can have.
pub(crate) fn record(state: State) -> Record {
    let now = SystemClock.now();
    let mut life = Life::new(state);
    life.owner = Some(Owner::mint());
    life.epoch = Epoch::from_u64(u64::MAX - 1);
    life.first_claimed = Some(now);
    life.in_doubt = true;
    life.approval_ends = Some(now + LONG);
    let identity = Identity {
        subject: Subject::new("acme", "agent-7").expect("a short subject"),
        scope: Scope::new("payments.transfer"),
        hash: ParamHash::from_bytes([7; 32]),
    };
    let mut record = Record::new(
        OperationId::mint(now),
        identity,
        life,
        Some(now + LONG),
        LONG * 7,
        now,
    );
    record.attempts = 3;
    record.result = Some(StoredResult {
        format: "http/1".into(),
        bytes: (0..=255).collect::<Vec<u8>>().into(),
    });
    record.result_ref = Some("INV-7".to_owned());
    record.provider_ref = Some(String::new());
    record.reason = Some("l'opérateur l'a dit".to_owned());
    record.settled_by = Some(Subject::new("acme", "操作员").expect("a short subject"));
    let mut approval = Approval::waiting("{\"amount\":\"10\"}".to_owned());
    approval.decided_by = record.settled_by.clone();
    record.approval = Some(approval);
    record.guards = vec![
        GuardClaim::Unique {
            name: "invoice".to_owned(),
            key: "2027-1".to_owned(),
            keep: Some(LONG),
        },
        GuardClaim::Exclusive {
            resource: "environment/production".to_owned(),
            expected_version: Some(u64::MAX),
        },
        GuardClaim::Repeat {
            window: LONG,
            repeat_of: Some(OperationId::mint(now)),
        },
    ];
    record.evidence = [
        Completion::Ended {
            ending: Ending::Failed,
            result: None,
            result_ref: Some("INV-8".to_owned()),
        },
        Completion::Accepted {
            deadline: Some(now),
            result: record.result.clone(),
            result_ref: None,
        },
        Completion::Unknown {
            reason: String::new(),
        },
    ]
    .map(|completion| Evidence {
        owner: Owner::mint(),
        epoch: Epoch::FIRST,
        completion,
        at: now,
    })
    .into();
    record
}
