//! What a cache says is believed only where it can't be wrong.

use counterfoil_core::{
    ParamHash, Scope, Subject,
    lifecycle::State,
    store::{Acquire, Acquired, Record, Store},
};
use counterfoil_testkit::{Fault, Method};

use crate::world::World;

#[tokio::test(start_paused = true)]
async fn a_cache_without_a_copy_never_says_that_there_is_no_record() {
    let world = World::new();
    world.claim().await;
    assert!(world.cache.copies().is_empty());
    assert_eq!(world.replay().await.life.state, State::InFlight);
    assert!(world.store.find(world.id).await.unwrap().record.is_some());
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_on_the_caches_word() {
    let world = World::new();
    world.cached().await;
    world.truth.fail_all(true);
    let absent = world.another();
    assert!(world.store.acquire(&world.wish_for(absent)).await.is_err());
    assert!(world.store.find(absent).await.is_err());
    // A replay goes on while truth is away.
    assert_eq!(world.replay().await.life.state, State::Done);
}

#[tokio::test(start_paused = true)]
async fn another_subject_scope_or_hash_is_judged_by_truth() {
    let world = World::new();
    world.cached().await;
    let asked = |change: fn(&mut Acquire)| {
        let mut wish = world.wish();
        change(&mut wish);
        let store = world.store.clone();
        async move { store.acquire(&wish).await.unwrap() }
    };
    let before = world.truth.calls(Method::Acquire);
    let principal = asked(|wish| wish.identity.subject = Subject::new("acme", "x").unwrap());
    assert_eq!(principal.await, Acquired::Foreign);
    let tenant = asked(|wish| wish.identity.subject = Subject::new("x", "agent-7").unwrap());
    assert_eq!(tenant.await, Acquired::Foreign);
    let scope = asked(|wish| wish.identity.scope = Scope::new("another"));
    assert_eq!(scope.await, Acquired::Foreign);
    let hash = asked(|wish| wish.identity.hash = ParamHash::from_bytes([8; 32]));
    assert!(matches!(hash.await, Acquired::ParamsChanged(_)));
    assert_eq!(world.truth.calls(Method::Acquire), before + 4);
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_another_operation_is_a_miss() {
    let world = World::new();
    let copy = world.cached().await;
    world.cache.lie(Some(copy));
    let other = world.another();
    assert_eq!(world.store.find(other).await.unwrap().record, None);
    world.claim_of(other).await;
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_what_may_still_change_is_a_miss() {
    let world = World::new();
    let copy = world.cached().await;
    for state in State::ALL {
        if state.is_terminal() {
            continue;
        }
        let mut lie: Record = copy.clone();
        lie.life.state = state;
        world.cache.lie(Some(lie));
        assert_eq!(world.replay().await.life.state, State::Done, "{state:?}");
        let found = world.store.find(world.id).await.unwrap().record;
        assert_eq!(found.map(|record| record.life.state), Some(State::Done));
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_with_another_identity_is_overruled_and_replaced() {
    let world = World::new();
    let mut lie = world.cached().await;
    lie.identity.hash = ParamHash::from_bytes([8; 32]);
    world.cache.copies().insert(world.id, lie);
    assert_eq!(world.replay().await.life.state, State::Done);
    world.store.settled().await;
    let hash = world.cache.copies()[&world.id].identity.hash;
    assert_eq!(hash, world.identity.hash);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_in_truth_tells_the_cache_nothing() {
    let world = World::new();
    let held = world.done().await;
    world.store.settled().await;
    world.cache.announced();
    world.truth.next_complete(Fault::ReplyLost);
    world.truth.next_acquire(Fault::NotApplied);
    world.truth.next(Method::Find, Fault::ReplyLost);
    let again = world.store.complete(&held, &crate::world::paid()).await;
    assert!(again.is_err());
    assert!(world.store.acquire(&world.wish()).await.is_err());
    assert!(world.store.find(world.id).await.is_err());
    world.store.settled().await;
    assert_eq!(world.cache.announced(), []);
    assert!(world.cache.copies().is_empty());
}
