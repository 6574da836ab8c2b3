//! Many callers at once, on one store: what a suite of one caller after the other can't show.

use std::{future::Future, sync::Arc};

use counterfoil_core::{
    OperationId,
    store::{Acquire, Acquired, Completed, Lease, StoreError, StoredResult},
};
use tokio::{task::JoinSet, time::Instant};

use crate::{conformance::Harness, wish};

/// Lets so many callers ask for so many operations, all of them in the same order and at once, and holds that each
/// operation was claimed exactly once and that every caller got the same result of it.
///
/// A caller that wins completes. One that finds it running asks again once it has asked for all, and by then it must have
/// ended. A call that fails is sent again by the same owner for as long as the harness lets one call take.
///
/// # Panics
///
/// Where the store breaks the contract.
pub async fn exactly_one(harness: Harness, callers: usize, operations: usize) {
    let now = harness.now().await;
    let wishes: Arc<Vec<_>> = Arc::new((0..operations).map(|_| wish::fresh(now)).collect());
    let mut racing = JoinSet::new();
    for _ in 0..callers {
        let (harness, wishes) = (harness.clone(), Arc::clone(&wishes));
        racing.spawn(async move { claim_all(&harness, &wishes).await });
    }
    let mut firsts = Vec::with_capacity(callers);
    while let Some(ended) = racing.join_next().await {
        firsts.push(ended.expect("a caller found the contract broken"));
    }

    let mut claims = vec![0_usize; operations];
    for got in firsts.iter().flat_map(|caller| caller.iter().enumerate()) {
        claims[got.0] += usize::from(matches!(got.1, Got::Claimed(_)));
    }
    let wrong = claims.iter().position(|&claims| claims != 1);
    assert_eq!(wrong, None, "claims of each operation: {claims:?}");

    // All have ended by now, so that whoever found one running gets its result.
    let mut asking = JoinSet::new();
    for firsts in firsts {
        let (harness, wishes) = (harness.clone(), Arc::clone(&wishes));
        asking.spawn(async move { results(&harness, &wishes, firsts).await });
    }
    let mut agreed: Option<Vec<StoredResult>> = None;
    while let Some(ended) = asking.join_next().await {
        let got = ended.expect("a caller found the contract broken");
        let first = agreed.get_or_insert_with(|| got.clone());
        let other = first.iter().zip(&got).position(|(first, got)| first != got);
        assert_eq!(other, None, "two callers got two results of one operation");
    }
}

enum Got {
    Claimed(StoredResult),
    Found(StoredResult),
    Running,
}

async fn claim_all(harness: &Harness, wishes: &[Acquire]) -> Vec<Got> {
    let mut all = Vec::with_capacity(wishes.len());
    for wish in wishes {
        let wish = wish::of_another(wish);
        all.push(match acquire(harness, &wish).await {
            Acquired::Claimed(claimed) => {
                complete(harness, &claimed.lease).await;
                Got::Claimed(wish::result_of(wish.claim.owner))
            }
            Acquired::Found(record) if record.life.state.is_terminal() => {
                Got::Found(record.result.expect("it ended with a result"))
            }
            Acquired::Found(_) => Got::Running,
            other => panic!("not an answer to a race: {other:?}"),
        });
    }
    all
}

async fn results(harness: &Harness, wishes: &[Acquire], firsts: Vec<Got>) -> Vec<StoredResult> {
    let mut all = Vec::with_capacity(firsts.len());
    for (wish, first) in wishes.iter().zip(firsts) {
        all.push(match first {
            Got::Claimed(result) | Got::Found(result) => result,
            Got::Running => ended(harness, wish).await,
        });
    }
    all
}

async fn ended(harness: &Harness, wish: &Acquire) -> StoredResult {
    match acquire(harness, &wish::of_another(wish)).await {
        Acquired::Found(record) if record.life.state.is_terminal() => {
            record.result.expect("it ended with a result")
        }
        other => panic!("it has ended, and reads as {other:?}"),
    }
}

async fn acquire(harness: &Harness, wish: &Acquire) -> Acquired {
    again(harness, wish.id, || harness.store().acquire(wish)).await
}

async fn complete(harness: &Harness, held: &Lease) {
    let said = wish::done(held.owner);
    let completed = again(harness, held.id, || harness.store().complete(held, &said)).await;
    assert_eq!(completed, Completed::Completed);
}

/// Sends a call again for as long as it may be, within what one may take.
async fn again<T, F: Future<Output = Result<T, StoreError>>>(
    harness: &Harness,
    id: OperationId,
    mut call: impl FnMut() -> F,
) -> T {
    let end = Instant::now() + harness.call_limit();
    loop {
        match tokio::time::timeout(harness.call_limit(), call()).await {
            Ok(Ok(answer)) => return answer,
            Ok(Err(error)) if error.may_retry() && Instant::now() < end => {}
            Ok(Err(error)) => panic!("a call for {id} fails: {error} ({:?})", error.kind()),
            Err(_) => panic!("a call for {id} does not end"),
        }
    }
}
