//! Many requests on one connection of HTTP/2: each stands for itself. And one request in both versions.

use http::Version;
use tests::{Call, End, Field, Frame, Gateway, Previewed, block, transfer};

/// `CANCEL`, and what a server says whose service gave no answer (RFC 9113, section 7).
const CANCEL: [u8; 4] = [0, 0, 0, 8];
const INTERNAL_ERROR: u32 = 2;

fn chaotic(previewed: &Previewed, chaos: &str) -> Vec<Field> {
    let mut fields = previewed.call_fields();
    fields.push((b"x-chaos".to_vec(), chaos.into()));
    fields
}

fn body(previewed: &Previewed) -> Vec<u8> {
    previewed.params.to_string().into_bytes()
}

#[tokio::test]
async fn one_call_on_many_streams_has_one_effect_and_many_calls_one_each() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let (one, other) = (
        agent.preview(&transfer(1)).await,
        agent.preview(&transfer(2)).await,
    );
    let mut connection = gateway.connect_http2().await;
    // One packet, with the frames of two requests in turns.
    let heads = [1, 3].map(|stream| {
        let block = block(&one.call_fields());
        Frame::bytes(Frame::HEADERS, Frame::END_HEADERS, stream, &block)
    });
    let (first, rest) = (&body(&one)[..10], &body(&one)[10..]);
    let begins = [1, 3].map(|stream| Frame::bytes(Frame::DATA, 0, stream, first));
    let ends = [1, 3].map(|stream| Frame::bytes(Frame::DATA, Frame::END_STREAM, stream, rest));
    connection
        .send([heads, begins, ends].concat().concat())
        .await;
    connection
        .request(5, &other.call_fields(), &body(&other))
        .await;
    // Whichever of the two came second, it met the first one under way, or its result.
    let mut answered = Vec::new();
    while answered.len() < 3 {
        let frame = connection.frame().await.expect("three answers");
        if frame.kind == Frame::HEADERS {
            answered.push(frame.stream);
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 3, 5]);
    for previewed in [one, other] {
        previewed.until_state("succeeded").await;
        assert_eq!(previewed.effects().await, 1);
    }
}

#[tokio::test]
async fn a_caller_that_resets_its_stream_or_hangs_up_while_it_runs_loses_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    for hang_up in [false, true] {
        let previewed = agent.preview(&transfer("120.50")).await;
        let mut connection = gateway.connect_http2().await;
        let fields = chaotic(&previewed, "delay=1000");
        connection.request(1, &fields, &body(&previewed)).await;
        previewed.until_state("running").await;
        let kept = if hang_up {
            drop(connection);
            None
        } else {
            let reset = Frame::bytes(Frame::RESET, 0, 1, &CANCEL);
            connection.send(reset).await;
            Some(connection)
        };
        previewed
            .confirm()
            .await
            .assert_answer(202, "in_progress", "pending");
        previewed.until_state("succeeded").await;
        let retry = previewed.confirm().await;
        retry.assert_answer(201, "already_completed", "yes");
        assert_eq!(retry.json()["result"]["status"], "settled");
        assert_eq!(previewed.effects().await, 1);
        if let Some(mut connection) = kept {
            connection
                .request(3, &previewed.call_fields(), &body(&previewed))
                .await;
            assert_eq!(connection.end(3).await, End::Answered(201), "it goes on");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_resets_its_own_stream_only() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let (cut, whole) = (
        agent.preview(&transfer(1)).await,
        agent.preview(&transfer(2)).await,
    );
    let mut connection = gateway.connect_http2().await;
    let slow = chaotic(&whole, "delay=300");
    connection.request(1, &slow, &body(&whole)).await;
    let dropped = chaotic(&cut, "drop-response");
    connection.request(3, &dropped, &body(&cut)).await;
    assert_eq!(connection.end(3).await, End::Reset(INTERNAL_ERROR));
    assert_eq!(connection.end(1).await, End::Answered(201));
    connection.request(5, &cut.call_fields(), &body(&cut)).await;
    assert_eq!(connection.end(5).await, End::Answered(201));
    for previewed in [cut, whole] {
        previewed
            .confirm()
            .await
            .assert_told(201, "already_completed");
        assert_eq!(previewed.effects().await, 1);
    }
}

#[tokio::test]
async fn a_call_is_the_same_one_over_the_other_version_of_http() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    for (first, then) in [
        (Version::HTTP_11, Version::HTTP_2),
        (Version::HTTP_2, Version::HTTP_11),
    ] {
        let previewed = agent.preview(&transfer(1)).await;
        let one = agent.send(previewed.call().version(first)).await;
        one.assert_told(201, "completed");
        let two = agent.send(previewed.call().version(then)).await;
        two.assert_answer(201, "already_completed", "yes");
        assert_eq!(two.json()["result"], one.json());

        let key = format!("the-key-of-{}", previewed.id);
        let ticket = |version| {
            Call::post("/v1/tickets", r#"{"project":"p","title":"t"}"#)
                .header("idempotency-key", &key)
                .version(version)
        };
        let filed = agent.send(ticket(first)).await;
        filed.assert_told(201, "completed");
        let again = agent.send(ticket(then)).await;
        again.assert_told(201, "already_completed");
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.header("location"), filed.header("location"));
        assert_eq!(again.body, filed.body);
    }
    assert_eq!(agent.effects(None).await.len(), 4);
}
