//! What goes through Lua comes back as it was, whatever it is: numbers to the last one, bytes of any value, names of any
//! length.

use std::time::Duration;

use counterfoil_core::{
    Clock, Epoch, OperationId, Owner, ParamHash, Scope, Subject, SystemClock, Timestamp,
    lifecycle::{Claim, Ending, State},
    store::{Acquire, Annotation, Completed, Completion, Identity, Lease, Store, StoredResult},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_redis::RedisStore;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::{
    common::config,
    op::{alone, claimed},
};

#[derive(Clone, Debug)]
struct Drawn {
    tenant: String,
    principal: String,
    scope: String,
    hash: [u8; 32],
    /// From now on.
    exp_in: Option<u64>,
    retention: u64,
    lease: u64,
    provider_ref: Option<String>,
    noted_ref: Option<String>,
    said_ref: Option<String>,
    ending: Ending,
    result: Option<StoredResult>,
    deadline: Option<u64>,
    reason: String,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let reference = || option::of(any::<String>());
    let result = option::of((".{0,16}", vec(any::<u8>(), 0..3_000))).prop_map(|result| {
        result.map(|(format, bytes)| StoredResult {
            format: format.into(),
            bytes: bytes.into(),
        })
    });
    // Numbers that a double can't hold are as likely as others.
    let number = || {
        prop_oneof![
            any::<u64>(),
            Just(u64::MAX),
            (1u64 << 53)..(1 << 54),
            0u64..9
        ]
    };
    (
        (
            "[a-z/:\0é]{1,30}",
            "[ -~]{1,60}",
            "[a-z0-9._-]{1,64}",
            any::<[u8; 32]>(),
        ),
        (option::of(number()), number(), number()),
        (reference(), reference(), reference()),
        prop_oneof![Just(Ending::Done), Just(Ending::Failed)],
        (result, option::of(number()), any::<String>()),
    )
        .prop_map(|(who, times, references, ending, said)| Drawn {
            tenant: who.0,
            principal: who.1,
            scope: who.2,
            hash: who.3,
            exp_in: times.0.map(|ms| ms.max(60_000)),
            retention: times.1,
            lease: times.2.max(60_000),
            provider_ref: references.0,
            noted_ref: references.1,
            said_ref: references.2,
            ending,
            result: said.0,
            deadline: said.1,
            reason: said.2,
        })
}

#[test]
fn whatever_is_said_comes_back_as_it_was_said() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let store = runtime.block_on(alone(config(&shared(Shared::Redis))));
    let mut runner = TestRunner::new(Config::with_cases(300));
    runner
        .run(&drawn(), |drawn| {
            runtime.block_on(check(&store, drawn));
            Ok(())
        })
        .expect("every case holds");
    drop(runtime);
}

/// Most runs end like this, and their records are not taken apart for it.
#[test]
fn what_is_claimed_and_ends_at_once_comes_back_as_it_was_said() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let store = runtime.block_on(alone(config(&shared(Shared::Redis))));
    let mut runner = TestRunner::new(Config::with_cases(200));
    runner
        .run(&(drawn(), 0usize..192), |(mut drawn, longer)| {
            // An identity of more than 255 bytes, too.
            if longer > 0 {
                drawn.tenant = "t".repeat(longer);
                drawn.principal = "p".repeat(longer);
            }
            runtime.block_on(check_at_once(&store, drawn));
            Ok(())
        })
        .expect("every case holds");
    drop(runtime);
}

async fn check_at_once(store: &RedisStore, drawn: Drawn) {
    let wish = drawn.wish(SystemClock.now());
    let held = claimed(store.acquire(&wish).await.expect("an answer"));
    let claimed = store.find(wish.id).await.expect("an answer");
    let claimed = claimed.record.expect("a record");
    let ended = Completion::Ended {
        ending: drawn.ending,
        result: drawn.result.clone(),
        result_ref: None,
    };
    let completed = store.complete(&held, &ended).await.expect("an answer");
    assert_eq!(completed, Completed::Completed);

    let sighting = store.find(wish.id).await.expect("an answer");
    let record = sighting.record.expect("a record");
    assert_eq!(record.life.state, drawn.ending.state());
    assert_eq!(record.result, drawn.result);
    assert_eq!(record.identity, wish.identity);
    assert_eq!(
        (record.exp, record.retention),
        (claimed.exp, claimed.retention)
    );
    assert_eq!((record.created, record.attempts), (claimed.created, 1));
    assert_eq!(record.life.first_claimed, claimed.life.first_claimed);
    assert_eq!(record.life.deadline, None);
    assert!(record.life.is_held_by(held.owner, Epoch::FIRST));
    assert!(record.updated >= claimed.updated && record.updated <= sighting.now);
    // Said again, it is the same; anything else would be late.
    let completed = store.complete(&held, &ended).await.expect("an answer");
    assert_eq!(completed, Completed::Completed);
    let again = store.find(wish.id).await.expect("an answer");
    assert_eq!(again.record.expect("a record").updated, record.updated);
}

impl Drawn {
    fn wish(&self, now: Timestamp) -> Acquire {
        let identity = Identity {
            subject: Subject::new(&self.tenant, &self.principal).expect("valid"),
            scope: Scope::parse(&self.scope).expect("valid"),
            hash: ParamHash::from_bytes(self.hash),
        };
        let mut claim = Claim::new(Owner::mint(), Duration::from_millis(self.lease));
        claim.exp = self.exp_in.map(|ms| now + Duration::from_millis(ms));
        let retention = Duration::from_millis(self.retention);
        Acquire::new(OperationId::mint(now), identity, claim, retention)
    }
}

async fn check(store: &RedisStore, drawn: Drawn) {
    let now = SystemClock.now();
    let wish = drawn.wish(now);
    let (id, identity, claim) = (wish.id, wish.identity.clone(), wish.claim.clone());
    let retention = wish.retention;
    let held = claimed(store.acquire(&wish).await.expect("an answer"));

    let find = async || {
        let sighting = store.find(id).await.expect("an answer");
        sighting.record.expect("a record")
    };
    let record = find().await;
    assert_eq!(record.identity, identity);
    assert_eq!((record.exp, record.retention), (claim.exp, retention));
    assert!(record.life.is_held_by(held.owner, Epoch::FIRST));
    assert!(record.life.deadline >= Some(now + Duration::from_secs(30)));

    let mut note = Annotation::default();
    note.provider_ref.clone_from(&drawn.provider_ref);
    note.result_ref.clone_from(&drawn.noted_ref);
    store.annotate(&held, &note).await.expect("noted");
    let doubt = Completion::Unknown {
        reason: drawn.reason.clone(),
    };
    store.complete(&held, &doubt).await.expect("an answer");
    assert_eq!(find().await.reason, Some(drawn.reason.clone()));

    let accepted = Completion::Accepted {
        deadline: drawn.deadline.map(Timestamp::from_unix_ms),
        result: drawn.result.clone(),
        result_ref: None,
    };
    let stranger = Lease {
        owner: Owner::mint(),
        epoch: Epoch::from_u64(drawn.lease),
        ..held
    };
    store
        .complete(&stranger, &accepted)
        .await
        .expect("an answer");
    let ended = Completion::Ended {
        ending: drawn.ending,
        result: drawn.result.clone(),
        result_ref: drawn.said_ref.clone(),
    };
    store.complete(&held, &ended).await.expect("an answer");

    let record = find().await;
    assert_eq!(record.life.state, drawn.ending.state());
    assert_ne!(record.life.state, State::Unknown);
    assert_eq!(record.result, drawn.result);
    assert_eq!(record.provider_ref, drawn.provider_ref);
    assert_eq!(record.result_ref, drawn.said_ref.or(drawn.noted_ref));
    assert_eq!(record.evidence.len(), 1);
    assert_eq!(record.evidence[0].epoch, stranger.epoch);
    assert_eq!(record.evidence[0].completion, accepted);
}
