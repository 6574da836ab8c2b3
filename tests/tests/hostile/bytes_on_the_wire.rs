//! Bytes that no client would send.

use tests::{Gateway, transfer};

#[tokio::test]
async fn a_request_cut_in_half_claims_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let whole = previewed.call_text("");
    let body = previewed.params.to_string();
    for cut in [
        1,
        20,
        whole.len() / 2,
        whole.len() - body.len(),
        whole.len() - 1,
    ] {
        for finish_first in [false, true] {
            let mut connection = gateway.connect().await;
            connection.send(&whole[..cut]).await;
            if finish_first {
                connection.finish().await;
                let answer = connection.rest().await;
                assert!(
                    answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
                    "{cut}: {answer}"
                );
            }
        }
    }
    gateway.assert_well().await;
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_answer(200, "not_started", "not_yet");
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn bytes_without_sense_hurt_nobody() {
    let gateway = Gateway::start(&[]);
    for seed in 1..=5 {
        let mut connection = gateway.connect().await;
        connection.send(noise(seed, 20_000)).await;
        connection.finish().await;
        let answer = connection.rest().await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{answer}"
        );
    }
    let head = b"GET /healthz HTTP/1.1\r\nHost: gateway\r\n";
    for rest in [
        &b"\0\0\0\r\n\r\n"[..],
        b"X-A: \xff\xfe\r\n\r\n",
        b"X-A\r\n\r\n",
        b": x\r\n\r\n",
        b" folded\r\n\r\n",
    ] {
        let mut connection = gateway.connect().await;
        connection.send([head, rest].concat()).await;
        connection.finish().await;
        connection.rest().await;
    }
    gateway.assert_well().await;
}

/// The same bytes for the same seed, by a xorshift.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[tokio::test]
async fn requests_in_one_packet_are_each_answered() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let confirm = previewed.call_text("");
    let last = "GET /healthz HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n";
    let mut connection = gateway.connect().await;
    connection
        .send([confirm.as_str(), &confirm, last].concat())
        .await;
    let answers = connection.rest().await;
    assert_eq!(answers.matches("HTTP/1.1 201").count(), 2, "{answers}");
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 1, "{answers}");
    assert_eq!(
        answers.matches("counterfoil-status: completed").count(),
        1,
        "{answers}"
    );
    assert_eq!(
        answers
            .matches("counterfoil-status: already_completed")
            .count(),
        1,
        "{answers}"
    );
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn two_lengths_are_no_length() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let len = previewed.params.to_string().len();
    let good = format!("Content-Length: {len}\r\n");
    for lengths in [
        format!("Content-Length: {}\r\nContent-Length: {}", len, len + 1),
        format!("Content-Length: +{}", len),
        "Content-Length: -1".to_owned(),
        "Transfer-Encoding: gzip".to_owned(),
        "Transfer-Encoding: chunked, identity".to_owned(),
    ] {
        let mut connection = gateway.connect().await;
        let request = previewed.call_text("Connection: close\r\n");
        let request = request.replace(&good, &format!("{lengths}\r\n"));
        connection.send(request).await;
        connection.finish().await;
        let answer = connection.rest().await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{lengths}: {answer}");
    }
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_told(200, "not_started");
}
