//! Whatever is asked together is answered as if it were asked alone.

use std::time::Duration;

use counterfoil_core::{
    Epoch, OperationId, ParamHash, Scope, Subject, Timestamp,
    lifecycle::{Ending, Seen, State},
    store::{Acquire, Acquired, Completed, Completion, Lease, Record, Store as _, StoreError},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::common::{self, Stage, ask};

/// The same numbers for the same seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A store in a schema of its own, with a clock that stands at a time that both have.
async fn store(now: Timestamp) -> (Stage, PostgresStore) {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    stage.set(now).await;
    let store = builder.with_statements_at_once(1).connect().await;
    (stage, store.expect("it is fit for it"))
}

/// All at once: one goes alone, and the others share a statement.
async fn together<C, A, F, Fut>(calls: &[C], call: F) -> Vec<A>
where
    C: Clone + Send + 'static,
    A: Send + 'static,
    F: Fn(C) -> Fut,
    Fut: Future<Output = A> + Send + 'static,
{
    let mut answers = JoinSet::new();
    for (n, asked) in calls.iter().cloned().enumerate() {
        let answer = call(asked);
        answers.spawn(async move { (n, answer.await) });
    }
    let mut answers = answers.join_all().await;
    answers.sort_by_key(|(n, _)| *n);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Claims of every kind, each of an id of its own, on what `prepared` left behind.
fn claims(random: &mut Random, leases: &[Lease], now: Timestamp) -> Vec<Acquire> {
    let mut asked: Vec<_> = leases.iter().map(|held| ask::claim(held.id)).collect();
    asked.extend((0..20).map(|_| ask::claim(OperationId::mint(now))));
    for (n, asked) in asked.iter_mut().enumerate() {
        let was = leases.get(n);
        if let Some(held) = was.filter(|_| random.below(4) == 0) {
            asked.claim.owner = held.owner;
        }
        match random.below(8) {
            0 => asked.identity.hash = ParamHash::from_bytes([8; 32]),
            1 => asked.identity.subject = Subject::new("tenant", "another").expect("plain"),
            2 => asked.identity.scope = Scope::parse("another").expect("plain"),
            _ => {}
        }
        asked.claim.exp = match random.below(5) {
            0 => Some(now),
            1 => Some(Timestamp::from_unix_ms(now.unix_ms() + 1)),
            _ => None,
        };
        asked.claim.needs_approval = random.below(6) == 0;
        asked.claim.takeover_within = (random.below(2) == 0).then_some(Duration::from_secs(9_000));
        asked.claim.seen = match random.below(3) {
            0 => None,
            kind => Some(Seen {
                state: if kind == 1 {
                    State::Released
                } else {
                    State::Unknown
                },
                epoch: Epoch::from_u64(1 + random.below(2)),
            }),
        };
    }
    asked
}

fn completions(random: &mut Random, leases: &[Lease]) -> Vec<(Lease, Completion)> {
    let completion = |held: &Lease| {
        let mut held = *held;
        if random.below(5) == 0 {
            held.epoch = Epoch::from_u64(2);
        }
        let ending = if random.below(2) == 0 {
            Ending::Done
        } else {
            Ending::Failed
        };
        let result = ask::done(vec![random.below(256) as u8; random.below(400) as usize]);
        let completion = match (random.below(5), result) {
            (0, _) => Completion::Unknown {
                reason: "it is \0 not known".into(),
            },
            (1, Completion::Ended { result, .. }) => Completion::Accepted {
                deadline: None,
                result,
                result_ref: Some("r-1".into()),
            },
            (2, _) => Completion::Ended {
                ending,
                result: None,
                result_ref: None,
            },
            (_, Completion::Ended { result, .. }) => Completion::Ended {
                ending,
                result,
                result_ref: Some("r\u{1b}-2".into()),
            },
            (_, other) => other,
        };
        (held, completion)
    };
    leases.iter().map(completion).collect()
}

/// Records of several states, in both stores the same, some of them taken over.
async fn prepare(store: &PostgresStore, asked: &[Acquire]) -> Vec<Lease> {
    let mut leases = Vec::new();
    for (n, asked) in asked.iter().enumerate() {
        let held = ask::lease(&store.acquire(asked).await);
        match n % 5 {
            1 => drop(store.release(&held).await.expect("it is answered")),
            2 | 3 => {
                let reason = "it is not known".to_owned();
                let unknown = Completion::Unknown { reason };
                store
                    .complete(&held, &unknown)
                    .await
                    .expect("it is answered");
            }
            4 => {
                let done = ask::done(vec![b'y'; 20_000 * (n % 2)]);
                store.complete(&held, &done).await.expect("it is answered");
            }
            _ => {}
        }
        leases.push(held);
    }
    leases
}

fn plain<A: std::fmt::Debug>(answers: &[Result<A, StoreError>]) -> Vec<&A> {
    answers
        .iter()
        .map(|answer| answer.as_ref().expect("nothing goes wrong"))
        .collect()
}

async fn records(
    store: &PostgresStore,
    ids: impl Iterator<Item = OperationId>,
) -> Vec<Option<Record>> {
    let mut records = Vec::new();
    for id in ids {
        records.push(store.find(id).await.expect("it is answered").record);
    }
    records
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_random_mix_is_answered_as_if_each_call_were_alone() {
    let now = Timestamp::from_unix_secs(1_800_000_000);
    let (together_stage, shared) = store(now).await;
    let (alone_stage, alone) = store(now).await;
    let mut random = Random(20_261_130);
    let mut kinds = std::collections::BTreeMap::<_, usize>::new();
    for round in 0..30 {
        let first: Vec<_> = (0..40)
            .map(|_| ask::claim(OperationId::mint(now)))
            .collect();
        let leases = prepare(&shared, &first).await;
        assert_eq!(prepare(&alone, &first).await, leases);

        let asked = claims(&mut random, &leases, now);
        let got: Vec<Result<Acquired, _>> = together(&asked, |asked| {
            let store = shared.clone();
            async move { store.acquire(&asked).await }
        })
        .await;
        let mut expected = Vec::new();
        for asked in &asked {
            expected.push(alone.acquire(asked).await);
        }
        assert_eq!(plain(&got), plain(&expected), "round {round}");
        for answer in plain(&got) {
            let name = format!("{answer:?}");
            let name = name
                .split(['(', ' ', '{'])
                .next()
                .unwrap_or_default()
                .to_owned();
            *kinds.entry(name).or_default() += 1;
        }

        // Who claimed just now is the one that may complete.
        let leases: Vec<_> = (leases.iter().zip(&got))
            .map(|(held, answer)| match answer {
                Ok(Acquired::Claimed(claimed)) => claimed.lease,
                _ => *held,
            })
            .collect();
        let said = completions(&mut random, &leases);
        let got: Vec<Result<Completed, _>> = together(&said, |(held, completion)| {
            let store = shared.clone();
            async move { store.complete(&held, &completion).await }
        })
        .await;
        let mut expected = Vec::new();
        for (held, completion) in &said {
            expected.push(alone.complete(held, completion).await);
        }
        assert_eq!(plain(&got), plain(&expected), "round {round}");
        for answer in plain(&got) {
            *kinds.entry(format!("{answer:?}")).or_default() += 1;
        }
        let ids = || asked.iter().map(|asked| asked.id);
        assert_eq!(records(&shared, ids()).await, records(&alone, ids()).await);
        for stage in [&together_stage, &alone_stage] {
            stage.advance(Duration::from_secs(7)).await;
        }
    }
    for kind in [
        "Claimed",
        "Found",
        "ParamsChanged",
        "Foreign",
        "Expired",
        "ApprovalMissing",
        "Gone",
        "Completed",
        "InDoubt",
        "NotOwner",
    ] {
        assert!(
            kinds.get(kind).copied().unwrap_or_default() > 2,
            "{kind} in {kinds:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_every_size_come_back_byte_for_byte() {
    let now = Timestamp::from_unix_secs(1_800_000_000);
    let (_stage, store) = store(now).await;
    let sizes = [
        0,
        1,
        200,
        2_000,
        8_191,
        16_384,
        16_385,
        70_000,
        400_000,
        700_000,
        1 << 20,
    ];
    let mut random = Random(5);
    let mut said = Vec::new();
    for size in sizes.into_iter().chain(sizes) {
        let held = ask::lease(&store.acquire(&ask::claim(OperationId::mint(now))).await);
        let bytes: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
        said.push((held, bytes));
    }
    let answers = together(&said, |(held, bytes)| {
        let store = store.clone();
        async move { store.complete(&held, &ask::done(bytes)).await }
    })
    .await;
    assert!(
        plain(&answers)
            .iter()
            .all(|answer| **answer == Completed::Completed)
    );
    // All are asked for in one statement, and so are the large ones, which then come alone.
    let replays = together(&said, |(held, _)| {
        let store = store.clone();
        async move { store.acquire(&ask::claim(held.id)).await }
    })
    .await;
    for ((_, bytes), replay) in said.iter().zip(replays) {
        let Ok(Acquired::Found(record)) = replay else {
            panic!("{replay:?}")
        };
        assert!(
            record.result.expect("it is kept").bytes == bytes[..],
            "{} bytes",
            bytes.len()
        );
    }
}
