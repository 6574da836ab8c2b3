//! The service on real stores: once, the same reply again, and what is told of a crash and of an outage.

mod server;

use std::{
    future::Future,
    process::Stdio,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use counterfoil_servers::{Postgres, Redis, Shared, shared};
use grpc_payouts::Place;
use server::{
    KEY, Server,
    calls::{Client, confirm, effects, paid, preview, reason, settled},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tonic::Code;

const MANY: usize = 64;
/// Longer than anything here takes.
const HUNG: Duration = Duration::from_secs(60);

fn postgres() -> String {
    shared(Shared::Postgres)
}

fn redis() -> String {
    shared(Shared::Redis)
}

fn tiered() -> String {
    format!("tiered:{},{}", postgres(), redis())
}

fn place(url: &str) -> Place {
    Place::parse(url, true).unwrap()
}

/// A key that no other test has.
fn fresh_key(of: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("{of}-{}-{}", std::process::id(), now.as_nanos())
}

/// Many equal calls at once: the first one's result, and how many got it.
async fn crowd<T, Fut>(call: impl Fn() -> Fut) -> T
where
    T: Send + 'static,
    Fut: Future<Output = (String, T)> + Send + 'static,
{
    let mut calls = JoinSet::new();
    for _ in 0..MANY {
        calls.spawn(call());
    }
    let mut first = None;
    while let Some(told) = calls.join_next().await {
        match told.unwrap() {
            (word, result) if word == "completed" => {
                assert!(first.replace(result).is_none(), "two runs");
            }
            (word, _) => assert!(
                ["in_progress", "already_completed"].contains(&word.as_str()),
                "{word}"
            ),
        }
    }
    first.expect("one of them ran")
}

async fn once_among_many_and_the_same_again(url: String) {
    let server = Server::on(&place(&url), Duration::from_millis(500)).await;
    let client = server.client().await;

    let fingerprint = preview(&mut client.clone()).await;
    let receipt = crowd(|| {
        let (mut client, fingerprint) = (client.clone(), fingerprint.clone());
        async move { paid(&mut client, &fingerprint).await }
    });
    let receipt = receipt.await;
    assert!(receipt.is_some());
    let again = paid(&mut client.clone(), &fingerprint).await;
    assert_eq!(again, ("already_completed".to_owned(), receipt.clone()));

    let key = fresh_key("settlement");
    let steps = crowd(|| {
        let (mut client, key) = (client.clone(), key.clone());
        async move { settled(&mut client, &key).await }
    });
    let steps = steps.await;
    assert_eq!(steps.len(), 3);
    let again = settled(&mut client.clone(), &key).await;
    assert_eq!(again, ("already_completed".to_owned(), steps.clone()));
    assert_eq!(effects(&mut client.clone()).await, 2);

    // Another process on the same store has the same replies, and runs nothing.
    let other = Server::on(&place(&url), Duration::ZERO).await;
    let mut client = other.client().await;
    assert_eq!(paid(&mut client, &fingerprint).await.1, receipt);
    assert_eq!(settled(&mut client, &key).await.1, steps);
    assert_eq!(effects(&mut client).await, 0);
}

#[tokio::test]
async fn on_postgres_one_of_many_runs_and_all_get_its_reply() {
    once_among_many_and_the_same_again(postgres()).await;
}

#[tokio::test]
async fn on_redis_one_of_many_runs_and_all_get_its_reply() {
    once_among_many_and_the_same_again(redis()).await;
}

#[tokio::test]
async fn on_both_one_of_many_runs_and_all_get_its_reply() {
    once_among_many_and_the_same_again(tiered()).await;
}

/// The program, in a process of its own, whose ledger takes three seconds.
struct Program {
    process: Child,
    client: Client,
    /// It may print for as long as it runs.
    _output: Lines<BufReader<ChildStdout>>,
}

async fn program(store: &str) -> Program {
    let mut process = Command::new(env!("CARGO_BIN_EXE_grpc-payouts"))
        .args(["--listen", "127.0.0.1:0", "--ledger-takes", "3000"])
        .args(["--accept-lost-writes", "--store", store])
        .env("PAYOUTS_KEY", KEY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let line = timeout(HUNG, lines.next_line()).await;
    let line = line.expect("it starts in time").unwrap().expect("a line");
    let url = line.strip_prefix("listening on ").expect("its address");
    let client = Client::connect(url.to_owned()).await.unwrap();
    Program {
        process,
        client,
        _output: lines,
    }
}

/// Asks until the word is none of these.
async fn after<T, Fut>(words: &[&str], mut ask: impl FnMut() -> Fut) -> (String, T)
where
    Fut: Future<Output = (String, T)>,
{
    let asking = async {
        loop {
            let told = ask().await;
            if !words.contains(&told.0.as_str()) {
                return told;
            }
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(HUNG, asking).await.expect("it ends in time")
}

async fn killed_in_its_midst_is_unknown_and_never_runs_again(store: String) {
    let mut first = program(&store).await;
    let mut client = first.client.clone();
    let fingerprint = preview(&mut client).await;
    let key = fresh_key("killed");
    let callers = [
        tokio::spawn({
            let (mut client, fingerprint) = (client.clone(), fingerprint.clone());
            async move { drop(client.confirm(confirm(&fingerprint)).await) }
        }),
        tokio::spawn({
            let (mut client, key) = (client.clone(), key.clone());
            async move { drop(client.settle(server::calls::settle(&key)).await) }
        }),
    ];
    // Both effects are there, and their replies are not.
    let began = async {
        while effects(&mut client).await < 2 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(HUNG, began).await.expect("both begin");
    assert_eq!(paid(&mut client, &fingerprint).await.0, "in_progress");
    first.process.kill().await.unwrap();
    for caller in callers {
        caller.await.unwrap();
    }

    let second = program(&store).await;
    let mut client = second.client.clone();
    let told = after(&["in_progress"], || {
        let (mut client, fingerprint) = (client.clone(), fingerprint.clone());
        async move { paid(&mut client, &fingerprint).await }
    });
    assert_eq!(told.await.0, "outcome_unknown");
    let told = after(&["in_progress"], || {
        let (mut client, key) = (client.clone(), key.clone());
        async move { settled(&mut client, &key).await }
    });
    assert_eq!(told.await.0, "outcome_unknown");
    assert_eq!(effects(&mut client).await, 0);
}

#[tokio::test]
async fn on_postgres_what_was_killed_in_its_midst_is_unknown_and_never_runs_again() {
    killed_in_its_midst_is_unknown_and_never_runs_again(postgres()).await;
}

#[tokio::test]
async fn on_redis_what_was_killed_in_its_midst_is_unknown_and_never_runs_again() {
    killed_in_its_midst_is_unknown_and_never_runs_again(redis()).await;
}

#[tokio::test]
async fn on_both_what_was_killed_in_its_midst_is_unknown_and_never_runs_again() {
    killed_in_its_midst_is_unknown_and_never_runs_again(tiered()).await;
}

/// Without its store the service is `UNAVAILABLE`, in time; with it again the same call is paid.
async fn an_outage_is_told(url: &str, kill: impl Fn(), restart: impl Fn()) {
    let server = Server::on(&place(url), Duration::ZERO).await;
    let mut client = server.client().await;
    let fingerprint = preview(&mut client).await;
    kill();
    let began = Instant::now();
    let status = client.confirm(confirm(&fingerprint)).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(20));
    let told = (status.code(), reason(&status));
    assert_eq!(told, (Code::Unavailable, "UNAVAILABLE".to_owned()));
    let key = fresh_key("outage");
    assert_eq!(settled(&mut client, &key).await.0, "unavailable");
    assert_eq!(effects(&mut client).await, 0);
    restart();
    // A claim whose caller was told so may have been under way to the store, and runs then.
    let told = after(&["unavailable", "in_progress"], || {
        let (mut client, fingerprint) = (client.clone(), fingerprint.clone());
        async move { paid(&mut client, &fingerprint).await }
    });
    let word = told.await.0;
    let ends = ["completed", "already_completed"];
    assert!(ends.contains(&word.as_str()), "{word}");
    assert_eq!(effects(&mut client).await, 1);
}

#[tokio::test]
async fn without_postgres_it_is_unavailable_in_time_and_paid_once_later() {
    let own = Postgres::start().unwrap();
    an_outage_is_told(own.url(), || own.kill().unwrap(), || own.restart().unwrap()).await;
}

#[tokio::test]
async fn without_redis_it_is_unavailable_in_time_and_paid_once_later() {
    let own = Redis::start().unwrap();
    an_outage_is_told(own.url(), || own.kill().unwrap(), || own.restart().unwrap()).await;
}

#[tokio::test]
async fn without_the_cache_alone_it_goes_on() {
    let own = Redis::start().unwrap();
    let url = format!("tiered:{},{}", postgres(), own.url());
    let server = Server::on(&place(&url), Duration::ZERO).await;
    let mut client = server.client().await;
    let fingerprint = preview(&mut client).await;
    own.kill().unwrap();
    for word in ["completed", "already_completed"] {
        assert_eq!(paid(&mut client, &fingerprint).await.0, word);
    }
    assert_eq!(effects(&mut client).await, 1);
}
