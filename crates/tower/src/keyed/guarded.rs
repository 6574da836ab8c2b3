//! A gate in key mode, without its params type.

use std::borrow::Cow;

use async_trait::async_trait;
use bytes::Bytes;
use counterfoil_core::{
    Subject,
    answer::{Answer, Status},
    engine::{Attempt, Bound, Gate, Incoming},
    idempotency::{IdempotencyKey, Keyed},
    params::Extra,
};
use http::{
    header::{CONTENT_ENCODING, CONTENT_TYPE},
    request::Parts,
};

use super::in_header;
use crate::{
    confirm::Guarded,
    headers,
    http_answer::Refusal,
    request::{Reading, essence, json_of, pointer, says_json, values},
    run::{Credential, Ready, Run},
};

/// A gate, and where its key stands.
pub(super) struct KeyGuard<P> {
    pub(super) gate: Gate<P>,
    pub(super) sent: Sent,
    /// How a body is bound that doesn't claim to be JSON; `None` where none may come.
    pub(super) bind_bytes: Option<BindBytes<P>>,
}

pub(super) type BindBytes<P> = fn(&Gate<P>, Bytes, &[Extra<'_>]) -> Bound<P>;

/// Where a key may stand, and whether there must be one.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) required: bool,
    pub(super) member: Option<Cow<'static, str>>,
}

impl Sent {
    /// The one key of a request: from the header, or from the body.
    fn key(
        &self,
        parts: &Parts,
        incoming: Option<&mut Incoming>,
    ) -> Result<Option<IdempotencyKey>, Answer> {
        let in_header = in_header(&parts.headers)?;
        let in_body = match (&self.member, incoming) {
            (Some(member), Some(incoming)) => in_body(member, incoming)?,
            _ => None,
        };
        let key = match (in_header, in_body) {
            (Some(one), Some(other)) if one != other => {
                return Err(Answer::new(Status::CredentialsDiffer));
            }
            (in_header, in_body) => in_header.or(in_body),
        };
        self.alone(parts, key.is_some())?;
        Ok(key)
    }

    /// A fingerprint beside a key names another operation, and in its place it names one that isn't to be had here.
    fn alone(&self, parts: &Parts, has_key: bool) -> Result<(), Answer> {
        match (brings_fingerprint(parts), has_key) {
            (true, true) => Err(Answer::new(Status::CredentialsDiffer)),
            // Also where none is needed: whoever sends a fingerprint counts on running once.
            (true, false) => Err(key_required()),
            (false, false) if self.required => Err(key_required()),
            (false, _) => Ok(()),
        }
    }

    /// What to name where the key is at fault.
    fn field(&self, parts: &Parts) -> String {
        match &self.member {
            Some(member) if !parts.headers.contains_key(headers::IDEMPOTENCY_KEY) => {
                pointer(member)
            }
            _ => headers::IDEMPOTENCY_KEY.as_str().to_owned(),
        }
    }
}

/// Inside of another layer a fingerprint is that layer's, which has taken it.
fn brings_fingerprint(parts: &Parts) -> bool {
    parts.headers.contains_key(headers::FINGERPRINT) && parts.extensions.get::<Attempt>().is_none()
}

fn in_body(member: &str, incoming: &mut Incoming) -> Result<Option<IdempotencyKey>, Answer> {
    let Some(text) = incoming.take_key(member)? else {
        return Ok(None);
    };
    IdempotencyKey::from_text(&text)
        .map(Some)
        .map_err(|invalid| Answer::from(invalid).with_field(pointer(member)))
}

fn key_required() -> Answer {
    Answer::new(Status::KeyRequired).with_field(headers::IDEMPOTENCY_KEY.as_str())
}

impl<P> KeyGuard<P> {
    /// The operation of the key that was sent, or one of its own.
    fn keyed(
        &self,
        subject: &Subject,
        parts: &Parts,
        incoming: Option<&mut Incoming>,
    ) -> Result<Keyed, Answer> {
        match self.sent.key(parts, incoming)? {
            Some(key) => self
                .gate
                .keyed(subject, &key)
                .map_err(|invalid| invalid.with_field(self.sent.field(parts))),
            None => Ok(self.gate.unkeyed(subject)),
        }
    }
}

/// The body as it was sent, with all that says how it is read.
fn bytes_of<P>(
    gate: &Gate<P>,
    bind_bytes: BindBytes<P>,
    reading: &Reading,
    parts: &Parts,
    body: &Bytes,
) -> Bound<P> {
    let headers = &parts.headers;
    let mut extras = vec![
        (CONTENT_TYPE.as_str(), values(headers, &CONTENT_TYPE)),
        (
            CONTENT_ENCODING.as_str(),
            values(headers, &CONTENT_ENCODING),
        ),
    ];
    extras.extend(reading.declared(headers));
    let extras: Vec<Extra<'_>> = extras
        .iter()
        .map(|(name, values)| (*name, values.as_slice()))
        .collect();
    bind_bytes(gate, body.clone(), &extras)
}

#[async_trait]
impl<P: Send + Sync + 'static> Guarded for KeyGuard<P> {
    fn look(&self, parts: &Parts) -> Result<(), Refusal> {
        let in_header = in_header(&parts.headers)?;
        if in_header.is_some() || self.sent.member.is_none() {
            self.sent.alone(parts, in_header.is_some())?;
        }
        Ok(())
    }

    async fn prepare(
        &self,
        reading: &Reading,
        parts: &mut Parts,
        subject: Subject,
        body: &Bytes,
    ) -> Result<Run, Refusal> {
        let gate = &self.gate;
        let target = reading.target(parts);
        let line =
            |keyed: Keyed| keyed.with_request(parts.method.as_str(), target.path(), target.query());
        let (keyed, params) = match self.bind_bytes {
            // No body is no JSON either, and its handler gets it as it came.
            Some(bind_bytes) if body.is_empty() || !says_json(&parts.headers) => {
                let keyed = line(self.keyed(&subject, parts, None)?);
                (keyed, bytes_of(gate, bind_bytes, reading, parts, body))
            }
            any_body => {
                let mut incoming = gate.incoming(json_of(body))?;
                let keyed = line(self.keyed(&subject, parts, Some(&mut incoming))?);
                if any_body.is_some() {
                    // A handler that takes any body acts on what it claims to be.
                    let essence = essence(&parts.headers).into_bytes();
                    incoming.bind_header(CONTENT_TYPE.as_str(), vec![essence]);
                }
                reading.bind_headers(parts, &mut incoming);
                (keyed, gate.bind_incoming(incoming)?)
            }
        };
        let credential = Credential::Key {
            field: self.sent.field(parts),
            keyed,
        };
        Ok(Ready::new(gate.clone(), credential, params)?.erased())
    }

    fn scope(&self) -> &str {
        self.gate.scope().as_str()
    }
}
