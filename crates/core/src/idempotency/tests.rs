//! What is a key, which ones a gate takes, and what is derived from one.

use std::{collections::BTreeSet, time::Duration};

use proptest::{collection::vec, prelude::*};

use super::{IdempotencyKey, InvalidKey, KeyRules, Keyed};
use crate::{OperationId, ParamHash, Scope, Subject, Timestamp};

const UUID: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

fn read(value: &str) -> Result<String, InvalidKey> {
    IdempotencyKey::from_header(value.as_bytes()).map(|key| key.as_str().to_owned())
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::from_text(text).unwrap()
}

#[test]
fn a_string_in_quotes_and_the_same_text_bare_are_one_key() {
    for text in [
        UUID,
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "k",
        "7",
        "-1.5",
        "qL8x/+aZ==",
        "a:b",
    ] {
        assert_eq!(read(text).as_deref(), Ok(text));
        for quoted in [format!("\"{text}\""), format!(" \"{text}\" ")] {
            assert_eq!(read(&quoted).as_deref(), Ok(text));
        }
    }
}

#[test]
fn in_quotes_any_printable_ascii_is_the_key_with_its_escapes_undone() {
    for (value, text) in [
        (r#""a key, of; sorts""#, "a key, of; sorts"),
        (r#""say \"key\" \\ twice""#, r#"say "key" \ twice"#),
        (r#""(1 2);q=?1""#, "(1 2);q=?1"),
    ] {
        assert_eq!(read(value).as_deref(), Ok(text), "{value}");
    }
}

#[test]
fn what_is_no_key_is_refused_by_name() {
    for (value, invalid) in [
        ("", InvalidKey::Empty),
        ("\"\"", InvalidKey::Empty),
        ("schlüssel-schlüssel", InvalidKey::NotAscii),
        ("\"schlüssel\"", InvalidKey::NotAscii),
        ("a\0b", InvalidKey::ControlCharacter),
        ("a\u{1f}b", InvalidKey::ControlCharacter),
        ("\"a\tb\"", InvalidKey::ControlCharacter),
        ("a\u{7f}b", InvalidKey::ControlCharacter),
        ("a,b", InvalidKey::List),
        ("a, b", InvalidKey::List),
        ("\"a\", \"b\"", InvalidKey::List),
        ("\"a\",\"a\"", InvalidKey::List),
        ("\"a\", b;c=1", InvalidKey::List),
        ("a;b=1", InvalidKey::Parameters),
        ("\"a\";b", InvalidKey::Parameters),
        ("\"a\"; b=\"c\"", InvalidKey::Parameters),
        ("\"a", InvalidKey::Syntax),
        ("\"a\" b", InvalidKey::Syntax),
        ("\"a\"b", InvalidKey::Syntax),
        (r#""a\b""#, InvalidKey::Syntax),
        ("a b", InvalidKey::Syntax),
        ("a\"b\"", InvalidKey::Syntax),
        (":YWJj:", InvalidKey::Syntax),
        ("?1", InvalidKey::Syntax),
        ("@1700000000", InvalidKey::Syntax),
        ("(a)", InvalidKey::Syntax),
        ("a\\b", InvalidKey::Syntax),
    ] {
        assert_eq!(read(value), Err(invalid), "{value:?}");
    }
    assert_eq!(
        IdempotencyKey::from_header(b"a\xffb"),
        Err(InvalidKey::NotAscii)
    );
    for text in ["", "é", "a\0", "a\u{1f}"] {
        assert!(IdempotencyKey::from_text(text).is_err(), "{text:?}");
    }
    // A member of a body is a text already: a quote is a character of it.
    assert_eq!(key("\"k\"").as_str(), "\"k\"");
}

#[test]
fn a_key_has_at_most_255_characters_however_it_is_written() {
    let longest = "k".repeat(255);
    let longer = "k".repeat(256);
    assert_eq!(read(&longest), Ok(longest.clone()));
    assert_eq!(read(&format!("\"{longest}\"")), Ok(longest));
    assert_eq!(read(&longer), Err(InvalidKey::TooLong));
    assert_eq!(read(&format!("\"{longer}\"")), Err(InvalidKey::TooLong));
    // Escapes are no characters of the key.
    let quotes = format!("\"{}\"", r#"\""#.repeat(255));
    assert_eq!(read(&quotes), Ok("\"".repeat(255)));
}

proptest! {
    #[test]
    fn any_key_in_quotes_is_read_back_and_bare_only_as_itself(text in "[ -~]{1,255}") {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        let quoted = read(&format!("\"{escaped}\""));
        prop_assert_eq!(quoted.as_deref(), Ok(text.as_str()));
        if let Ok(bare) = read(&text)
            && !text.trim().starts_with('"')
        {
            prop_assert_eq!(bare, text);
        }
    }

    #[test]
    fn any_bytes_are_a_key_or_a_fault(value in vec(any::<u8>(), 0..300)) {
        if let Ok(key) = IdempotencyKey::from_header(&value) {
            prop_assert!((1..=IdempotencyKey::MAX_LEN).contains(&key.as_str().len()));
            prop_assert!(key.as_str().bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        }
    }
}

#[test]
fn the_words_for_faults_are_all_different() {
    let words: BTreeSet<_> = InvalidKey::ALL.iter().map(|fault| fault.as_str()).collect();
    assert_eq!(words.len(), InvalidKey::ALL.len());
}

#[test]
fn a_key_of_fifteen_characters_is_too_short_unless_the_rules_say_otherwise() {
    let now = Timestamp::from_unix_secs(1_800_000_000);
    let rules = KeyRules::default();
    let check = |rules: KeyRules, len| rules.check(&key(&"k".repeat(len)), now);
    assert_eq!(check(rules, 15), Err(InvalidKey::TooShort));
    assert_eq!(check(rules, 16), Ok(None));
    assert_eq!(check(rules.with_min_len(1), 1), Ok(None));
}

#[test]
fn a_bounded_age_takes_uuid_v7_only_and_ends_with_the_time_in_it() {
    let day = Duration::from_secs(86_400);
    let made = Timestamp::from_unix_secs(1_800_000_000);
    let rules = KeyRules::default().with_max_age(day);
    let id = OperationId::mint(made);
    let check = |text: &str, now| rules.check(&key(text), now);
    for text in [id.to_string(), id.simple(), id.to_string().to_uppercase()] {
        assert_eq!(check(&text, made), Ok(Some(made + day)), "{text}");
    }
    let id = id.to_string();
    // Whether its time is over is for the store's clock to say, in the statement that claims.
    assert_eq!(check(&id, made + day * 9), Ok(Some(made + day)));
    for text in [UUID, "01ARZ3NDEKTSV4RRFFQ69G5FAV", &format!("{{{id}}}")] {
        assert_eq!(check(text, made), Err(InvalidKey::NotUuidV7), "{text}");
    }
    let edge = made - KeyRules::MAX_AHEAD;
    assert!(check(&id, edge).is_ok());
    let before = edge - Duration::from_millis(1);
    assert_eq!(check(&id, before), Err(InvalidKey::AheadOfTime));
}

#[test]
fn an_operation_is_its_tenants_its_principals_and_its_keys() {
    let id = |tenant: &str, principal: &str, text: &str| {
        key(text).operation_id(&Subject::new(tenant, principal).unwrap())
    };
    let first = id("acme", "billing", UUID);
    assert_eq!(first, id("acme", "billing", UUID));
    assert!(first.is_derived() && first.minted_at().is_none());
    assert_eq!(first.as_bytes()[8] >> 6, 0b10, "RFC 9562's variant");
    for other in [
        id("acme", "shipping", UUID),
        id("other", "billing", UUID),
        id("acme", "billing", &UUID.to_uppercase()),
        // A character that moves between parts moves a length.
        id("acmeb", "illing", UUID),
        id("acme", "billing8", &UUID[1..]),
    ] {
        assert_ne!(first, other);
    }
}

#[test]
fn the_hash_of_a_request_is_its_scopes_its_params_and_its_lines() {
    let subject = Subject::new("acme", "billing").unwrap();
    let made = || Keyed::new(subject.clone(), OperationId::from_bytes([8; 16]), None);
    let scope = Scope::new("tickets.update");
    let params = ParamHash::from_bytes([7; 32]);
    let hash = |method, path, query| {
        let keyed = made().with_request(method, path, query);
        keyed.hash(&scope, &params)
    };
    let put = |path, query| hash("PUT", path, query);
    let first = put("/v1/tickets/1", None);
    assert_eq!(first, put("/v1/tickets/1", None));
    let same_line = made().with_request("PUT", "/v1/tickets/1", None);
    let others = [
        made().hash(&scope, &params),
        hash("POST", "/v1/tickets/1", None),
        put("/v1/tickets/2", None),
        put("/v1/tickets/%31", None),
        put("/v1/tickets/1/", None),
        put("/v1/tickets/1", Some("")),
        put("/v1/tickets/1", Some("a=1")),
        put("/v1/tickets/1", Some("a=%31")),
        put("/v1/tickets", Some("/1")),
        same_line.hash(&Scope::new("tickets.delete"), &params),
        same_line.hash(&scope, &ParamHash::from_bytes([6; 32])),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(first, *other, "{at}");
        assert!(!others[..at].contains(other), "{at}");
    }
}
