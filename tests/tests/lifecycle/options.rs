//! The command line.

use tests::Program;

use crate::run;

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
        "COUNTERFOIL_STORE",
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
        &["--ledger-mode", "plain"][..],
        &["--ledger-mode", "dedup"],
        &["--recovery", "reconcile"],
        &["--recovery", "takeover"],
        &["--approval-ttl", "1h"],
        &["--repeat-window", "10m"],
        &["--audit", "audit.log"],
    ] {
        assert_refused(arguments, &[arguments[0]]);
    }
}

#[test]
fn redis_alone_is_refused_unless_lost_writes_are_accepted() {
    for url in [
        "redis://user:canary@localhost",
        "redis-cluster://user:canary@localhost",
        "redis-sentinel://user:canary@localhost",
    ] {
        let arguments = ["--store", url];
        assert_refused(&arguments, &["--accept-lost-writes"]);
        assert!(!run(&arguments).stderr.contains("canary"), "a password");
    }
    assert_refused(&["--accept-lost-writes"], &["--accept-lost-writes"]);
}

#[test]
fn a_store_that_can_not_be_reached_is_told_without_its_password() {
    // Nothing listens on the discard port.
    for store in [
        "postgres://user:canary@127.0.0.1:9/database",
        "tiered:postgres://user:canary@127.0.0.1:9/database,redis://:canary@127.0.0.1:9",
    ] {
        let by_env = Program::gateway(["--listen", "127.0.0.1:0"])
            .with_env("COUNTERFOIL_STORE", store)
            .finish();
        for ended in [run(&["--store", store]), by_env] {
            assert_eq!(ended.code, Some(1), "{ended:?}");
            assert!(ended.stderr.contains("Postgres"), "{ended:?}");
            assert!(!ended.stderr.contains("canary"), "{ended:?}");
            assert!(!ended.stdout.contains("canary"), "{ended:?}");
        }
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
        &["--wait", "a while"],
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
        &["--retention", "1m", "--fingerprint-ttl", "15m"][..],
        &["--fingerprint-ttl", "0s"],
        &["--fingerprint-ttl", "500ms"],
        &["--lease", "0s"],
        &["--max-run", "0s"],
        &["--no-renew", "--lease", "1ms"],
    ] {
        // By the name that was typed, and with nothing beside it.
        let typed = arguments[0];
        let arguments = [&["--listen", "127.0.0.1:0"], arguments].concat();
        assert_refused(&arguments, &[typed, "error: "]);
        let said = run(&arguments).stderr;
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
    }
    assert_refused(&["--lease", "soon"], &["ms, s, m, h or d"]);
    assert_refused(
        &[
            "--fingerprint-ttl",
            "15m",
            "--retention",
            "1m",
            "--listen",
            "127.0.0.1:0",
        ],
        &["retention 60s", "900s"],
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
