//! The start, and what is there and what is not.

use tests::{Call, Gateway, Scratch, transfer, until, with};

use crate::run;

#[test]
fn a_port_in_use_is_said_so() {
    let gateway = Gateway::start(&[]);
    let address = gateway.address().to_string();
    let second = run(&["--listen", &address]);
    assert!(second.code.is_some_and(|code| code != 0), "{second:#?}");
    assert_eq!(second.stdout, "");
    assert!(
        second.stderr.contains(&address) && second.stderr.contains("in use"),
        "{}",
        second.stderr
    );
}

#[test]
fn a_ledger_that_can_not_be_written_is_said_so() {
    let nowhere = Scratch::new("missing");
    let path = nowhere.path().join("ledger.jsonl");
    let path = path.to_str().expect("a path in UTF-8");
    let refused = run(&["--listen", "127.0.0.1:0", "--ledger", path]);
    assert!(refused.code.is_some_and(|code| code != 0), "{refused:#?}");
    assert!(
        refused.stderr.contains("ledger.jsonl"),
        "{}",
        refused.stderr
    );
    assert_eq!(refused.stdout, "", "it doesn't say that it listens");
}

#[tokio::test]
async fn it_says_where_it_listens_and_what_to_try() {
    let gateway = Gateway::start(&[]);
    // The lines come one by one.
    let said = until("three commands on stdout", || async {
        let said = gateway.stdout();
        (said.matches("curl ").count() >= 3).then_some(said)
    })
    .await;
    let first = said.lines().next().expect("a line");
    assert_eq!(first, format!("listening on http://{}", gateway.address()));
    assert!(said.contains("stand-in"), "{said}");
    assert_eq!(gateway.send(Call::get("/healthz")).await.status, 200);
    let log = until("a warning of the random key", || async {
        let log = gateway.log();
        log.contains("fingerprints die").then_some(log)
    })
    .await;
    assert!(log.contains("WARN"), "{log}");
}

#[tokio::test]
async fn what_a_later_version_does_answers_that_it_is_not_there() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let id = agent.preview(&transfer(1)).await.id;
    for call in [
        Call::post("/v1/deployments/preview", "{}"),
        Call::post("/v1/deployments/confirm", "{}"),
        Call::post("/v1/deployments/rollback/preview", "{}"),
        Call::post("/v1/deployments/rollback/confirm", "{}"),
        Call::post(format!("/v1/operations/{id}/approve"), ""),
        Call::post(format!("/v1/operations/{id}/deny"), ""),
        Call::post(
            format!("/v1/operations/{id}/resolve"),
            r#"{"verdict":"done","reason":"seen"}"#,
        ),
        Call::get("/v1/operations?state=unknown"),
        Call::get("/metrics"),
    ] {
        let reply = agent.send(call.clone()).await;
        assert_eq!(
            (reply.status, reply.word()),
            (501, "not_implemented"),
            "{call:?}: {reply:#?}"
        );
        reply.assert_answer(501, "not_implemented", "no");
    }
    let repeat = with(&transfer(1), "repeat_of", id);
    agent
        .preview_bytes(repeat.to_string())
        .await
        .assert_answer(501, "not_implemented", "no");
    assert_eq!(agent.send(Call::get("/nowhere")).await.status, 404);
}
