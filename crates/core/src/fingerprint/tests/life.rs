use proptest::prelude::*;

use super::*;
use crate::fingerprint::terms::MAX_EXP_SECS;

fn terms_until(now: Timestamp, exp: Timestamp) -> Result<Terms, TermsError> {
    let t = plain_terms();
    Terms::new(t.id, t.subject, t.scope, t.hash, now, exp)
}

#[test]
fn a_life_under_a_second_is_refused() {
    let now = NOW + Duration::from_millis(400);
    assert!(terms_until(now, now + Duration::from_secs(1)).is_ok());
    let error = terms_until(now, now + Duration::from_millis(999)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a fingerprint lives at least 1000 ms, this one would live 999 ms"
    );
    assert_eq!(
        terms_until(now, NOW),
        Err(TermsError::LifeTooShort { life_ms: 0 })
    );
}

#[test]
fn exp_is_rounded_down_and_stays_after_now() {
    let now = NOW + Duration::from_millis(999);
    let terms = terms_until(now, now + Duration::from_millis(1000)).unwrap();
    assert_eq!(terms.exp(), NOW + Duration::from_secs(1));
    assert!(terms.exp() > now);
}

#[test]
fn an_exp_after_the_year_9999_is_refused() {
    let last = Timestamp::from_unix_secs(MAX_EXP_SECS);
    assert!(terms_until(NOW, last + Duration::from_millis(999)).is_ok());
    assert_eq!(
        terms_until(NOW, last + Duration::from_secs(1)),
        Err(TermsError::ExpiresTooLate)
    );
    assert_eq!(
        terms_until(NOW, Timestamp::from_unix_ms(u64::MAX)),
        Err(TermsError::ExpiresTooLate)
    );
}

#[test]
fn an_operation_that_is_not_a_uuid_v7_is_refused() {
    let t = plain_terms();
    for other in [
        "01a3185c5c004abc8def0123456789ab",
        "01a3185c5c008abc8def0123456789ab",
        "01a3185c5c007abc7def0123456789ab",
        "01a3185c5c007abccdef0123456789ab",
    ] {
        let refused = Terms::new(
            id(other),
            t.subject.clone(),
            t.scope.clone(),
            t.hash,
            NOW,
            NOW + Duration::from_secs(900),
        );
        assert_eq!(refused, Err(TermsError::IdNotTimeOrdered), "{other}");
    }
}

#[test]
fn a_foreign_caller_is_answered_like_a_forgery() {
    let terms = plain_terms();
    let own = Subject::new("acme", "agent-7").unwrap();
    let scope = Scope::new("payments.transfer");
    assert_eq!(terms.check_caller(&own, &scope), Ok(()));

    let foreign = FingerprintError::Invalid(InvalidCause::Foreign);
    let forged = FingerprintError::Invalid(InvalidCause::Forged);
    assert_eq!(foreign.to_string(), forged.to_string());
    for (tenant, principal) in [
        ("acme", "agent-8"),
        ("evil", "agent-7"),
        ("agent-7", "acme"),
    ] {
        let other = Subject::new(tenant, principal).unwrap();
        assert_eq!(terms.check_caller(&other, &scope), Err(foreign));
    }
    let other = Scope::new("payments.refund");
    assert_eq!(terms.check_caller(&own, &other), Err(foreign));
}

#[test]
fn a_slash_in_a_tenant_is_not_the_slash_between_tenant_and_principal() {
    let ring = Keyring::new(key_1());
    let with_subject = |tenant, principal| Terms {
        subject: Subject::new(tenant, principal).unwrap(),
        ..plain_terms()
    };
    let one = ring.issue(&with_subject("a/b", "c"));
    let other = with_subject("a", "b/c");
    let opened = ring.open(one.as_str()).unwrap();
    assert_ne!(opened.terms().subject(), other.subject());
    assert_ne!(one, ring.issue(&other));
}

#[test]
fn other_params_are_params_changed() {
    let terms = plain_terms();
    let mut bytes = *terms.hash().as_bytes();
    assert_eq!(terms.check_params(&ParamHash::from_bytes(bytes)), Ok(()));
    bytes[31] ^= 1;
    assert_eq!(
        terms.check_params(&ParamHash::from_bytes(bytes)),
        Err(ParamsChanged)
    );
}

#[test]
fn the_longest_parts_fit_the_cap() {
    let id = plain_terms().id;
    let exp = Timestamp::from_unix_secs(MAX_EXP_SECS);
    // 64 bytes, each of which becomes three.
    let (tenant, principal) = ("ü".repeat(32), "/".repeat(64));
    let terms = Terms::new(
        id,
        Subject::new(&tenant, &principal).unwrap(),
        Scope::parse(&"s".repeat(Scope::MAX_LEN)).unwrap(),
        ParamHash::from_bytes([0xff; 32]),
        NOW,
        exp,
    )
    .unwrap()
    .with_repeat_of(id)
    .with_approval();
    let payload = payload::Payload::of(&terms);
    assert_eq!(payload.as_bytes().len(), payload::MAX_PAYLOAD_LEN);

    let key = Key::new(key_id(&"k".repeat(KeyId::MAX_LEN)), &SECRET_2).unwrap();
    let ring = Keyring::new(key);
    let fingerprint = ring.issue(&terms);
    assert_eq!(fingerprint.as_str().len(), 892);
    assert!(fingerprint.as_str().len() <= MAX_LEN);
    assert_eq!(ring.open(fingerprint.as_str()).unwrap().terms(), &terms);
}

fn any_subject_part() -> impl Strategy<Value = String> {
    let few = proptest::collection::vec(any::<char>(), 1..=16);
    few.prop_map(|chars| chars.into_iter().collect())
}

fn any_terms() -> impl Strategy<Value = Terms> {
    let exps = 1..=MAX_EXP_SECS;
    let ids = any::<(u64, Option<[u8; 16]>)>();
    let subjects = (any_subject_part(), any_subject_part());
    let flags = any::<([u8; 32], bool)>();
    (ids, exps, subjects, "[a-z0-9._-]{1,64}", flags).prop_map(
        |((minted, twin), exp, (tenant, principal), scope, (hash, approval))| {
            let exp = Timestamp::from_unix_secs(exp);
            let mut terms = Terms::new(
                OperationId::mint(Timestamp::from_unix_ms(minted >> 16)),
                Subject::new(&tenant, &principal).unwrap(),
                Scope::parse(&scope).unwrap(),
                ParamHash::from_bytes(hash),
                Timestamp::from_unix_secs(0),
                exp,
            )
            .unwrap();
            if let Some(twin) = twin {
                terms = terms.with_repeat_of(OperationId::from_bytes(twin));
            }
            if approval {
                terms = terms.with_approval();
            }
            terms
        },
    )
}

proptest! {
    #[test]
    fn whatever_was_issued_opens_to_the_same_terms(terms in any_terms()) {
        let ring = Keyring::new(key_1());
        let fingerprint = ring.issue(&terms);
        let opened = ring.open(fingerprint.as_str()).unwrap();
        prop_assert_eq!(opened.digest(), fingerprint.digest());
        prop_assert_eq!(opened.terms(), &terms);
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        prop_assert!(fingerprint.as_str().bytes().all(plain));
    }
}
