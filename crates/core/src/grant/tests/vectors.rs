//! The published vectors, `docs/spec/grant-v1.json`. With `COUNTERFOIL_WRITE_VECTORS=1` in the environment the test writes
//! the file instead of comparing it. `verify_grant.py` beside it checks them by code of its own.

use std::{fs, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Vectors {
    about: String,
    keys: Vec<KeyVector>,
    grants: Vec<Good>,
    refused: Vec<Bad>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct KeyVector {
    id: String,
    secret_hex: String,
    subkey_hex: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Good {
    name: String,
    key_id: String,
    operation_id: String,
    /// As text: JSON's numbers end at 2^53 in many readers.
    epoch: String,
    step: Option<String>,
    exp: u64,
    audience: String,
    method: String,
    target: String,
    body_hex: String,
    payload: String,
    grant: String,
    downstream_key: String,
}

/// A grant that comes to the service `ledger` with `POST /entries` and the body `{}` at `now_ms`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Bad {
    name: String,
    now_ms: u64,
    grant: String,
    reason: String,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const SECRETS: [(&str, u8, usize); 2] = [("g1", 1, 32), ("2027-01_b", 2, 64)];

fn key_of(which: usize) -> GrantKey {
    let (id, byte, len) = SECRETS[which];
    GrantKey::new(KeyId::parse(id).unwrap(), &vec![byte; len]).unwrap()
}

fn ring() -> GrantKeys {
    GrantKeys::new(key_of(0)).with_verifying(key_of(1)).unwrap()
}

struct Asked {
    epoch: u64,
    step: Option<&'static str>,
    audience: &'static str,
    method: &'static str,
    target: &'static str,
    body: &'static [u8],
}

const PLAIN: Asked = Asked {
    epoch: 1,
    step: None,
    audience: "ledger",
    method: "POST",
    target: "/entries",
    body: b"{}",
};

fn terms_of(asked: &Asked) -> GrantTerms {
    let audience = Audience::parse(asked.audience).unwrap();
    let request = GrantRequest::new(&audience, asked.method, asked.target).with_body(asked.body);
    let step = asked.step.map(|step| Step::parse(step).unwrap());
    GrantTerms::new(
        operation(),
        Epoch::from_u64(asked.epoch),
        step,
        &request,
        NOW,
    )
    .unwrap()
}

fn good(name: &str, which: usize, asked: &Asked) -> Good {
    let terms = terms_of(asked);
    Good {
        name: name.to_owned(),
        key_id: SECRETS[which].0.to_owned(),
        operation_id: terms.operation_id().to_string(),
        epoch: asked.epoch.to_string(),
        step: asked.step.map(str::to_owned),
        exp: terms.exp().unix_secs(),
        audience: asked.audience.to_owned(),
        method: asked.method.to_owned(),
        target: asked.target.to_owned(),
        body_hex: hex(asked.body),
        payload: payload::write(&terms),
        grant: GrantKeys::new(key_of(which))
            .issue(&terms)
            .as_str()
            .to_owned(),
        downstream_key: terms.downstream_key().to_string(),
    }
}

fn reason(now: Timestamp, text: &str) -> Result<(), GrantError> {
    let opened = ring().open(text)?;
    opened.check(now, &LEDGER, "POST", "/entries")?;
    opened.check_body(b"{}")
}

fn bad(name: &str, now: Timestamp, grant: impl Into<String>) -> Bad {
    let grant = grant.into();
    let reason = match reason(now, &grant).expect_err(name) {
        GrantError::Mistyped => "mistyped",
        GrantError::Invalid(InvalidGrant::UnknownKey) => "unknown_key",
        GrantError::Invalid(InvalidGrant::Forged) => "forged",
        GrantError::Invalid(InvalidGrant::Unreadable) => "unreadable",
        GrantError::Expired => "expired",
        GrantError::EndsTooLate => "ends_too_late",
        GrantError::OtherAudience => "other_audience",
        GrantError::OtherRequest => "other_request",
        GrantError::OtherBody => "other_body",
    };
    Bad {
        name: name.to_owned(),
        now_ms: now.unix_ms(),
        grant,
        reason: reason.to_owned(),
    }
}

fn refused() -> Vec<Bad> {
    let text = |asked: &Asked| ring().issue(&terms_of(asked)).as_str().to_owned();
    let plain = text(&PLAIN);
    let payload = payload::write(&terms_of(&PLAIN));
    let sealed = |payload: &str| seal(&key_of(0), payload.as_bytes());
    let end = terms_of(&PLAIN).exp();
    let (head, tag) = plain.rsplit_once('.').unwrap();
    let stray_bit = match tag.as_bytes()[42] {
        b'A' => 'B',
        last => char::from(last + 1),
    };
    vec![
        bad("nothing", NOW, ""),
        bad("another prefix", NOW, plain.replacen("gr1", "gr2", 1)),
        bad("a part too few", NOW, head),
        bad("a part too many", NOW, format!("{plain}.")),
        bad("white space", NOW, format!("{plain} ")),
        bad("padding", NOW, format!("{plain}=")),
        bad(
            "a stray bit in the tag's last character",
            NOW,
            format!("{head}.{}{stray_bit}", &tag[..42]),
        ),
        bad(
            "a key id with another character",
            NOW,
            plain.replacen(".g1.", ".g+1.", 1),
        ),
        bad(
            "over 512 bytes",
            NOW,
            format!("gr1.g1.{}.{tag}", "A".repeat(500)),
        ),
        bad(
            "a key that nobody knows",
            NOW,
            plain.replacen(".g1.", ".g9.", 1),
        ),
        bad(
            "the name of another key",
            NOW,
            plain.replacen(".g1.", ".2027-01_b.", 1),
        ),
        bad("another tag", NOW, format!("{head}.{}", "A".repeat(43))),
        bad(
            "a space in the payload",
            NOW,
            sealed(&payload.replace(":1,", ": 1,")),
        ),
        bad(
            "an unknown member",
            NOW,
            sealed(&payload.replace('}', ",\"x\":1}")),
        ),
        bad(
            "a member twice",
            NOW,
            sealed(&payload.replace("{\"n\"", "{\"e\":1,\"n\"")),
        ),
        bad(
            "an id in upper case",
            NOW,
            sealed(&payload.replace("018bcfe5", "018BCFE5")),
        ),
        bad(
            "an epoch over 64 bits",
            NOW,
            sealed(&payload.replace(":1,", ":18446744073709551616,")),
        ),
        bad(
            "a step without a name",
            NOW,
            sealed(&payload.replace('}', ",\"t\":\"\"}")),
        ),
        bad("at its end", end, plain.clone()),
        bad(
            "more than five minutes ahead",
            end - GrantTerms::MAX_LIFE - Duration::from_millis(1),
            plain.clone(),
        ),
        bad(
            "another service",
            NOW,
            text(&Asked {
                audience: "bank",
                ..PLAIN
            }),
        ),
        bad(
            "another method",
            NOW,
            text(&Asked {
                method: "PUT",
                ..PLAIN
            }),
        ),
        bad(
            "another path",
            NOW,
            text(&Asked {
                target: "/entries/",
                ..PLAIN
            }),
        ),
        bad(
            "an empty query",
            NOW,
            text(&Asked {
                target: "/entries?",
                ..PLAIN
            }),
        ),
        bad(
            "another body",
            NOW,
            text(&Asked {
                body: b"{ }",
                ..PLAIN
            }),
        ),
        bad("no body", NOW, text(&Asked { body: b"", ..PLAIN })),
    ]
}

fn vectors() -> Vectors {
    let keys = SECRETS.map(|(id, byte, len)| KeyVector {
        id: id.to_owned(),
        secret_hex: hex(&vec![byte; len]),
        subkey_hex: hex(&GrantKey::subkey_of(&vec![byte; len])),
    });
    Vectors {
        about: "Test vectors of grants, version 1. grant.md says what they mean.".to_owned(),
        keys: keys.into(),
        grants: vec![
            good("an operation's only write", 0, &PLAIN),
            good(
                "a step",
                0,
                &Asked {
                    step: Some("fee"),
                    epoch: 3,
                    ..PLAIN
                },
            ),
            good("another key", 1, &PLAIN),
            good(
                "a query, and a body that is no text",
                0,
                &Asked {
                    target: "/entries?a=%31&b",
                    body: b"\0\xff",
                    ..PLAIN
                },
            ),
            good(
                "without a body",
                0,
                &Asked {
                    method: "DELETE",
                    target: "/entries/7",
                    body: b"",
                    ..PLAIN
                },
            ),
            good(
                "the highest epoch",
                0,
                &Asked {
                    epoch: u64::MAX,
                    ..PLAIN
                },
            ),
        ],
        refused: refused(),
    }
}

#[test]
fn the_published_vectors_are_what_this_code_makes() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/grant-v1.json");
    let made = vectors();
    if std::env::var_os("COUNTERFOIL_WRITE_VECTORS").is_some() {
        let mut text = serde_json::to_string_pretty(&made).unwrap();
        text.push('\n');
        fs::write(&path, text).unwrap();
        return;
    }
    let published: Vectors = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(published, made);
}
