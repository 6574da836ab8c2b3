//! The program itself: its options, its start and its end, what a crash leaves behind, its languages and its demo.

use serde_json::Value;
use tests::{Call, Finished, Gateway, Program, Scratch, transfer, until, with};

const KEYS: &str = "k1=1111111111111111111111111111111111111111111111111111111111111111";

fn run(arguments: &[&str]) -> Finished {
    Program::gateway(arguments).finish()
}

/// Holds a refusal to its exit code, and to texts in its sentence.
#[track_caller]
fn assert_refused(arguments: &[&str], texts: &[&str]) {
    let finished = run(arguments);
    assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:#?}");
    assert_eq!(finished.stdout, "", "{arguments:?}");
    for text in texts {
        assert!(
            finished.stderr.contains(text),
            "{arguments:?}: {text} is missing: {}",
            finished.stderr
        );
    }
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

#[test]
fn help_names_every_option() {
    let help = run(&["--help"]);
    assert_eq!(help.code, Some(0), "{help:#?}");
    assert_eq!(help.stderr, "");
    for option in [
        "--listen",
        "--store",
        "--ledger",
        "--keys",
        "--fingerprint-ttl",
        "--quote-ttl",
        "--lease",
        "--max-run",
        "--retention",
        "--approval-ttl",
        "--repeat-window",
        "--no-renew",
        "--wait",
        "--ledger-mode",
        "--accept-lost-writes",
        "--recovery",
        "--max-body",
        "--lang",
        "--audit",
        "--chaos",
        "demo",
    ] {
        assert!(
            help.stdout.contains(option),
            "{option} is missing: {}",
            help.stdout
        );
    }
}

#[test]
fn an_option_of_a_later_version_is_refused_by_name() {
    for arguments in [
        &["--store", "redis://user:canary@localhost"][..],
        &["--store", "redis-cluster://user:canary@localhost"],
        &["--store", "redis-sentinel://user:canary@localhost"],
        &["--store", "postgres://user:canary@localhost"],
        &[
            "--store",
            "tiered:postgres://user:canary@localhost,redis://localhost",
        ],
        &["--wait", "2s"],
        &["--ledger-mode", "plain"],
        &["--ledger-mode", "dedup"],
        &["--recovery", "reconcile"],
        &["--recovery", "takeover"],
        &["--accept-lost-writes"],
        &["--approval-ttl", "1h"],
        &["--repeat-window", "10m"],
        &["--audit", "audit.log"],
    ] {
        assert_refused(arguments, &[arguments[0]]);
        assert!(
            !run(arguments).stderr.contains("canary"),
            "a password is shown"
        );
    }
}

#[test]
fn an_option_that_does_not_exist_or_has_a_wrong_value_is_refused_by_name() {
    for arguments in [
        &["--colour"][..],
        &["--listen", "here"],
        &["--listen", "127.0.0.1:99999"],
        &["--lease", "soon"],
        &["--fingerprint-ttl", "-1s"],
        &["--fingerprint-ttl", "15"],
        &["--max-body", "lots"],
        &["--max-body", "-1"],
        &["--lang", "fr"],
        &["--store", "nowhere"],
        &["--keys"],
    ] {
        assert_refused(arguments, &[arguments[0]]);
    }
    assert_refused(&["serve"], &["serve"]);
}

#[test]
fn times_that_break_a_promise_are_refused_with_both_of_them() {
    // A record must outlive its fingerprint; a lease without renewal must be as long as a run can take.
    for arguments in [
        &["--fingerprint-ttl", "15m", "--retention", "1m"][..],
        &["--fingerprint-ttl", "0s"],
        &["--fingerprint-ttl", "500ms"],
        &["--lease", "0s"],
        &["--max-run", "0s"],
        &["--no-renew", "--lease", "1ms"],
    ] {
        let arguments = [&["--listen", "127.0.0.1:0"], arguments].concat();
        assert_refused(&arguments, &[]);
    }
    assert_refused(
        &[
            "--fingerprint-ttl",
            "15m",
            "--retention",
            "1m",
            "--listen",
            "127.0.0.1:0",
        ],
        &["15m", "1m"],
    );
}

#[test]
fn faults_on_request_are_refused_on_an_address_that_others_can_reach() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        assert_refused(&["--chaos", "--listen", listen], &["--chaos", "loopback"]);
        assert_refused(&["--listen", listen, "--chaos"], &["--chaos", "loopback"]);
    }
}

#[test]
fn a_bad_key_is_refused_and_never_shown() {
    let short = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let good = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    for keys in [
        String::new(),
        short.to_owned(),
        format!("k1={short}"),
        format!("k1={good}a"),
        format!("k1={good},"),
        format!("k1={good},k1={good}"),
        format!("={good}"),
        format!("k 1={good}"),
        format!("{good}=k1"),
        format!("a-name-of-over-16-characters={good}"),
        format!("k1={}zz", &good[2..]),
        format!("k1={}", good.repeat(5)),
    ] {
        assert_refused(&["--listen", "127.0.0.1:0", "--keys", &keys], &["--keys"]);
        let by_env = Program::gateway(["--listen", "127.0.0.1:0"])
            .with_env("COUNTERFOIL_KEYS", &keys)
            .finish();
        assert_ne!(by_env.code, Some(0), "{by_env:#?}");
        assert!(
            by_env.stderr.contains("COUNTERFOIL_KEYS"),
            "{}",
            by_env.stderr
        );
        for stderr in [
            run(&["--listen", "127.0.0.1:0", "--keys", &keys]).stderr,
            by_env.stderr,
        ] {
            assert!(
                !stderr.contains(&short[..16]) && !stderr.contains(&good[..16]),
                "{stderr}"
            );
        }
    }
}

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
        Call::post("/v1/tickets", r#"{"project":"p","title":"t"}"#)
            .header("idempotency-key", "\"0190a0b0-0000-7000-8000\""),
        Call::new(http::Method::PUT, "/v1/tickets/T-1").body("{}"),
        Call::new(http::Method::DELETE, "/v1/tickets/T-1"),
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
        Call::get("/v1/operation").header("idempotency-key", "\"0190a0b0-0000-7000-8000\""),
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

#[tokio::test]
async fn answers_come_in_chinese() {
    let gateway = Gateway::start(&["--lang", "zh"]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    assert!(
        is_chinese(&previewed.reply.text("summary")),
        "{:#?}",
        previewed.reply
    );
    let foreign = gateway.caller("acme/agent-8");
    let unconfirmed = agent.status_by(&previewed.fingerprint).await;
    unconfirmed.assert_answer(200, "not_started", "not_yet");
    previewed.confirm().await.assert_told(201, "completed");
    for (reply, status, word) in [
        (unconfirmed, 200, "not_started"),
        (previewed.confirm().await, 201, "already_completed"),
        (previewed.status().await, 200, "already_completed"),
        (
            previewed.confirm_with(&transfer(1)).await,
            422,
            "params_changed",
        ),
        (agent.preview_bytes("{").await, 422, "params_invalid"),
        (
            foreign
                .confirm_bytes(&previewed.fingerprint, transfer(1).to_string())
                .await,
            403,
            "fingerprint_invalid",
        ),
        (gateway.send(previewed.call()).await, 401, "unauthenticated"),
        (
            agent.send(Call::get("/metrics")).await,
            501,
            "not_implemented",
        ),
        (
            agent.preview_bytes(transfer(10_000).to_string()).await,
            501,
            "not_implemented",
        ),
        (foreign.status(&previewed.id).await, 404, "not_found"),
    ] {
        reply.assert_told(status, word);
        for member in ["meaning", "instruction"] {
            assert!(is_chinese(&reply.text(member)), "{member}: {reply:#?}");
        }
        // A sentence that was left in English would have more.
        let words = reply
            .text("meaning")
            .split(|c: char| !c.is_ascii_alphabetic())
            .filter(|w| w.len() > 2)
            .count();
        assert!(words < 6, "{reply:#?}");
    }
}

fn is_chinese(text: &str) -> bool {
    text.chars()
        .filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c))
        .count()
        >= 2
}

#[tokio::test]
async fn told_to_end_it_lets_what_runs_end_and_refuses_the_rest() {
    let ledger = Scratch::new("ledger.jsonl");
    let mut gateway = Gateway::start(&["--ledger", ledger.as_str()]);
    let agent = gateway.caller("acme/agent-7");
    let (waited_for, left) = (
        agent.preview(&transfer(1)).await,
        agent.preview(&transfer(2)).await,
    );
    let running = waited_for.start_running("delay=1200").await;
    // The caller of the other one hangs up.
    let hung_up = left.start_running("delay=1200").await;
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

/// The ids in the ledger's file, one for each line.
fn operations_in(ledger: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(ledger.path()).unwrap_or_default();
    let effects = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"));
    effects
        .map(|effect: Value| effect["operation_id"].as_str().expect("an id").to_owned())
        .collect()
}

#[tokio::test]
async fn a_crash_at_any_point_is_an_unknown_outcome_that_never_runs_again() {
    for (chaos, effects) in [
        ("exit-before-claim", 0),
        ("exit-after-claim", 0),
        ("exit-after-effect", 1),
        ("exit-after-complete", 1),
        ("delay=10;exit-after-effect", 1),
    ] {
        let ledger = Scratch::new("ledger.jsonl");
        let arguments = ["--ledger", ledger.as_str(), "--keys", KEYS];
        let mut gateway = Gateway::start(&arguments);
        let previewed = gateway
            .caller("acme/agent-7")
            .preview(&transfer("120.50"))
            .await;
        let cut = previewed.try_confirm_chaos(chaos).await;
        assert!(cut.is_err(), "{chaos}: {cut:#?}");
        assert_eq!(gateway.ended().await, None, "{chaos}: a signal ended it");
        assert_eq!(operations_in(&ledger).len(), effects, "{chaos}");
        drop(gateway);

        // The next process remembers the ledger and forgot the operation: it may have happened, and it must not run.
        let gateway = Gateway::start(&arguments);
        let agent = gateway.caller("acme/agent-7");
        for _ in 0..2 {
            let retry = agent
                .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
                .await;
            retry.assert_answer(202, "outcome_unknown", "unknown");
        }
        let status = agent.status_by(&previewed.fingerprint).await;
        status.assert_answer(200, "outcome_unknown", "unknown");
        agent
            .status(&previewed.id)
            .await
            .assert_answer(200, "outcome_unknown", "unknown");
        assert_eq!(
            agent.effects(Some(&previewed.id)).await.len(),
            effects,
            "{chaos}"
        );
        assert_eq!(operations_in(&ledger).len(), effects, "{chaos}");
        // What is new runs.
        agent
            .preview(&transfer(1))
            .await
            .confirm()
            .await
            .assert_told(201, "completed");
    }
}

#[tokio::test]
async fn a_restarted_memory_knows_that_it_forgot() {
    let gateway = Gateway::start(&["--keys", KEYS]);
    let agent = gateway.caller("acme/agent-7");
    let done = agent.preview(&transfer(1)).await;
    let unconfirmed = agent.preview(&transfer(2)).await;
    done.confirm().await.assert_told(201, "completed");
    drop(gateway);

    let gateway = Gateway::start(&["--keys", KEYS]);
    let agent = gateway.caller("acme/agent-7");
    for previewed in [&done, &unconfirmed] {
        let reply = agent
            .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
            .await;
        reply.assert_answer(202, "outcome_unknown", "unknown");
        let changed = agent
            .confirm_bytes(&previewed.fingerprint, transfer(3).to_string())
            .await;
        changed.assert_answer(422, "params_changed", "unknown");
        let cancel = Call::post(format!("/v1/operations/{}/cancel", previewed.id), "")
            .header("counterfoil-fingerprint", &previewed.fingerprint);
        assert_ne!(
            agent.send(cancel).await.word(),
            "cancelled",
            "what may have happened can't be called off"
        );
    }
    assert_eq!(agent.effects(None).await, Vec::<Value>::new());
}

#[test]
fn the_demo_ends_well_and_shows_both_ledgers() {
    for (lang, words) in [("en", &["ledger", "UNKNOWN"][..1]), ("zh", &["账本"][..])] {
        let demo = Program::gateway(["demo", "--lang", lang]).finish();
        assert_eq!(demo.code, Some(0), "{demo:#?}");
        assert!(
            !demo.stdout.contains('\u{1b}'),
            "escape codes in a pipe: {}",
            demo.stdout
        );
        assert!(demo.stdout.lines().count() > 20, "{}", demo.stdout);
        for word in words {
            let times = demo.stdout.to_lowercase().matches(word).count();
            assert!(times >= 2, "{word} of both: {}", demo.stdout);
        }
        assert_eq!(is_chinese(&demo.stdout), lang == "zh", "{}", demo.stdout);
        assert!(!demo.stderr.contains("panicked"), "{}", demo.stderr);
    }
}
