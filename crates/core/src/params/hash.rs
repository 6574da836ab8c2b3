//! The layout of what is hashed; `docs/spec/params.md` says it for other languages.

use sha2::{Digest, Sha256};

use super::{
    policy::{Fields, Nulls, Numbers, ParamsPolicy},
    text,
};
use crate::ParamHash;

const DOMAIN: &str = "counterfoil/params/v1";

/// What is bound besides the params: a header or another part of the request, by name, with all of its values.
///
/// Parts are hashed in the order given, so a gate gives them in one order always. A part without values, a part with
/// one empty value and no part at all are three things.
pub type Extra<'a> = (&'a str, &'a [&'a [u8]]);

/// What the hashed body is. A body that only looks like another's canonical text must not have its hash.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    Json(&'a str),
    Bytes(&'a [u8]),
}

/// Everything before the body: the domain with its version, and the policy.
pub(super) fn prefix(policy: &ParamsPolicy) -> Sha256 {
    let mut hasher = Sha256::new();
    part(&mut hasher, DOMAIN.as_bytes());
    part(&mut hasher, describe(policy).as_bytes());
    hasher
}

pub(super) fn finish(mut hasher: Sha256, body: Body<'_>, extras: &[Extra<'_>]) -> ParamHash {
    let (form, bytes) = match body {
        Body::Json(text) => ("json", text.as_bytes()),
        Body::Bytes(bytes) => ("bytes", bytes),
    };
    part(&mut hasher, form.as_bytes());
    part(&mut hasher, bytes);
    number(&mut hasher, extras.len());
    for (name, values) in extras {
        part(&mut hasher, name.as_bytes());
        number(&mut hasher, values.len());
        for value in *values {
            part(&mut hasher, value);
        }
    }
    ParamHash::from_bytes(hasher.finalize().into())
}

/// The policy as a canonical JSON text; its lists are sorted already.
fn describe(policy: &ParamsPolicy) -> String {
    let numbers = match policy.numbers {
        Numbers::Lossless => "lossless",
        Numbers::Exact => "exact",
    };
    let nulls = match policy.nulls {
        Nulls::DropTopLevel => "drop_top_level",
        Nulls::DropEverywhere => "drop_everywhere",
        Nulls::Keep => "keep",
    };
    let (kind, fields) = match &policy.fields {
        Fields::AllBut(list) => ("all_but", list),
        Fields::Only(list) => ("only", list),
    };
    let mut out = String::from("{\"decimals\":");
    push_list(&mut out, &policy.decimals);
    out.push_str(",\"fields\":{\"");
    out.push_str(kind);
    out.push_str("\":");
    push_list(&mut out, fields);
    out.push_str("},\"nulls\":\"");
    out.push_str(nulls);
    out.push_str("\",\"numbers\":\"");
    out.push_str(numbers);
    out.push_str("\"}");
    out
}

fn push_list(out: &mut String, list: &[String]) {
    out.push('[');
    for (i, item) in list.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        text::push_string(out, item);
    }
    out.push(']');
}

/// The length in front keeps a byte from moving between one part and the next.
pub(crate) fn part(hasher: &mut Sha256, bytes: &[u8]) {
    number(hasher, bytes.len());
    hasher.update(bytes);
}

pub(crate) fn number(hasher: &mut Sha256, number: usize) {
    hasher.update((number as u64).to_be_bytes());
}
