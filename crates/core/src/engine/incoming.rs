//! Reads a request's params: strictly, once, the same way for preview and confirm.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use tracing::debug;

use crate::{
    ParamHash,
    answer::{Answer, Status},
    idempotency::InvalidKey,
    params::{Members, ParamsError, ParamsErrorKind, Reading},
};

/// What a gate needs of its params type. Blanket: services write only serde derives.
///
/// Decoding must not depend on anything but the text, and serializing must give the same members each time: a `HashSet`
/// serializes in random order, and its owner is told `params_changed` at random.
pub trait Params: Serialize + DeserializeOwned + Send + Sync + 'static {}
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Params for T {}

/// The params of a raw gate: the canonical text of what was sent, unread otherwise. In key mode also a body that is not
/// JSON, as it was sent.
#[derive(Clone, PartialEq, Eq)]
pub struct RawParams(Raw);

#[derive(Clone, PartialEq, Eq)]
enum Raw {
    Json(Arc<str>),
    Bytes(Bytes),
}

impl RawParams {
    pub(super) fn json(canonical: &str) -> Self {
        Self(Raw::Json(canonical.into()))
    }

    pub(super) const fn bytes(body: Bytes) -> Self {
        Self(Raw::Bytes(body))
    }

    /// The canonical JSON text, ignored fields included; `None` for a body that was not read as JSON.
    #[must_use]
    pub fn as_json(&self) -> Option<&str> {
        match &self.0 {
            Raw::Json(text) => Some(text),
            Raw::Bytes(_) => None,
        }
    }

    /// The canonical JSON text, or the body as it was sent.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Raw::Json(text) => text.as_bytes(),
            Raw::Bytes(body) => body,
        }
    }
}

/// Shows the size, never the content.
impl fmt::Debug for RawParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawParams({} bytes)", self.as_bytes().len())
    }
}

/// Params that were read, validated and hashed once: the only thing that preview and confirm accept.
pub struct Bound<P> {
    pub(super) value: Arc<P>,
    pub(super) hash: ParamHash,
}

impl<P> Bound<P> {
    /// The value that was hashed, and that the handler gets.
    #[must_use]
    pub const fn value(&self) -> &Arc<P> {
        &self.value
    }

    /// The hash that the fingerprint binds.
    #[must_use]
    pub const fn hash(&self) -> ParamHash {
        self.hash
    }
}

// By hand: a derive would ask `P: Clone`.
impl<P> Clone for Bound<P> {
    fn clone(&self) -> Self {
        Self {
            value: Arc::clone(&self.value),
            hash: self.hash,
        }
    }
}

/// Shows the hash, never the value.
impl<P> fmt::Debug for Bound<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}

/// A request's body, read strictly and not yet decoded: credentials are taken out of it, and what the route reads
/// besides the body is joined to it.
///
/// What is decoded later is the text that was read here, never the raw bytes again: a second parse with other rules is
/// where a smuggled member would live.
pub struct Incoming {
    pub(super) reading: Reading,
    pub(super) headers: Vec<(String, Vec<Vec<u8>>)>,
}

impl Incoming {
    pub(super) const fn new(reading: Reading) -> Self {
        Self {
            reading,
            headers: Vec::new(),
        }
    }

    /// Takes the member `fingerprint` out of the body.
    ///
    /// # Errors
    ///
    /// `fingerprint_mistyped` if it is not a string.
    pub fn take_fingerprint(&mut self) -> Result<Option<String>, Answer> {
        self.take_text("fingerprint")
            .map_err(|_| Answer::new(Status::FingerprintMistyped).with_field("/fingerprint"))
    }

    /// Takes the member `repeat_of` out of the body.
    ///
    /// # Errors
    ///
    /// `params_invalid` if it is not a string.
    pub fn take_repeat_of(&mut self) -> Result<Option<String>, Answer> {
        self.take_text("repeat_of").map_err(|error| invalid(&error))
    }

    /// Takes the member that holds the idempotency key out of the body.
    ///
    /// # Errors
    ///
    /// `key_invalid` if it is not a string.
    pub fn take_key(&mut self, member: &str) -> Result<Option<String>, Answer> {
        self.take_text(member).map_err(|error| {
            Answer::from(InvalidKey::WrongType).with_field(error.field().unwrap_or(member))
        })
    }

    fn take_text(&mut self, name: &str) -> Result<Option<String>, ParamsError> {
        match self.members() {
            Some(members) => members.take_string(name).transpose(),
            None => Ok(None),
        }
    }

    /// Joins a path value or a query member, as a text.
    ///
    /// # Errors
    ///
    /// `params_invalid`, naming it, if the name stands in two places, or the body is no object to join it to.
    pub fn join(&mut self, name: &str, value: &str) -> Result<(), Answer> {
        let Some(members) = self.members() else {
            return Err(Answer::new(Status::ParamsInvalid)
                .with_reason(ParamsErrorKind::WrongType.as_str())
                .with_field(""));
        };
        members.join(name, value).map_err(|_| {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            Answer::new(Status::ParamsInvalid)
                .with_reason("given_twice")
                .with_field(pointer)
        })
    }

    /// Binds a header that is meaningful to the gate, with each of its values.
    pub fn bind_header(&mut self, name: &str, values: Vec<Vec<u8>>) {
        self.headers.push((name.to_ascii_lowercase(), values));
    }

    fn members(&mut self) -> Option<&mut Members> {
        match &mut self.reading {
            Reading::Object(members) => Some(members),
            Reading::Other(_) => None,
        }
    }
}

/// Shows nothing of the content.
impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").finish_non_exhaustive()
    }
}

/// `params_invalid`, naming the fault, and the field where one is known. The whole sentence, which names what would have
/// been accepted, is for the developer's log.
pub(super) fn invalid(error: &ParamsError) -> Answer {
    debug!(%error, "params were refused");
    let answer = Answer::new(Status::ParamsInvalid).with_reason(error.kind().as_str());
    match error.field() {
        Some(field) => answer.with_field(field),
        None => answer,
    }
}
