//! What somebody changed in Redis is not believed.

use bytes::Bytes;
use counterfoil_core::{
    OperationId, ParamHash, Subject,
    fingerprint::Keyring,
    lifecycle::{Ending, State},
    store::{Acquired, Annotation, Completion, Record, Store, StoreErrorKind},
};

use crate::{
    bench::Bench,
    common::client::key,
    op::{Op, claimed, done, seen},
};

const STATES: [State; 7] = [
    State::InFlight,
    State::Accepted,
    State::Unknown,
    State::Released,
    State::Done,
    State::Failed,
    State::Cancelled,
];

impl Bench {
    async fn value(&self, id: OperationId) -> Bytes {
        self.redis.value(&key(&self.prefix, id)).await
    }

    async fn put(&self, id: OperationId, value: impl Into<Bytes>) {
        self.redis.set(&key(&self.prefix, id), value).await;
    }

    async fn is_corrupt(&self, op: &Op) -> bool {
        match self.store.find(op.id).await {
            Err(error) => error.kind() == StoreErrorKind::Corrupt,
            Ok(_) => false,
        }
    }

    /// Whatever a byte is turned into, the answer is the right one but for times, or that it can't be read. Nobody is told
    /// another state, result or owner, and nothing is claimed.
    async fn holds_against_every_changed_byte(&self, op: &Op) {
        let before = op.record(&self.store).await;
        let good = self.value(op.id).await;
        let mut unread = 0;
        for at in 0..good.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bad = good.to_vec();
                bad[at] ^= flip;
                self.put(op.id, bad).await;
                match self.store.find(op.id).await {
                    Ok(sighting) => {
                        let read = sighting.record.expect("it is not gone");
                        let after = format!("byte {at} of {:?}", before.life.state);
                        assert_eq!(timeless(read), timeless(before.clone()), "{after}");
                    }
                    Err(error) if error.kind() == StoreErrorKind::Corrupt => unread += 1,
                    Err(error) => panic!("byte {at}: {error} ({:?})", error.kind()),
                }
                match self.store.acquire(&op.wish()).await {
                    Ok(Acquired::Found(read)) => {
                        assert_eq!(timeless(*read), timeless(before.clone()), "byte {at}");
                    }
                    Err(error) if error.kind() == StoreErrorKind::Corrupt => {}
                    other => panic!("byte {at}: {other:?}"),
                }
            }
        }
        // Deadline, first claim, creation, change and attempts are the server's own, in 31 bytes; and each evidence has
        // a time.
        let times = 3 * (31 + 8 * before.evidence.len());
        let sealed = 3 * good.len() - times;
        assert!(unread >= sealed, "{unread} of {sealed}: {before:?}");
        self.put(op.id, good).await;
        assert_eq!(op.record(&self.store).await, before);
    }
}

/// The record without its times, and without what they lead to: a lease that reads as lapsed is unknown.
fn timeless(mut record: Record) -> Record {
    let then = counterfoil_core::Timestamp::from_unix_ms(0);
    record.created = then;
    record.updated = then;
    record.attempts = 0;
    record.life.first_claimed = record.life.first_claimed.map(|_| then);
    record.life.deadline = None;
    if matches!(record.life.state, State::InFlight | State::Accepted) {
        record.life.state = State::Unknown;
    }
    for evidence in &mut record.evidence {
        evidence.at = then;
    }
    record
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_byte_is_noticed_in_every_state() {
    let bench = Bench::new().await;
    for state in STATES {
        let op = Op::new();
        op.reach(&bench.store, state).await;
        bench.holds_against_every_changed_byte(&op).await;
    }
    let op = Op::new();
    op.reach_doubt(&bench.store).await;
    bench.holds_against_every_changed_byte(&op).await;
}

/// Cut short, made longer, empty, or of another type: it can't be read, and nothing is claimed.
#[tokio::test]
async fn what_is_no_record_is_corrupt() {
    let bench = Bench::new().await;
    let op = Op::new();
    let held = op.claim(&bench.store).await;
    bench
        .store
        .complete(&held, &done("paid"))
        .await
        .expect("completed");
    let good = bench.value(op.id).await;
    let longer = [&good[..], b"\0"].concat();
    let mut bad: Vec<Bytes> = (0..good.len()).map(|len| good.slice(..len)).collect();
    bad.extend([
        Bytes::from(longer),
        Bytes::from_static(b"{\"state\":\"done\"}"),
    ]);
    for value in bad {
        bench.put(op.id, value.clone()).await;
        assert!(bench.is_corrupt(&op).await, "{value:?}");
        let error = bench.store.acquire(&op.wish()).await.expect_err("no claim");
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    }
    let _: i64 = bench.redis.ask("DEL", &[&key(&bench.prefix, op.id)]).await;
    let _: i64 = bench
        .redis
        .ask("HSET", &[&key(&bench.prefix, op.id), "state", "done"])
        .await;
    assert!(bench.is_corrupt(&op).await);
}

/// One operation's record under another's key, of the same subject, is not that other's.
#[tokio::test]
async fn a_record_under_another_key_is_corrupt() {
    let bench = Bench::new().await;
    let (one, other) = (Op::new(), Op::new());
    one.reach(&bench.store, State::Done).await;
    other.claim(&bench.store).await;
    let value = bench.value(one.id).await;
    bench.put(other.id, value).await;
    assert!(bench.is_corrupt(&other).await);
}

/// What an earlier attempt said is not what the last one said, although it was sealed for the same operation.
#[tokio::test]
async fn an_older_attempts_word_is_not_the_last_ones() {
    let bench = Bench::new().await;
    let op = Op::new();
    let first = op.claim(&bench.store).await;
    bench.store.release(&first).await.expect("released");
    let released = bench.value(op.id).await;
    let wish = op.wish().with_seen(seen(&op.record(&bench.store).await));
    let second = claimed(bench.store.acquire(&wish).await.expect("an answer"));
    bench
        .store
        .complete(&second, &done("paid"))
        .await
        .expect("completed");

    // The head of the first attempt's record, in front of what the second one said, and the other way round.
    let finished = bench.value(op.id).await;
    const HEAD: usize = 58;
    for (head, slots) in [(&released, &finished), (&finished, &released)] {
        let mixed = [&head[..HEAD], &slots[HEAD..]].concat();
        bench.put(op.id, mixed).await;
        assert!(bench.is_corrupt(&op).await);
    }
}

/// The document's number that a final word brought can't be put back to one that was noted before.
#[tokio::test]
async fn an_older_reference_is_not_the_final_one() {
    let bench = Bench::new().await;
    let op = Op::new();
    let held = op.claim(&bench.store).await;
    let mut note = Annotation::default();
    note.result_ref = Some("INV-1".to_owned());
    bench.store.annotate(&held, &note).await.expect("noted");
    let noted = bench.value(op.id).await;
    let said = Completion::Ended {
        ending: Ending::Done,
        result: None,
        result_ref: Some("INV-2".to_owned()),
    };
    bench.store.complete(&held, &said).await.expect("completed");
    let done = bench.value(op.id).await;

    // The reference is the last slot: a tag of 16 bytes, the key's id, owner, epoch and the text.
    const SLOT: usize = 16 + 3 + 24 + 5;
    let (front, back) = (done.len() - SLOT, noted.len() - SLOT);
    let mixed = [&done[..front], &noted[back..]].concat();
    bench.put(op.id, mixed).await;
    assert!(bench.is_corrupt(&op).await);
}

/// Another key's seal vouches for nothing here.
#[tokio::test]
async fn what_another_services_keys_sealed_is_corrupt() {
    let bench = Bench::new().await;
    let op = Op::new();
    op.reach(&bench.store, State::Done).await;

    // A key of the same name, and another one.
    let foreign = Keyring::new(crate::common::key("k1", 8)).value_keys();
    let theirs = bench.with_keys(foreign).await;
    let error = theirs.find(op.id).await.expect_err("not theirs");
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

/// Whose an operation is, is compared with what was vouched for.
#[tokio::test]
async fn anothers_operation_and_other_params_are_told_apart_from_corruption() {
    let bench = Bench::new().await;
    let op = Op::new();
    op.reach(&bench.store, State::Done).await;
    let mut foreign = op.wish();
    foreign.identity.subject = Subject::new("acme", "agent-8").expect("a short subject");
    let answer = bench.store.acquire(&foreign).await.expect("an answer");
    assert_eq!(answer, Acquired::Foreign);
    let mut changed = op.wish();
    changed.identity.hash = ParamHash::from_bytes([8; 32]);
    let answer = bench.store.acquire(&changed).await.expect("an answer");
    assert!(matches!(answer, Acquired::ParamsChanged(_)), "{answer:?}");
}
