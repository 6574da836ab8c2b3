//! What is read from a request, the same at preview and at confirm.
//!
//! Two readers that differ in one rule hash two things, so there is one: [`Reading`] holds the settings of both
//! services, and its parts run in the order of the checks: who, the body within its limits, its media type. Params from
//! the path, the query and the headers are joined last, after the credential was found good.

mod buffer;
mod framing;
mod media;
mod path;
mod query;

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use counterfoil_core::{
    Subject,
    answer::{Answer, Status},
    engine::Incoming,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, request::Parts};
use http_body::Body as HttpBody;

use crate::{BoxError, http_answer::Refusal};

use path::PathValues;

pub(crate) use media::{essence, says_json};

/// The largest request body, unless told otherwise: 1 MiB.
pub const DEFAULT_MAX_BODY: usize = 1 << 20;

/// How long a request's body may take to arrive, unless told otherwise.
pub const DEFAULT_BODY_TIMEOUT: Duration = Duration::from_secs(30);

type SubjectOf = Arc<dyn Fn(&Parts) -> Option<Subject> + Send + Sync>;
type TargetOf = Arc<dyn Fn(&Parts) -> Uri + Send + Sync>;

/// How requests are read.
#[derive(Clone)]
pub(crate) struct Reading {
    subject: SubjectOf,
    pub(crate) max_body: usize,
    pub(crate) body_timeout: Duration,
    path_values: PathValues,
    target: TargetOf,
    bound_headers: Arc<[HeaderName]>,
    /// Whether a body may be anything.
    pub(crate) any_media: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            subject: Arc::new(|parts| parts.extensions.get::<Subject>().cloned()),
            max_body: DEFAULT_MAX_BODY,
            body_timeout: DEFAULT_BODY_TIMEOUT,
            path_values: PathValues::default(),
            target: Arc::new(path::sent),
            bound_headers: Arc::new([]),
            any_media: false,
        }
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("max_body", &self.max_body)
            .field("body_timeout", &self.body_timeout)
            .field("path_values", &self.path_values)
            .field("bound_headers", &self.bound_headers)
            .finish_non_exhaustive()
    }
}

impl Reading {
    pub(crate) fn set_subject(
        &mut self,
        find: impl Fn(&Parts) -> Option<Subject> + Send + Sync + 'static,
    ) {
        self.subject = Arc::new(find);
    }

    pub(crate) fn set_path_values(
        &mut self,
        read: impl Fn(&Parts) -> Vec<(String, String)> + Send + Sync + 'static,
    ) {
        self.path_values = PathValues::custom(read);
    }

    pub(crate) fn set_target(&mut self, find: impl Fn(&Parts) -> Uri + Send + Sync + 'static) {
        self.target = Arc::new(find);
    }

    pub(crate) fn set_bound_headers(&mut self, names: impl IntoIterator<Item = HeaderName>) {
        let mut names: Vec<HeaderName> = names.into_iter().collect();
        // The order in which preview and confirm list them must not matter.
        names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        names.dedup();
        self.bound_headers = names.into();
    }

    /// Who calls. There is no anonymous subject.
    pub(crate) fn subject(&self, parts: &Parts) -> Result<Subject, Answer> {
        (self.subject)(parts).ok_or_else(|| Answer::new(Status::Unauthenticated))
    }

    /// The whole body, within its limits, whatever it is.
    #[cfg(feature = "grpc")]
    pub(crate) async fn bytes<B>(&self, body: B) -> Result<Bytes, Answer>
    where
        B: HttpBody<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        buffer::read(body, self.max_body, self.body_timeout).await
    }

    /// The target as it was sent.
    pub(crate) fn target(&self, parts: &Parts) -> Uri {
        (self.target)(parts)
    }

    /// The whole body, within its limits, under a media type that is JSON, or under one at most where it may be anything.
    pub(crate) async fn body<B>(&self, parts: &mut Parts, body: B) -> Result<Bytes, Refusal>
    where
        B: HttpBody<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        framing::check_one(&parts.headers)?;
        let bytes = buffer::read(body, self.max_body, self.body_timeout).await?;
        framing::check_length(&parts.headers, bytes.len() as u64)?;
        if self.any_media {
            media::check_one(&parts.headers)?;
        } else {
            media::settle(&mut parts.headers, bytes.is_empty())?;
        }
        Ok(bytes)
    }

    /// Joins what the confirm route reads besides the body: path values, query members, declared headers.
    pub(crate) async fn join(
        &self,
        parts: &mut Parts,
        incoming: &mut Incoming,
    ) -> Result<(), Refusal> {
        for (name, value) in self.path_values.read(parts).await? {
            join_one(incoming, &name, &value)?;
        }
        for (name, value) in query::members(parts.uri.query().unwrap_or_default())? {
            join_one(incoming, &name, &value)?;
        }
        self.bind_headers(parts, incoming);
        Ok(())
    }

    /// The declared headers, each with its values.
    pub(crate) fn declared<'a>(&self, headers: &'a HeaderMap) -> Vec<(&str, Vec<&'a [u8]>)> {
        let declared = self.bound_headers.iter();
        declared
            .map(|name| (name.as_str(), values(headers, name)))
            .collect()
    }

    /// Binds the declared headers alone.
    pub(crate) fn bind_headers(&self, parts: &Parts, incoming: &mut Incoming) {
        for (name, values) in self.declared(&parts.headers) {
            incoming.bind_header(name, values.into_iter().map(<[u8]>::to_vec).collect());
        }
    }
}

/// The methods of a layer that say how requests are read. `$layer` has a field `settings`, with a [`Reading`].
macro_rules! reading_methods {
    ($layer:ident) => {
        impl $layer {
            /// How the subject is found; `None` is answered `unauthenticated`. Default: the [`Subject`] that authentication put
            /// into the request's extensions.
            #[must_use]
            pub fn with_subject(
                mut self,
                find: impl Fn(&Parts) -> Option<Subject> + Send + Sync + 'static,
            ) -> Self {
                self.settings.reading.set_subject(find);
                self
            }

            /// The largest request body, in bytes; past it `body_too_large`. The params of the gate have a limit of their own
            /// ([`ParamsPolicy::with_max_bytes`](counterfoil_core::params::ParamsPolicy::with_max_bytes)), past which they are
            /// `params_invalid`. Default: [`DEFAULT_MAX_BODY`](crate::DEFAULT_MAX_BODY).
            #[must_use]
            pub const fn with_max_body(mut self, bytes: usize) -> Self {
                self.settings.reading.max_body = bytes;
                self
            }

            /// How long the whole request body may take; past it `body_timeout`, and nothing is claimed. Default:
            /// [`DEFAULT_BODY_TIMEOUT`](crate::DEFAULT_BODY_TIMEOUT).
            #[must_use]
            pub const fn with_body_timeout(mut self, time: Duration) -> Self {
                self.settings.reading.body_timeout = time;
                self
            }
        }
    };
}

pub(crate) use reading_methods;

/// All values of a header, as they were sent.
pub(crate) fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<&'a [u8]> {
    let values = headers.get_all(name).iter();
    values.map(HeaderValue::as_bytes).collect()
}

/// One name, one place: 400, since it is the request that contradicts itself, not a param that is wrong.
fn join_one(incoming: &mut Incoming, name: &str, value: &str) -> Result<(), Refusal> {
    incoming
        .join(name, value)
        .map_err(|answer| Refusal::with_http(answer, StatusCode::BAD_REQUEST))
}

/// The text that the strict reader gets: no body at all means no params in the body.
pub(crate) fn json_of(bytes: &Bytes) -> &[u8] {
    if bytes.is_empty() { b"{}" } else { bytes }
}

/// The JSON pointer of a member of the body (RFC 6901, section 3).
pub(crate) fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// `params_invalid`: what the path or the query says can't be decoded.
fn malformed(field: impl Into<String>) -> Answer {
    Answer::new(Status::ParamsInvalid)
        .with_reason("malformed")
        .with_field(field)
}

/// `params_invalid`: the body is not of a kind that is read, by the header that says so.
fn unsupported_media(name: &HeaderName) -> Answer {
    Answer::new(Status::ParamsInvalid)
        .with_reason("unsupported_media")
        .with_field(name.as_str())
}
