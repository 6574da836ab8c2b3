//! The two ways from what was read strictly to the value that runs and its hash.

use super::{Params, RawParams};
use crate::{
    ParamHash,
    params::{Canonicalizer, CompiledPolicy, Extra, ParamsError, Reading, decode},
};

/// Decodes what was read strictly, and hashes it.
pub(super) type Reader<P> =
    fn(&CompiledPolicy, Reading, &[Extra<'_>]) -> Result<(P, ParamHash), ParamsError>;

/// A typed gate's reader: what is hashed is the command's own serialization, defaults filled in.
pub(super) fn read_typed<P: Params>(
    policy: &CompiledPolicy,
    reading: Reading,
    headers: &[Extra<'_>],
) -> Result<(P, ParamHash), ParamsError> {
    let value: P = decode(&to_text(reading))?;
    let hash = Canonicalizer::new(policy).hash_value_with(&value, headers)?;
    Ok((value, hash))
}

/// A raw gate's reader: what is hashed is the canonical form of what was sent.
pub(super) fn read_raw(
    policy: &CompiledPolicy,
    reading: Reading,
    headers: &[Extra<'_>],
) -> Result<(RawParams, ParamHash), ParamsError> {
    let text = to_text(reading);
    let hash = Canonicalizer::new(policy).hash_json_with(text.as_bytes(), headers)?;
    Ok((RawParams::json(&text), hash))
}

fn to_text(reading: Reading) -> String {
    match reading {
        Reading::Object(members) => members.to_text(),
        Reading::Other(text) => text,
    }
}
