//! What goes through Lua comes back as it was, whatever it is: numbers to the last one, bytes of any value, names of any
//! length.

use std::time::Duration;

use counterfoil_core::{
    Clock, Epoch, OperationId, Owner, ParamHash, Scope, Subject, SystemClock, Timestamp,
    lifecycle::{Claim, Ending, State},
    store::{Acquire, Annotation, Completion, Identity, Lease, Store, StoredResult},
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

async fn check(store: &RedisStore, drawn: Drawn) {
    let now = SystemClock.now();
    let id = OperationId::mint(now);
    let identity = Identity {
        subject: Subject::new(&drawn.tenant, &drawn.principal).expect("valid"),
        scope: Scope::parse(&drawn.scope).expect("valid"),
        hash: ParamHash::from_bytes(drawn.hash),
    };
    let mut claim = Claim::new(Owner::mint(), Duration::from_millis(drawn.lease));
    claim.exp = drawn.exp_in.map(|ms| now + Duration::from_millis(ms));
    let retention = Duration::from_millis(drawn.retention);
    let wish = Acquire::new(id, identity.clone(), claim.clone(), retention);
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
