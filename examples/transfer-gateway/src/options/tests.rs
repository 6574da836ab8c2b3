//! Command lines that are read, and those that are refused.

use super::*;

fn parsed(line: &str) -> Result<Command, String> {
    parsed_with(line, None)
}

fn parsed_with(line: &str, store: Option<&str>) -> Result<Command, String> {
    let words = line.split_whitespace().map(OsString::from);
    parse(words, store.map(OsString::from)).map_err(|misuse| misuse.to_string())
}

fn options(line: &str) -> Options {
    match parsed(line) {
        Ok(Command::Serve(options)) => *options,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn every_option_of_this_version_is_read() {
    let o = options(
        "--listen [::1]:0 --store memory: --ledger l.jsonl --keys k1=00 --fingerprint-ttl 2s --quote-ttl 3s \
         --lease 300ms --max-run 5s --retention 7d --no-renew --wait 2s --ledger-mode fenced --recovery manual \
         --max-body 64 --lang zh --chaos --repeat-window 0s",
    );
    assert_eq!(o.listen.to_string(), "[::1]:0");
    assert_eq!(o.ledger, Some(PathBuf::from("l.jsonl")));
    assert_eq!(o.ledger_at, None);
    assert_eq!(o.keys.expect("keys").0, "k1=00");
    assert_eq!(o.times.fingerprint_ttl, Duration::from_secs(2));
    assert_eq!(o.times.quote_ttl, Duration::from_secs(3));
    assert_eq!(o.times.lease, Duration::from_millis(300));
    assert_eq!(o.times.max_run, Duration::from_secs(5));
    assert_eq!(o.times.retention, Duration::from_secs(7 * 86_400));
    assert_eq!(o.times.wait, Duration::from_secs(2));
    assert!(!o.times.renewed && o.chaos);
    assert_eq!((o.max_body, o.language), (64, Language::Chinese));
}

#[test]
fn what_a_later_version_will_do_is_refused_by_name() {
    for line in [
        "--ledger-mode dedup",
        "--ledger-mode plain",
        "--recovery takeover",
        "--audit file",
        "--approval-ttl 1h",
        "--repeat-window 10m",
    ] {
        let refused = parsed(line).expect_err(line);
        assert!(refused.contains("not in this version"), "{line}: {refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }
}

#[test]
fn a_wrong_value_is_named_with_what_is_expected() {
    for (line, words) in [
        ("--listen here", "--listen \"here\" is not an address"),
        ("--lease soon", "--lease \"soon\" is not a time such as 15m"),
        ("--lang fr", "is not en or zh"),
        ("--max-body -1", "--max-body"),
        ("--max-body 0", "refuse every request"),
        ("--quote-ttl 900ms", "leaves no time"),
        ("--lease", "--lease"),
        ("--colour", "there is no option --colour"),
        ("serve", "there is no command"),
        ("-x", "there is no option -x"),
        ("--no-renew=secret", "takes no value"),
        ("--keys k1=00, k2=secret", "one word too many"),
        ("--no-renew k2=secret", "one word too many"),
        ("--store mysql://secret@host", "is no store"),
        ("--store=redis://user:secret@host", "--accept-lost-writes"),
        (
            "--store postgres://host/db --accept-lost-writes",
            "loses none",
        ),
        ("demo --listen 127.0.0.1:0", "demo takes no --listen"),
    ] {
        let refused = parsed(line).expect_err(line);
        assert!(refused.contains(words), "{line}: {refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }
}

#[test]
fn chaos_is_refused_on_an_address_that_others_can_reach() {
    for line in ["--chaos --listen 0.0.0.0:0", "--listen [::]:0 --chaos"] {
        assert!(parsed(line).expect_err(line).contains("loopback"));
    }
    assert!(options("--chaos --listen 127.9.9.9:0").chaos);
}

#[test]
fn redis_alone_is_taken_by_who_accepts_lost_writes() {
    let o = options("--store redis://host --accept-lost-writes");
    assert_eq!(o.store, Place::Redis("redis://host".to_owned()));
    let o = options("--store tiered:postgres://host/db,redis://host");
    assert!(matches!(o.store, Place::Tiered { .. }));
}

#[test]
fn the_store_may_stand_in_the_environment_and_an_option_wins() {
    let url = "postgres://user:secret@host/db";
    let store = |line| match parsed_with(line, Some(url)) {
        Ok(Command::Serve(options)) => options.store,
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(store(""), Place::Postgres(url.to_owned()));
    assert_eq!(store("--store memory:"), Place::Memory);
    assert!(matches!(
        parsed_with("demo", Some(url)),
        Ok(Command::Demo(_))
    ));
    for url in ["", "mysql://secret@host", "redis://user:secret@host"] {
        let refused = parsed_with("", Some(url)).expect_err(url);
        assert!(!refused.contains("secret"), "{refused}");
    }
    let refused = parsed_with("", Some("")).expect_err("it is none");
    assert!(refused.contains("COUNTERFOIL_STORE"), "{refused}");
}

#[test]
fn demo_takes_a_language() {
    assert!(matches!(
        parsed("demo --lang zh"),
        Ok(Command::Demo(Language::Chinese))
    ));
    assert!(matches!(parsed("--help"), Ok(Command::Help)));
    assert!(matches!(parsed("-V"), Ok(Command::Version)));
}

#[test]
fn the_ledger_of_transfers_is_a_host_and_a_port() {
    for url in ["http://127.0.0.1:8090", "http://127.0.0.1:8090/"] {
        let o = options(&format!("--ledger-url {url}"));
        assert_eq!(o.ledger_at.expect(url), "127.0.0.1:8090");
    }
    for url in [
        "127.0.0.1:8090",
        "https://127.0.0.1:8090",
        "http://",
        "http://127.0.0.1:8090/ledger",
        "http://me:secret@127.0.0.1:8090",
    ] {
        let refused = parsed(&format!("--ledger-url {url}")).expect_err(url);
        assert!(
            refused.starts_with("--ledger-url is not a URL"),
            "{refused}"
        );
        assert!(!refused.contains("secret"), "{refused}");
    }
}
