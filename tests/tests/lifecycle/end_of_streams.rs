//! An end in order, as a caller with one connection of HTTP/2 sees it.

use tests::{End, Frame, Gateway, Scratch, transfer};

use crate::operations_in;

/// How long one that does nothing for an end in order may hold it up.
const AT_ONCE: std::time::Duration = std::time::Duration::from_secs(8);

#[tokio::test]
async fn told_to_end_it_says_so_and_answers_what_runs() {
    let ledger = Scratch::new("ledger.jsonl");
    let mut gateway = Gateway::start(&["--ledger", ledger.as_str()]);
    let previewed = gateway.caller("acme/agent-7").preview(&transfer(1)).await;
    let mut connection = gateway.connect_http2().await;
    let mut fields = previewed.call_fields();
    fields.push((b"x-chaos".to_vec(), b"delay=1500".to_vec()));
    let body = previewed.params.to_string();
    connection.request(1, &fields, body.as_bytes()).await;
    previewed.until_state("running").await;
    gateway.terminate();
    loop {
        let frame = connection.frame().await.expect("a word of the end");
        assert_ne!(frame.kind, Frame::HEADERS, "before any answer");
        if frame.kind == Frame::GO_AWAY {
            break;
        }
    }
    assert_eq!(connection.end(1).await, End::Answered(201));
    let mut rest = Vec::new();
    while let Some(frame) = connection.frame().await {
        rest.push(frame);
    }
    let whole = |frame: &Frame| frame.kind == Frame::DATA && frame.flags & Frame::END_STREAM != 0;
    assert!(rest.iter().any(whole), "{rest:?}");
    assert_eq!(gateway.ended().await, Some(0));
    assert_eq!(operations_in(&ledger), [previewed.id]);
}

#[tokio::test]
async fn told_to_end_it_waits_for_no_connection_that_asks_nothing() {
    let mut gateway = Gateway::start(&[]);
    let mut idle = gateway.connect_http2().await;
    let fields = [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/healthz"),
        (":authority", "gateway"),
    ]
    .map(|(name, value)| (name.into(), value.into()));
    idle.request(1, &fields, b"").await;
    assert_eq!(idle.end(1).await, End::Answered(200));
    let mut half = gateway.connect().await;
    half.send("PRI * HT").await;
    // Neither answers a ping, nor says that it is done.
    let silent = gateway.connect_http2().await;
    let begin = std::time::Instant::now();
    gateway.terminate();
    assert_eq!(gateway.ended().await, Some(0));
    assert!(begin.elapsed() < AT_ONCE, "{:?}", begin.elapsed());
    drop((idle, half, silent));
}
