//! Frames and fields of HTTP/2 that no client would send.

use tests::{End, Field, Frame, Gateway, Previewed, RawHttp2, block, transfer};

/// Codes of RFC 9113, section 7.
const PROTOCOL_ERROR: u32 = 1;
const ENHANCE_YOUR_CALM: u32 = 11;

async fn previewed(gateway: &Gateway) -> Previewed {
    gateway.caller("acme/agent-7").preview(&transfer(1)).await
}

fn body(previewed: &Previewed) -> Vec<u8> {
    previewed.params.to_string().into_bytes()
}

/// What becomes of a confirm with these fields, sent on a connection of its own.
async fn sent(gateway: &Gateway, fields: &[Field], body: &[u8]) -> End {
    let mut connection = gateway.connect_http2().await;
    connection.request(1, fields, body).await;
    connection.end(1).await
}

/// Nothing ran so far, and the good call still does.
async fn assert_untouched(gateway: &Gateway, previewed: &Previewed) {
    gateway.assert_well().await;
    let status = gateway.caller("acme/agent-7");
    let status = status.status_by(&previewed.fingerprint).await;
    status.assert_answer(200, "not_started", "not_yet");
    let good = sent(gateway, &previewed.call_fields(), &body(previewed)).await;
    assert_eq!(good, End::Answered(201));
    assert_eq!(previewed.effects().await, 1);
}

fn field(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Field {
    (name.as_ref().to_vec(), value.as_ref().to_vec())
}

#[tokio::test]
async fn a_field_that_http_does_not_have_ends_its_stream_and_runs_nothing() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    for (name, value) in [
        ("x-a", &b"a\0b"[..]),
        ("x-a", b"a\x1fb"),
        ("x-a", b"a\x7fb"),
        ("x-a", b"a\r\nx-b: c"),
        ("x-a", b"a\nb"),
        ("idempotency-key", b"aaaaaaaaaaaaaaaa\0"),
        ("counterfoil-fingerprint", b"fp1\0"),
        ("X-Upper", b"a"),
        ("x a", b"a"),
        ("x\0a", b"a"),
        ("x:a", b"a"),
        ("", b"a"),
        // Of the connection, which has no such fields (section 8.2.2).
        ("connection", b"close"),
        ("connection", b"counterfoil-fingerprint"),
        ("keep-alive", b"timeout=5"),
        ("proxy-connection", b"close"),
        ("transfer-encoding", b"chunked"),
        ("upgrade", b"h2c"),
        ("te", b"gzip"),
        // After fields that are none (section 8.3).
        (":path", b"/healthz"),
        (":status", b"200"),
        (":late", b"a"),
    ] {
        let mut fields = previewed.call_fields();
        fields.push(field(name, value));
        let end = sent(&gateway, &fields, &body(&previewed)).await;
        assert!(
            matches!(end, End::Reset(_) | End::GoneAway(_)),
            "{name:?}: {value:?}: {end:?}"
        );
    }
    assert_untouched(&gateway, &previewed).await;
}

#[tokio::test]
async fn a_request_line_in_odd_pieces_runs_nothing() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let good = previewed.call_fields();
    let without = |name: &str| {
        let mut fields = good.clone();
        fields.retain(|(other, _)| other != name.as_bytes());
        fields
    };
    let with = |name: &str, value: &str| {
        let mut fields = without(name);
        fields.insert(0, field(name, value));
        fields
    };
    let twice = |name: &str| {
        let mut fields = good.clone();
        let again = fields.iter().find(|(other, _)| other == name.as_bytes());
        fields.insert(0, again.expect("it is there").clone());
        fields
    };
    for (what, fields) in [
        ("no method", without(":method")),
        ("no path", without(":path")),
        ("no scheme", without(":scheme")),
        ("two methods", twice(":method")),
        ("two paths", twice(":path")),
        ("two authorities", twice(":authority")),
        ("an empty method", with(":method", "")),
        ("a method of two words", with(":method", "POST /x")),
        ("an empty path", with(":path", "")),
        (
            "a path without a slash",
            with(":path", "v1/transfers/confirm"),
        ),
        (
            "a path with a blank",
            with(":path", "/v1/transfers/confirm x"),
        ),
        ("a star", with(":path", "*")),
        ("an authority that is none", with(":authority", "a b")),
        ("a name of nobody's", with(":foo", "a")),
        ("an answer's name", with(":status", "200")),
        ("a protocol", with(":protocol", "websocket")),
        ("a connection to elsewhere", with(":method", "CONNECT")),
    ] {
        let end = sent(&gateway, &fields, &body(&previewed)).await;
        let refused = matches!(
            end,
            End::Answered(400..=499) | End::Reset(_) | End::GoneAway(_)
        );
        assert!(refused, "{what}: {end:?}");
    }
    assert_untouched(&gateway, &previewed).await;
}

#[tokio::test]
async fn a_length_that_lies_resets_its_stream_and_runs_nothing() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let body = body(&previewed);
    let (shorter, longer) = (body.len() - 1, body.len() + 1);
    for lengths in [
        vec![shorter.to_string()],
        vec![longer.to_string()],
        vec![body.len().to_string(), longer.to_string()],
        vec![format!("+{}", body.len())],
        vec!["-1".to_owned()],
        vec!["many".to_owned()],
    ] {
        let mut fields = previewed.call_fields();
        fields.extend(lengths.iter().map(|length| field("content-length", length)));
        let end = sent(&gateway, &fields, &body).await;
        let refused = matches!(end, End::Reset(PROTOCOL_ERROR) | End::Answered(400));
        assert!(refused, "{lengths:?}: {end:?}");
    }
    assert_untouched(&gateway, &previewed).await;
}

#[tokio::test]
async fn frames_cut_anywhere_claim_nothing() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let block = block(&previewed.call_fields());
    let head = Frame::bytes(Frame::HEADERS, Frame::END_HEADERS, 1, &block);
    let data = Frame::bytes(Frame::DATA, Frame::END_STREAM, 1, &body(&previewed));
    let whole = [head.as_slice(), &data].concat();
    for cut in [
        1,
        8,
        9,
        20,
        head.len() - 1,
        head.len(),
        head.len() + 9,
        whole.len() - 1,
    ] {
        let mut connection = gateway.connect_http2().await;
        connection.send(&whole[..cut]).await;
    }
    for cut in [1, 12, RawHttp2::PREFACE.len() - 1, RawHttp2::PREFACE.len()] {
        let mut connection = gateway.connect().await;
        connection.send(&RawHttp2::PREFACE[..cut]).await;
        connection.finish().await;
        connection.rest().await;
    }
    assert_untouched(&gateway, &previewed).await;
}

#[tokio::test]
async fn frames_without_sense_end_their_connection() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let block = block(&previewed.call_fields());
    let head = |stream| Frame::bytes(Frame::HEADERS, Frame::END_HEADERS, stream, &block);
    let unended = Frame::bytes(Frame::HEADERS, 0, 1, &block);
    let never_ending: Vec<u8> = (0..2_000)
        .flat_map(|_| Frame::bytes(Frame::CONTINUATION, 0, 1, b"\0\x03x-a\x01a"))
        .collect();
    for (what, frames) in [
        ("data of nobody", Frame::bytes(Frame::DATA, 1, 0, b"a")),
        (
            "data of a stream that isn't there",
            Frame::bytes(Frame::DATA, 1, 7, b"a"),
        ),
        ("a head of nobody", head(0)),
        ("a head on a stream of the server's", head(2)),
        ("a stream before the last one", [head(5), head(3)].concat()),
        ("a head in a head", [unended.clone(), head(3)].concat()),
        (
            "a head that goes on for ever",
            [unended, never_ending].concat(),
        ),
        (
            "fields that are none",
            Frame::bytes(Frame::HEADERS, Frame::END_HEADERS, 1, b"\xff\xff\xff"),
        ),
        (
            "a frame that is too large",
            Frame::bytes(Frame::DATA, 1, 1, &[0; 17_000]),
        ),
        (
            "settings that are none",
            Frame::bytes(Frame::SETTINGS, 0, 0, b"abc"),
        ),
        (
            "a ping that is none",
            Frame::bytes(Frame::PING, 0, 0, b"abc"),
        ),
    ] {
        let mut connection = gateway.connect_http2().await;
        connection.send(frames).await;
        let end = connection.end(u32::MAX).await;
        assert!(
            matches!(end, End::GoneAway(1..) | End::Closed),
            "{what}: {end:?}"
        );
    }
    let mut connection = gateway.connect_http2().await;
    connection.send([0xa5; 20_000]).await;
    assert_ne!(connection.end(1).await, End::Answered(200));
    // A preface that goes wrong is a request of HTTP/1.1 that is none.
    let mut connection = gateway.connect().await;
    connection.send("PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n").await;
    connection.finish().await;
    let answer = connection.rest().await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
    assert_untouched(&gateway, &previewed).await;
}

#[tokio::test]
async fn more_fields_than_a_request_may_have_are_told_so() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let large = |length| {
        let mut fields = previewed.call_fields();
        fields.push(field("x-large", vec![b'a'; length]));
        block(&fields)
    };
    // In frames of what a frame may have.
    let head = |block: &[u8]| {
        let mut parts = block.chunks(16 << 10).peekable();
        let mut frames = Vec::new();
        let mut kind = Frame::HEADERS;
        while let Some(part) = parts.next() {
            let last = if parts.peek().is_none() {
                Frame::END_HEADERS
            } else {
                0
            };
            frames.extend(Frame::bytes(kind, last, 1, part));
            kind = Frame::CONTINUATION;
        }
        frames
    };
    let data = Frame::bytes(Frame::DATA, Frame::END_STREAM, 1, &body(&previewed));
    let mut connection = gateway.connect_http2().await;
    connection.send(head(&large(130 << 10))).await;
    assert_eq!(connection.end(1).await, End::Answered(431));
    assert_eq!(previewed.status().await.status, 404);
    let mut connection = gateway.connect_http2().await;
    connection
        .send([head(&large(120 << 10)), data].concat())
        .await;
    assert_eq!(connection.end(1).await, End::Answered(201));
}

#[tokio::test]
async fn streams_that_are_opened_and_reset_for_nothing_end_their_connection() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let block = block(&previewed.call_fields());
    let mut connection = gateway.connect_http2().await;
    let frames: Vec<u8> = (1..=999)
        .step_by(2)
        .flat_map(|stream| {
            let head = Frame::bytes(Frame::HEADERS, Frame::END_HEADERS, stream, &block);
            let reset = Frame::bytes(Frame::RESET, 0, stream, &[0, 0, 0, 8]);
            [head, reset].concat()
        })
        .collect();
    connection.send(frames).await;
    let end = connection.end(u32::MAX).await;
    assert!(
        matches!(end, End::GoneAway(ENHANCE_YOUR_CALM) | End::Closed),
        "{end:?}"
    );
    assert_untouched(&gateway, &previewed).await;
}

#[tokio::test]
async fn streams_past_the_limit_are_refused_and_those_within_it_are_answered() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let mut fields = previewed.call_fields();
    fields.push(field("x-chaos", "delay=500"));
    let block = block(&fields);
    let data = body(&previewed);
    let mut connection = gateway.connect_http2().await;
    // Without having heard how many are allowed. None of the first ends before its body does.
    for stream in (1..=201).step_by(2) {
        connection
            .send(Frame::bytes(
                Frame::HEADERS,
                Frame::END_HEADERS,
                stream,
                &block,
            ))
            .await;
    }
    assert_eq!(connection.end(201).await, End::Reset(7), "REFUSED_STREAM");
    for stream in (1..=199).step_by(2) {
        connection
            .send(Frame::bytes(Frame::DATA, Frame::END_STREAM, stream, &data))
            .await;
    }
    let mut statuses = Vec::new();
    while statuses.len() < 100 {
        let frame = connection.frame().await.expect("an answer to each");
        if frame.kind == Frame::HEADERS {
            statuses.push(frame.stream);
        }
    }
    statuses.sort_unstable();
    statuses.dedup();
    assert_eq!(statuses.len(), 100);
    previewed.until_state("succeeded").await;
    assert_eq!(previewed.effects().await, 1);
}
