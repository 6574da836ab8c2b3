//! Redis in front of Postgres is harmed while callers confirm.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpStream},
    sync::Arc,
    time::Duration,
};

use counterfoil_servers::{Redis, RedisSentinel, Shared, shared};
use tests::{Caller, Gateway, transfer, until};

use crate::{assert_one_run, settled};

const TRANSFERS: usize = 50;
/// For each transfer, so that 200 callers confirm at once.
const CALLERS: usize = 4;
const BOUND: Duration = Duration::from_secs(20);

fn gateway(cache: &str) -> Gateway {
    let store = format!("tiered:{},{cache}", shared(Shared::Postgres));
    Gateway::start(&["--store", &store])
}

fn flush(port: u16) {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
    stream.set_read_timeout(Some(BOUND)).expect("a timeout");
    stream
        .write_all(b"FLUSHALL\r\n")
        .expect("it takes a command");
    let mut answer = String::new();
    let read = BufReader::new(stream).read_line(&mut answer);
    read.expect("it answers in time");
    assert_eq!(answer, "+OK\r\n");
}

/// Lets 200 callers confirm 50 transfers while something happens, and then again.
async fn confirm_while(agent: &Caller, harm: impl FnOnce() + Send + 'static) {
    let mut previewed = Vec::new();
    for amount in 1..=TRANSFERS {
        previewed.push(agent.preview(&transfer(amount)).await);
    }
    let confirm_all = || {
        let calls = previewed.iter().map(|transfer| {
            let calls = (0..CALLERS).map(|_| {
                let (agent, transfer) = (agent.clone(), transfer.clone());
                tokio::spawn(async move { settled(&agent, &transfer).await })
            });
            calls.collect::<Vec<_>>()
        });
        calls.collect::<Vec<_>>()
    };
    let calls = confirm_all();
    tokio::task::spawn_blocking(harm)
        .await
        .expect("the server does as it is told");
    let mut results = Vec::new();
    for (transfer, calls) in previewed.iter().zip(calls) {
        let mut all = Vec::new();
        for call in calls {
            all.push(call.await.expect("every caller is answered in time"));
        }
        assert_one_run(&all);
        assert_eq!(transfer.effects().await, 1);
        results.push(all.swap_remove(0).result);
    }
    for (result, calls) in results.iter().zip(confirm_all()) {
        for call in calls {
            let again = call.await.expect("every caller is answered in time");
            assert_eq!((again.ran, &again.result), (false, result));
        }
    }
    for transfer in &previewed {
        assert_eq!(transfer.effects().await, 1);
    }
}

#[tokio::test]
async fn a_cache_that_is_killed_frozen_and_flushed_costs_no_caller_its_answer() {
    let redis = Arc::new(Redis::start().expect("it starts"));
    let gateway = gateway(redis.url());
    let agent = gateway.caller("acme/agent-7");
    type Harm = fn(&Redis);
    let harms: [Harm; 5] = [
        |redis| redis.freeze().expect("it runs"),
        |redis| redis.thaw().expect("it is frozen"),
        |redis| (0..20).for_each(|_| flush(redis.port())),
        |redis| redis.kill().expect("it runs"),
        |redis| redis.restart().expect("it starts again"),
    ];
    for harm in harms {
        let harmed = Arc::clone(&redis);
        confirm_while(&agent, move || harm(&harmed)).await;
    }
}

#[tokio::test]
async fn a_failover_that_loses_the_last_writes_costs_no_caller_its_answer() {
    let redis = Arc::new(RedisSentinel::start().expect("it starts"));
    let gateway = gateway(redis.url());
    let agent = gateway.caller("acme/agent-7");
    let before = agent.preview(&transfer(7)).await;
    let first = settled(&agent, &before).await;
    redis.cut_replication().expect("it is cut");
    // The first replay leaves a copy, which is lost.
    settled(&agent, &before).await;
    let failing = Arc::clone(&redis);
    confirm_while(&agent, move || {
        let master = failing.kill_master().expect("it runs");
        let successor = failing.wait_for_failover(master, BOUND);
        successor.expect("the replica takes over");
    })
    .await;
    let again = settled(&agent, &before).await;
    assert_eq!((again.ran, again.result), (false, first.result));
    assert_eq!(before.effects().await, 1);
}

#[tokio::test]
async fn a_cache_that_is_out_of_reach_from_the_start_is_warned_of_and_costs_no_caller_its_answer() {
    let redis = Redis::start().expect("it starts");
    let reached = gateway(redis.url());
    // Nothing listens on the discard port.
    let alone = gateway("redis://127.0.0.1:9");
    until("a warning of the cache", || async {
        let warned = |line: &str| line.contains("WARN") && line.contains("out of reach");
        alone.log().lines().any(warned).then_some(())
    })
    .await;
    let agent = alone.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    assert!(settled(&agent, &previewed).await.ran);
    assert!(!settled(&agent, &previewed).await.ran);
    assert!(!reached.log().contains("out of reach"), "{}", reached.log());
}

#[tokio::test]
async fn a_flush_after_success_changes_no_replay() {
    let redis = Redis::start().expect("it starts");
    let gateway = gateway(redis.url());
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let first = settled(&agent, &previewed).await;
    assert!(first.ran);
    for _ in 0..3 {
        let replayed = settled(&agent, &previewed).await;
        assert_eq!((replayed.ran, &replayed.result), (false, &first.result));
        flush(redis.port());
        let flushed = settled(&agent, &previewed).await;
        assert_eq!((flushed.ran, &flushed.result), (false, &first.result));
    }
    assert_eq!(previewed.effects().await, 1);
}
