//! What is this store's own: its birth, its bound, its forgetting, and threads. The contract is tested by the suite.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use counterfoil_core::{
    Clock, OperationId, Owner, ParamHash, Scope, Subject, Timestamp,
    lifecycle::{Claim, Ending, Seen, State},
    store::{
        Acquire, Acquired, Annotation, Cancellation, Completed, Completion, GuardClaim, Identity,
        Lease, RETENTION_SKEW, Released, Store, StoreError, StoreErrorKind, StoredResult,
        Tombstone,
    },
};
use counterfoil_testkit::ManualClock;

use crate::MemoryStore;

const LEASE: Duration = Duration::from_secs(30);
const RETENTION: Duration = Duration::from_secs(3600);

fn identity() -> Identity {
    Identity {
        subject: Subject::new("acme", "agent-7").expect("a valid subject"),
        scope: Scope::new("payments.transfer"),
        hash: ParamHash::from_bytes([7; 32]),
    }
}

fn request(id: OperationId) -> Acquire {
    Acquire::new(id, identity(), Claim::new(Owner::mint(), LEASE), RETENTION)
}

fn store() -> (MemoryStore, ManualClock) {
    let clock = ManualClock::default();
    (MemoryStore::with_clock(clock.clone()), clock)
}

async fn claim(store: &MemoryStore, id: OperationId) -> Lease {
    match store.acquire(&request(id)).await {
        Ok(Acquired::Claimed(claimed)) => claimed.lease,
        other => panic!("not claimed: {other:?}"),
    }
}

fn done() -> Completion {
    Completion::Ended {
        ending: Ending::Done,
        result: Some(StoredResult::json("{}".into())),
        result_ref: None,
    }
}

fn kind<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> StoreErrorKind {
    answer.expect_err("an error").kind()
}

#[tokio::test]
async fn an_id_older_than_the_store_is_forgotten_and_never_claimed() {
    let (store, clock) = store();
    let old = OperationId::mint(clock.now() - Duration::from_millis(1));
    let cancellation = Cancellation {
        id: old,
        subject: identity().subject,
        tombstone: Some(Tombstone {
            identity: identity(),
            exp: clock.now() + LEASE,
            retention: RETENTION,
        }),
        reason: None,
    };
    let forgotten = StoreErrorKind::Forgotten;
    assert_eq!(kind(store.acquire(&request(old)).await), forgotten);
    assert_eq!(kind(store.find(old).await), forgotten);
    assert_eq!(kind(store.cancel(&cancellation).await), forgotten);
    assert!(store.is_empty());

    claim(&store, OperationId::mint(clock.now())).await;
}

#[tokio::test]
async fn an_id_without_a_time_is_taken_as_new() {
    let (store, _) = store();
    let mut bytes = [0x11; 16];
    bytes[6] = 0x81;
    let id = OperationId::from_bytes(bytes);
    assert_eq!(id.minted_at(), None);
    claim(&store, id).await;
}

#[tokio::test]
async fn a_full_store_drops_what_is_over_and_never_what_is_open() {
    let (store, clock) = store();
    let store = store.with_capacity(2);
    let open = claim(&store, OperationId::mint(clock.now())).await;
    let ended = claim(&store, OperationId::mint(clock.now())).await;
    assert_eq!(
        store.complete(&ended, &done()).await.ok(),
        Some(Completed::Completed)
    );

    let third = OperationId::mint(clock.now());
    assert_eq!(
        kind(store.acquire(&request(third)).await),
        StoreErrorKind::NotApplied
    );
    // What has a record is served all the same.
    let again = store.acquire(&request(ended.id)).await;
    assert!(matches!(again, Ok(Acquired::Found(_))), "{again:?}");

    clock.advance(RETENTION + RETENTION_SKEW);
    claim(&store, third).await;
    assert_eq!(store.len(), 2);
    let sighting = store.find(open.id).await.expect("it answers");
    assert_eq!(
        sighting.record.map(|record| record.life.state),
        Some(State::Unknown)
    );
    assert_eq!(
        kind(
            store
                .acquire(&request(OperationId::mint(clock.now())))
                .await
        ),
        StoreErrorKind::NotApplied
    );
}

#[tokio::test]
async fn a_store_that_nobody_purges_does_not_grow() {
    let (store, clock) = store();
    for _ in 0..2_000 {
        let held = claim(&store, OperationId::mint(clock.now())).await;
        store.complete(&held, &done()).await.expect("it answers");
        clock.advance(Duration::from_secs(60));
    }
    // 65 minutes of records at one a minute, and what shards that saw no insert since still hold.
    assert!(store.len() < 65 + 3 * 64, "{store:?}");
    assert!(store.len() > 60, "{store:?}");
}

#[tokio::test]
async fn a_released_record_that_is_claimed_again_is_not_dropped() {
    let (store, clock) = store();
    let held = claim(&store, OperationId::mint(clock.now())).await;
    assert_eq!(store.release(&held).await.ok(), Some(Released::Released));
    let seen = Seen {
        state: State::Released,
        epoch: held.epoch,
    };
    let again = store.acquire(&request(held.id).with_seen(seen)).await;
    assert!(matches!(again, Ok(Acquired::Claimed(_))), "{again:?}");
    clock.advance(RETENTION * 10);
    assert_eq!(store.purge(100).await.ok(), Some(0));
    assert_eq!(store.len(), 1);
}

#[tokio::test]
async fn guards_are_refused() {
    let (store, clock) = store();
    let guard = GuardClaim::Exclusive {
        resource: "environment/production".to_owned(),
        expected_version: None,
    };
    let request = request(OperationId::mint(clock.now())).with_guards(vec![guard]);
    assert_eq!(kind(store.acquire(&request).await), StoreErrorKind::Misuse);
    assert!(store.is_empty());
}

#[tokio::test]
async fn debug_shows_counts_only() {
    let (store, clock) = store();
    claim(&store, OperationId::mint(clock.now())).await;
    assert_eq!(
        format!("{store:?}"),
        "MemoryStore { records: 1, capacity: 1000000, .. }"
    );
}

#[test]
fn threads_that_race_for_the_same_ids_never_share_an_epoch() {
    const THREADS: usize = 8;
    const IDS: usize = 200;
    let (store, clock) = store();
    let store = Arc::new(store);
    let ids: Vec<_> = (0..IDS).map(|_| OperationId::mint(clock.now())).collect();
    let claims: Vec<AtomicUsize> = (0..IDS * 4).map(|_| AtomicUsize::new(0)).collect();
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .expect("a runtime");
                start.wait();
                for (nr, &id) in ids.iter().enumerate() {
                    runtime.block_on(race(&store, id, &claims[nr * 4..]));
                }
            });
        }
    });
    for (nr, id) in ids.iter().enumerate() {
        // Epochs 1 to 3 were each given out once, and the third one's owner completed.
        for epoch in 1..=3 {
            assert_eq!(
                claims[nr * 4 + epoch].load(Ordering::SeqCst),
                1,
                "{id} epoch {epoch}"
            );
        }
    }
    assert_eq!(store.len(), IDS);
}

/// Claims until the operation is done; the first two owners release.
async fn race(store: &MemoryStore, id: OperationId, claims: &[AtomicUsize]) {
    let mut seen = None;
    loop {
        let mut wish = request(id);
        wish.claim.seen = seen;
        match store.acquire(&wish).await.expect("it answers") {
            Acquired::Claimed(claimed) => {
                let epoch = claimed.lease.epoch.as_u64();
                claims[usize::try_from(epoch).expect("a small epoch")]
                    .fetch_add(1, Ordering::SeqCst);
                if epoch < 3 {
                    let released = store.release(&claimed.lease).await;
                    assert_eq!(released.ok(), Some(Released::Released));
                } else {
                    let completed = store.complete(&claimed.lease, &done()).await;
                    assert_eq!(completed.ok(), Some(Completed::Completed));
                    return;
                }
            }
            Acquired::Found(record) if record.life.state == State::Done => return,
            Acquired::Found(record) => {
                seen = (record.life.state == State::Released).then_some(Seen {
                    state: State::Released,
                    epoch: record.life.epoch,
                });
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_clock_that_is_put_back_makes_nothing_free() {
    let (store, clock) = store();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let held = claim(&store, OperationId::mint(clock.now())).await;
        clock.set(Timestamp::from_unix_secs(1));
        let again = store.acquire(&request(held.id)).await;
        assert!(matches!(again, Ok(Acquired::Found(_))), "{again:?}");
    });
}

#[tokio::test]
async fn a_new_attempt_speaks_for_itself() {
    let (store, clock) = store();
    let id = OperationId::mint(clock.now());
    let held = claim(&store, id).await;
    let note = || {
        let mut note = Annotation::default();
        note.provider_ref = Some("ch_1".to_owned());
        note.result_ref = Some("INV-1".to_owned());
        note
    };
    store.annotate(&held, &note()).await.expect("no error");
    store.release(&held).await.expect("no error");
    let again = |state, epoch, within| {
        let mut next = request(id).with_seen(Seen { state, epoch });
        next.claim.takeover_within = within;
        next
    };
    let next = again(State::Released, held.epoch, None);
    let Ok(Acquired::Claimed(second)) = store.acquire(&next).await else {
        panic!("it was released");
    };
    let record = store.find(id).await.expect("no error").record;
    let record = record.expect("a record");
    assert_eq!((record.provider_ref, record.result_ref), (None, None));

    // Nothing of a released attempt happened; of one that is taken over a reconciler may need the references.
    store
        .annotate(&second.lease, &note())
        .await
        .expect("no error");
    let accepted = Completion::Accepted {
        deadline: Some(clock.now() + LEASE),
        result: Some(StoredResult::json("{}".into())),
        result_ref: None,
    };
    store
        .complete(&second.lease, &accepted)
        .await
        .expect("no error");
    clock.advance(LEASE);
    let next = again(State::Unknown, second.lease.epoch, Some(RETENTION));
    assert!(matches!(
        store.acquire(&next).await,
        Ok(Acquired::Claimed(_))
    ));
    let record = store.find(id).await.expect("no error").record;
    let record = record.expect("a record");
    assert_eq!(record.provider_ref.as_deref(), Some("ch_1"));
    assert_eq!((record.result, record.attempts), (None, 3));
}

#[tokio::test]
async fn a_renewal_is_no_change_and_a_repeated_word_no_new_evidence() {
    let (store, clock) = store();
    let id = OperationId::mint(clock.now());
    let held = claim(&store, id).await;
    let began = clock.now();
    clock.advance(LEASE / 2);
    store.renew(&held, LEASE).await.expect("no error");
    let stranger = Lease {
        owner: Owner::mint(),
        ..held
    };
    for _ in 0..3 {
        let answer = store.complete(&stranger, &done()).await;
        assert_eq!(answer.expect("no error"), Completed::NotOwner);
    }
    let record = store.find(id).await.expect("no error").record;
    let record = record.expect("a record");
    assert_eq!((record.updated, record.evidence.len()), (began, 1));
}
