//! The canonicalizer: buffers that are used again.

use std::fmt;

use serde::Serialize;

use super::{
    emitter::{self, Emitter},
    error::ParamsError,
    hash::{self, Body, Extra},
    lexer,
    members::{Members, Reading},
    policy::CompiledPolicy,
    reader,
    serializer::ValueSerializer,
};
use crate::ParamHash;

/// Makes the canonical text of params, and their hash, under one policy.
///
/// It keeps its buffers, so a canonicalizer that is used again allocates nothing once it has met its largest params.
/// It holds the last params until it is used again or dropped.
///
/// ```
/// use counterfoil_core::params::{Canonicalizer, ParamsPolicy};
///
/// let mut canonicalizer = Canonicalizer::new(&ParamsPolicy::default().compile()?);
/// let first = canonicalizer.hash_json(br#"{"amount":1.0,"to":"a"}"#)?;
/// let again = canonicalizer.hash_json(br#"{ "to": "\u0061", "amount": 1.00 }"#)?;
/// assert_eq!(first, again);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Canonicalizer {
    policy: CompiledPolicy,
    emitter: Emitter,
    unescaped: String,
}

impl Canonicalizer {
    /// Under a policy. Buffers grow with use.
    #[must_use]
    pub fn new(policy: &CompiledPolicy) -> Self {
        Self {
            policy: policy.clone(),
            emitter: Emitter::new(policy),
            unescaped: String::new(),
        }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &CompiledPolicy {
        &self.policy
    }

    /// The canonical text of a JSON text: what the hash binds of it.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the bytes are not one strict JSON text, or the policy refuses a value.
    pub fn canonical_json(&mut self, json: &[u8]) -> Result<&str, ParamsError> {
        self.read_json(json, false)?;
        Ok(self.emitter.text())
    }

    /// The canonical text of a value's serialization.
    ///
    /// It has the form that `serde_json` would give it, but that bytes, floats as map keys, NaN, infinities and
    /// duplicate members (from `flatten`, or from a map) are errors. Integers, booleans, characters and unit variants
    /// as map keys become strings, as in `serde_json`. A set or map that iterates in random order is fine as a map,
    /// and a new hash each time as a sequence: a `HashSet` in params is a false `params_changed`.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the value has no JSON form, or the policy refuses it.
    pub fn canonical_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<&str, ParamsError> {
        self.emitter.start(false);
        value
            .serialize(ValueSerializer::new(&mut self.emitter, &mut self.unescaped))
            .map_err(|error| self.emitter.at_value(error))?;
        Ok(self.emitter.text())
    }

    /// The hash of a JSON text's canonical form.
    ///
    /// # Errors
    ///
    /// As [`Canonicalizer::canonical_json`].
    pub fn hash_json(&mut self, json: &[u8]) -> Result<ParamHash, ParamsError> {
        self.hash_json_with(json, &[])
    }

    /// The hash of a value's canonical form.
    ///
    /// # Errors
    ///
    /// As [`Canonicalizer::canonical_value`].
    pub fn hash_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<ParamHash, ParamsError> {
        self.hash_value_with(value, &[])
    }

    /// As [`Canonicalizer::hash_json`], with more parts bound. No extras give the hash of [`Canonicalizer::hash_json`].
    ///
    /// # Errors
    ///
    /// As [`Canonicalizer::canonical_json`].
    pub fn hash_json_with(
        &mut self,
        json: &[u8],
        extras: &[Extra<'_>],
    ) -> Result<ParamHash, ParamsError> {
        self.read_json(json, false)?;
        Ok(self.finish(extras))
    }

    /// As [`Canonicalizer::hash_value`], with more parts bound.
    ///
    /// # Errors
    ///
    /// As [`Canonicalizer::canonical_value`].
    pub fn hash_value_with<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        extras: &[Extra<'_>],
    ) -> Result<ParamHash, ParamsError> {
        self.canonical_value(value)?;
        Ok(self.finish(extras))
    }

    /// The hash of a body that is not JSON, byte for byte. It never equals the hash of a JSON text.
    #[must_use]
    pub fn hash_bytes_with(&self, body: &[u8], extras: &[Extra<'_>]) -> ParamHash {
        hash::finish(self.policy.prefix(), Body::Bytes(body), extras)
    }

    /// Reads a request body as strictly as the hash does, and keeps all of it: ignored fields and nulls too.
    ///
    /// # Errors
    ///
    /// As [`Canonicalizer::canonical_json`].
    pub fn read(&mut self, json: &[u8]) -> Result<Reading, ParamsError> {
        self.read_json(json, true)?;
        Ok(match self.emitter.whole_members() {
            Some(members) => Reading::Object(Members::of(members)),
            None => Reading::Other(self.emitter.text().to_owned()),
        })
    }

    fn read_json(&mut self, json: &[u8], whole: bool) -> Result<(), ParamsError> {
        if json.len() > self.policy.max_bytes() {
            return Err(emitter::too_large(self.policy.max_bytes()));
        }
        let text = lexer::utf8(json)?;
        self.emitter.start(whole);
        reader::read(text, &mut self.emitter, &mut self.unescaped)
    }

    fn finish(&self, extras: &[Extra<'_>]) -> ParamHash {
        let body = Body::Json(self.emitter.text());
        hash::finish(self.policy.prefix(), body, extras)
    }
}

/// The policy; never the params that the buffers hold.
impl fmt::Debug for Canonicalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canonicalizer")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
