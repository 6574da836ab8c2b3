//! Scripts that the server has never seen, or no longer knows.

use counterfoil_core::{
    lifecycle::State,
    store::{Completed, Renewed, Store},
};
use counterfoil_servers::Redis as Server;

use crate::{
    common::{client::Redis, config},
    op::{LONG, Op, alone, done},
    outages::until_it_answers,
};

#[tokio::test]
async fn a_flush_of_scripts_is_not_noticed() {
    let server = Server::start().expect("a server");
    let redis = Redis::connect(server.url()).await;
    let store = alone(config(server.url())).await;
    let flush = || async { redis.ask::<String>("SCRIPT", &["FLUSH"]).await };

    let op = Op::new();
    flush().await;
    let held = op.claim(&store).await;
    flush().await;
    let renewed = store.renew(&held, LONG).await.expect("an answer");
    assert_eq!(renewed, Renewed::Renewed);
    flush().await;
    let completed = store.complete(&held, &done("paid")).await;
    assert_eq!(completed.expect("an answer"), Completed::Completed);
    flush().await;
    assert_eq!(op.record(&store).await.life.state, State::Done);
}

/// The first call after it is the text, and the others are the hash.
#[tokio::test]
async fn a_script_is_sent_whole_once() {
    let server = Server::start().expect("a server");
    let redis = Redis::connect(server.url()).await;
    let store = alone(config(server.url())).await;
    for _ in 0..5 {
        Op::new().claim(&store).await;
    }
    assert_eq!(redis.calls("eval").await, 1);
    assert_eq!(redis.calls("evalsha").await, 5);
}

/// With its log of writes, what it acknowledged is there again; the scripts are not.
#[tokio::test]
async fn a_server_that_was_restarted_goes_on() {
    let server = Server::starter()
        .setting("appendonly", "yes")
        .setting("appendfsync", "always")
        .start()
        .expect("a server");
    let store = alone(config(server.url())).await;
    let op = Op::new();
    let held = op.claim(&store).await;
    server.kill().expect("killed");
    server.restart().expect("restarted");
    let paid = done("paid");
    let completed = until_it_answers(|| store.complete(&held, &paid)).await;
    assert_eq!(completed, Completed::Completed);
    let record = op.record(&store).await;
    assert_eq!((record.life.state, record.attempts), (State::Done, 1));
}

/// Without it, the operation is gone. That is what may be repeated.
#[tokio::test]
async fn a_server_that_keeps_no_log_forgets_on_restart() {
    let server = Server::start().expect("a server");
    let store = alone(config(server.url())).await;
    assert!(store.capabilities().may_lose_writes);
    let op = Op::new();
    let held = op.claim(&store).await;
    server.kill().expect("killed");
    server.restart().expect("restarted");
    let paid = done("paid");
    let completed = until_it_answers(|| store.complete(&held, &paid)).await;
    assert_eq!(completed, Completed::NotOwner);
    op.claim(&store).await;
}
