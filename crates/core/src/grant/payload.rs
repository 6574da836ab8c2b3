//! The payload: compact JSON of one spelling.
//!
//! Writing is what defines the spelling. What was read is written once more and compared, so nothing else gets through.

use std::fmt::Write;

use base64::Engine;
use serde::Deserialize;

use super::{Audience, BASE64, GrantTerms, terms::MAX_EXP_SECS};
use crate::{Epoch, OperationId, Step, Timestamp};

/// The longest payload, in bytes: every part at its cap.
pub(super) const MAX_PAYLOAD_LEN: usize =
    "{\"n\":\"\",\"e\":,\"exp\":,\"a\":\"\",\"r\":\"\",\"b\":\"\",\"t\":\"\"}".len()
        + 32
        + (u64::MAX.ilog10() as usize + 1)
        + (MAX_EXP_SECS.ilog10() as usize + 1)
        + Audience::MAX_LEN
        + 2 * 43
        + Step::MAX_LEN;

/// Writes the one spelling of these terms. No text in it needs an escape in JSON.
pub(super) fn write(terms: &GrantTerms) -> String {
    let mut out = String::with_capacity(MAX_PAYLOAD_LEN);
    let written = write!(
        out,
        "{{\"n\":\"{}\",\"e\":{},\"exp\":{},\"a\":\"{}\",\"r\":\"{}\",\"b\":\"{}\"",
        terms.operation_id.simple(),
        terms.epoch.as_u64(),
        terms.exp.unix_secs(),
        terms.audience,
        BASE64.encode(terms.line),
        BASE64.encode(terms.body),
    );
    written.expect("a String takes what is written");
    if let Some(step) = &terms.step {
        write!(out, ",\"t\":\"{step}\"").expect("a String takes what is written");
    }
    out.push('}');
    out
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members<'a> {
    n: &'a str,
    e: u64,
    exp: u64,
    a: &'a str,
    r: &'a str,
    b: &'a str,
    #[serde(default)]
    t: Option<&'a str>,
}

/// Reads a payload that a key of ours has signed; `None` if [`write`] could not have written it.
pub(super) fn read(bytes: &[u8]) -> Option<GrantTerms> {
    let members: Members<'_> = serde_json::from_slice(bytes).ok()?;
    if members.exp > MAX_EXP_SECS {
        return None;
    }
    let terms = GrantTerms {
        operation_id: members.n.parse::<OperationId>().ok()?,
        epoch: Epoch::from_u64(members.e),
        exp: Timestamp::from_unix_secs(members.exp),
        audience: Audience::parse(members.a).ok()?,
        line: digest(members.r)?,
        body: digest(members.b)?,
        step: match members.t {
            Some(name) => Some(Step::parse(name).ok()?),
            None => None,
        },
    };
    (write(&terms).as_bytes() == bytes).then_some(terms)
}

fn digest(text: &str) -> Option<[u8; 32]> {
    BASE64.decode(text).ok()?.try_into().ok()
}
