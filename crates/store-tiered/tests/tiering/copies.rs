//! When a copy is made, and what it answers.

use std::time::Duration;

use counterfoil_core::{
    Clock, Owner,
    lifecycle::State,
    store::{Capabilities, Completed, Completion, Lease, Record, Store},
};
use counterfoil_testkit::{Gate, Method};
use tokio::time::Instant;

use crate::{
    common::Mood,
    world::{World, paid},
};

#[tokio::test(start_paused = true)]
async fn the_first_replay_leaves_a_copy_and_the_second_is_answered_by_it() {
    let world = World::new();
    world.done().await;
    world.store.settled().await;
    assert!(world.cache.copies().is_empty(), "most are never replayed");

    let first = world.replay().await;
    world.store.settled().await;
    let asked = world.asked_truth();
    let second = world.replay().await;
    assert_eq!(second, first);
    assert_eq!(second.life.state, State::Done);
    assert_eq!(world.asked_truth(), asked, "truth is not asked");
    world.cache.assert_told_after_truth();
}

#[tokio::test(start_paused = true)]
async fn a_find_leaves_a_copy_too_and_is_answered_by_one() {
    let world = World::new();
    world.done().await;
    let first = world.store.find(world.id).await.unwrap();
    world.store.settled().await;
    let asked = world.asked_truth();
    let second = world.store.find(world.id).await.unwrap();
    assert_eq!(second.record, first.record);
    assert_eq!(world.asked_truth(), asked);
}

#[tokio::test(start_paused = true)]
async fn only_what_has_ended_is_copied() {
    let world = World::new();
    let held = world.claim().await;
    let doubt = Completion::Unknown {
        reason: "the connection broke".to_owned(),
    };
    for (said, state) in [(None, State::InFlight), (Some(doubt), State::Unknown)] {
        if let Some(said) = said {
            world.store.complete(&held, &said).await.unwrap();
        }
        assert_eq!(world.replay().await.life.state, state);
        world.store.find(world.id).await.unwrap();
        world.store.settled().await;
        assert_eq!(world.cache.puts(), 0, "{state:?}");
    }
    world.store.release(&held).await.unwrap();
    assert_eq!(world.replay().await.life.state, State::Released);
    world.store.settled().await;
    assert_eq!(world.cache.puts(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_flush_changes_no_answer() {
    let world = World::new();
    let before = world.cached().await;
    world.cache.flush();
    assert_eq!(world.replay().await, before);
    world.store.settled().await;
    assert!(world.cache.copies().contains_key(&world.id), "filled again");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_copy_to_be_made() {
    let world = World::new();
    world.done().await;
    world.cache.be(Mood::HoldsPuts(Gate::new()));
    let began = Instant::now();
    world.replay().await;
    world.replay().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(world.truth.calls(Method::Acquire), 3);
}

#[tokio::test(start_paused = true)]
async fn one_copy_of_an_operation_is_on_its_way_at_a_time() {
    let world = World::new();
    world.done().await;
    let gate = Gate::new();
    world.cache.be(Mood::HoldsPuts(gate.clone()));
    for _ in 0..5 {
        world.replay().await;
        tokio::task::yield_now().await;
    }
    assert_eq!(world.cache.puts(), 1);
    gate.open();
    world.store.settled().await;
    assert!(world.cache.copies().contains_key(&world.id));
}

#[tokio::test(start_paused = true)]
async fn no_more_copies_are_on_their_way_than_there_may_be() {
    let world = World::with(|store| store.with_max_tasks(3));
    let ids: Vec<_> = (0..10).map(|_| world.another()).collect();
    for id in &ids {
        world.done_as(*id).await;
        world.store.settled().await;
    }
    let gate = Gate::new();
    world.cache.be(Mood::HoldsPuts(gate.clone()));
    for id in &ids {
        world.store.acquire(&world.wish_for(*id)).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(world.cache.puts(), 3, "the others are left out");
    gate.open();
    world.store.settled().await;
    assert_eq!(world.cache.copies().len(), 3);

    world.store.acquire(&world.wish_for(ids[9])).await.unwrap();
    world.store.settled().await;
    assert!(world.cache.copies().contains_key(&ids[9]), "next time");
}

#[tokio::test(start_paused = true)]
async fn what_was_said_too_late_is_in_the_copy_when_its_sayer_looks() {
    let world = World::new();
    let copy = world.cached().await;
    assert!(copy.evidence.is_empty());
    let stranger = Lease {
        id: world.id,
        owner: Owner::mint(),
        epoch: copy.life.epoch,
    };
    let late = world.store.complete(&stranger, &paid()).await.unwrap();
    assert_eq!(late, Completed::NotOwner);
    let asked = world.asked_truth();
    let record = found(&world).await;
    assert_eq!(record.evidence.len(), 1);
    assert_eq!(world.asked_truth(), asked, "by the copy");
}

#[tokio::test(start_paused = true)]
async fn an_older_copy_on_its_way_does_not_come_after_the_newer_one() {
    let world = World::new();
    let held = world.done().await;
    let gate = Gate::new();
    world.cache.be(Mood::HoldsPuts(gate.clone()));
    world.replay().await;
    tokio::task::yield_now().await;
    assert_eq!(world.cache.puts(), 1);

    let stranger = Lease {
        owner: Owner::mint(),
        ..held
    };
    let said = paid();
    let late = world.store.complete(&stranger, &said);
    let open = async {
        tokio::task::yield_now().await;
        assert_eq!(world.cache.puts(), 1, "the newer one waits");
        gate.open();
    };
    let (late, ()) = tokio::join!(late, open);
    assert_eq!(late.unwrap(), Completed::NotOwner);
    assert_eq!(found(&world).await.evidence.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_time_beside_a_copy_is_one_that_truths_clock_has_reached() {
    let world = World::new();
    let copy = world.cached().await;
    let minute = Duration::from_secs(60);
    world.clock.advance(minute);
    let beside = |store| async move { Store::find(store, world.id).await.unwrap().now };
    let first = beside(&*world.store).await;
    assert!(first >= copy.updated && first <= world.clock.now());

    let absent = world.another();
    let by_truth = world.store.find(absent).await.unwrap().now;
    world.clock.advance(minute);
    let second = beside(&*world.store).await;
    assert_eq!(second, by_truth, "the latest that truth told");
}

#[tokio::test(start_paused = true)]
async fn what_it_can_do_is_what_truth_can_do() {
    let world = World::new();
    let theirs: Capabilities = world.truth.capabilities();
    assert_eq!(world.store.capabilities(), theirs);
}

async fn found(world: &World) -> Record {
    let sighting = world.store.find(world.id).await.unwrap();
    sighting.record.expect("a record stands")
}
