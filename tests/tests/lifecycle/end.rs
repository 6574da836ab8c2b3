//! An end in order.

use tests::{Gateway, Scratch, transfer, until};

use crate::operations_in;

#[tokio::test]
async fn told_to_end_it_lets_what_runs_end_and_refuses_the_rest() {
    let ledger = Scratch::new("ledger.jsonl");
    let mut gateway = Gateway::start(&["--ledger", ledger.as_str()]);
    let agent = gateway.caller("acme/agent-7");
    let (waited_for, left) = (
        agent.preview(&transfer(1)).await,
        agent.preview(&transfer(2)).await,
    );
    let running = waited_for.start_running("delay=2000").await;
    // The caller of the other one hangs up.
    let hung_up = left.start_running("delay=2000").await;
    hung_up.abort();
    gateway.terminate();
    until("new connections being refused", || async {
        (!gateway.takes_connections().await).then_some(())
    })
    .await;
    assert!(!running.is_finished(), "it still runs");

    running
        .await
        .expect("a call")
        .expect("an answer")
        .assert_told(201, "completed");
    assert_eq!(gateway.ended().await, Some(0));
    let mut ids = operations_in(&ledger);
    ids.sort();
    let mut expected = [waited_for.id, left.id];
    expected.sort();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn told_to_end_it_waits_for_a_receipt_that_is_outstanding() {
    let ledger = Scratch::new("ledger.jsonl");
    let mut gateway = Gateway::start(&["--ledger", ledger.as_str()]);
    let previewed = gateway.caller("acme/agent-7").preview(&transfer(1)).await;
    previewed
        .confirm_chaos("accept")
        .await
        .assert_told(202, "in_progress");
    gateway.terminate();
    assert_eq!(gateway.ended().await, Some(0));
    assert_eq!(operations_in(&ledger), [previewed.id]);
}

#[tokio::test]
async fn told_to_end_while_idle_it_ends_at_once() {
    let mut gateway = Gateway::start(&[]);
    // An idle connection that is kept alive holds nothing up.
    let mut idle = gateway.connect().await;
    idle.send("GET /healthz HTTP/1.1\r\nHost: gateway\r\n\r\n")
        .await;
    idle.until("HTTP/1.1 200").await;
    let silent = gateway.connect().await;
    let begin = std::time::Instant::now();
    gateway.terminate();
    assert_eq!(gateway.ended().await, Some(0));
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    drop(silent);
}
