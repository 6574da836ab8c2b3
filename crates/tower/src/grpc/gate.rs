//! A gate whose params come out of messages: what a method's preview, its confirm and the layer around it share.

use std::{fmt, sync::Arc, time::Duration};

use counterfoil_core::{
    Subject,
    answer::{Answer, Status, Wording},
    engine::{Attempt, Bound, Gate, Params},
};
use http::{Extensions, HeaderMap, HeaderValue};

use crate::{
    DEFAULT_CAPTURE_TIME, DEFAULT_MAX_RESULT, Failures,
    confirm::Limits,
    headers,
    keyed::in_header,
    run::{Credential, Ready},
};

type Decode<M, P> = Arc<dyn Fn(M) -> Result<P, Answer> + Send + Sync>;

/// One method's gate: the message `M` that the method takes, and the params `P` that are read from it and hashed.
///
/// The decoder is the one path from a message to params, the same at preview and at confirm. It says what the fields mean:
/// an amount in minor units becomes a decimal, an enum's number a name, a missing field its default; what can't be meant is
/// `params_invalid`. What is hashed is the params' own serialization, as in every typed gate, never the message's bytes,
/// which one message has many of.
///
/// ```
/// use counterfoil_core::{
///     KeyId, Scope,
///     answer::{Answer, Status},
///     engine::Counterfoil,
///     fingerprint::{Key, Keyring},
/// };
/// use counterfoil_store_memory::MemoryStore;
/// use counterfoil_tower::grpc::GrpcGate;
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct CreatePayout {
///     #[prost(int64, tag = "1")]
///     cents: i64,
///     #[prost(string, tag = "2")]
///     payee: String,
/// }
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Payout {
///     cents: u64,
///     payee: String,
/// }
///
/// fn payout(message: CreatePayout) -> Result<Payout, Answer> {
///     let invalid = |field| Answer::new(Status::ParamsInvalid).with_reason("invalid_value").with_field(field);
///     let cents = u64::try_from(message.cents).map_err(|_| invalid("/cents"))?;
///     Ok(Payout { cents, payee: message.payee })
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
/// let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
/// let gate = counterfoil.gate::<Payout>(Scope::new("payouts.create")).build()?;
/// let gate: GrpcGate<CreatePayout, Payout> = GrpcGate::new(gate, payout);
/// # Ok(())
/// # }
/// ```
pub struct GrpcGate<M, P> {
    config: Arc<Config<M, P>>,
}

struct Config<M, P> {
    gate: Gate<P>,
    decode: Decode<M, P>,
    by_key: bool,
    drops_unknown_fields: bool,
    failures: Failures,
    limits: Limits,
    wording: Wording,
}

// By hand: a derive would ask `M: Clone` and `P: Clone`.
impl<M, P> Clone for Config<M, P> {
    fn clone(&self) -> Self {
        Self {
            gate: self.gate.clone(),
            decode: Arc::clone(&self.decode),
            by_key: self.by_key,
            drops_unknown_fields: self.drops_unknown_fields,
            failures: self.failures,
            limits: self.limits,
            wording: self.wording.clone(),
        }
    }
}

impl<M, P> Clone for GrpcGate<M, P> {
    fn clone(&self) -> Self {
        Self {
            config: Arc::clone(&self.config),
        }
    }
}

impl<M, P> fmt::Debug for GrpcGate<M, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcGate")
            .field("gate", &self.config.gate)
            .field("by_key", &self.config.by_key)
            .field("failures", &self.config.failures)
            .field("limits", &self.config.limits)
            .finish_non_exhaustive()
    }
}

impl<M, P: Params> GrpcGate<M, P> {
    /// For callers that bring a fingerprint, in the metadata `counterfoil-fingerprint`.
    pub fn new(
        gate: Gate<P>,
        decode: impl Fn(M) -> Result<P, Answer> + Send + Sync + 'static,
    ) -> Self {
        Self {
            config: Arc::new(Config {
                wording: gate.wording().clone(),
                gate,
                decode: Arc::new(decode),
                by_key: false,
                drops_unknown_fields: false,
                failures: Failures::default(),
                limits: Limits {
                    bytes: DEFAULT_MAX_RESULT,
                    time: DEFAULT_CAPTURE_TIME,
                },
            }),
        }
    }

    /// For callers that are programs, and bring a key of their own in the metadata `idempotency-key`, in the form that the
    /// header has over HTTP. The key is bound to the gate's scope and the params; without one, `key_required`.
    pub fn by_key(
        gate: Gate<P>,
        decode: impl Fn(M) -> Result<P, Answer> + Send + Sync + 'static,
    ) -> Self {
        Self::new(gate, decode).with(|config| {
            config.by_key = true;
            config.wording = config.wording.clone().for_keys();
        })
    }

    /// The layer takes a message with fields that `M` doesn't know, and drops them; no method sees them. Default: it is
    /// `params_invalid`, since its sender may mean something by them.
    ///
    /// What is compared is the message's length with that of `M` encoded again. So a message whose encoder writes more than
    /// it must is refused too: a default value where the field has no presence, a field twice, numbers that are not packed.
    #[must_use]
    pub fn dropping_unknown_fields(self) -> Self {
        self.with(|config| config.drops_unknown_fields = true)
    }

    /// What a gRPC status other than `OK` means without the handler's word. Default: [`Failures::ByWord`].
    ///
    /// With [`Failures::ByStatusWhileClean`], while the attempt is clean, `UNAUTHENTICATED`, `PERMISSION_DENIED` and
    /// `RESOURCE_EXHAUSTED` release the operation; `INVALID_ARGUMENT`, `NOT_FOUND`, `FAILED_PRECONDITION`, `OUT_OF_RANGE` and
    /// `UNIMPLEMENTED` fail it for good.
    #[must_use]
    pub fn with_failures(self, failures: Failures) -> Self {
        self.with(|config| config.failures = failures)
    }

    /// The largest reply that is kept for a replay, in bytes, with its metadata. Default:
    /// [`DEFAULT_MAX_RESULT`].
    #[must_use]
    pub fn with_max_result(self, bytes: usize) -> Self {
        self.with(|config| config.limits.bytes = bytes)
    }

    /// How long the layer waits for a reply's end, from its head, before it hands on what is there. Default:
    /// [`DEFAULT_CAPTURE_TIME`].
    #[must_use]
    pub fn with_capture_time(self, time: Duration) -> Self {
        self.with(|config| config.limits.time = time)
    }

    /// The words of answers, such as another language's. Default: the gate's.
    #[must_use]
    pub fn with_wording(self, wording: Wording) -> Self {
        self.with(|config| {
            config.wording = if config.by_key {
                wording.for_keys()
            } else {
                wording
            };
        })
    }

    fn with(mut self, set: impl FnOnce(&mut Config<M, P>)) -> Self {
        set(Arc::make_mut(&mut self.config));
        self
    }

    /// The gate inside.
    #[must_use]
    pub fn gate(&self) -> &Gate<P> {
        &self.config.gate
    }

    pub(super) fn wording(&self) -> &Wording {
        &self.config.wording
    }

    pub(super) fn failures(&self) -> Failures {
        self.config.failures
    }

    pub(super) fn limits(&self) -> Limits {
        self.config.limits
    }

    pub(super) fn drops_unknown_fields(&self) -> bool {
        self.config.drops_unknown_fields
    }

    /// The params of a message.
    pub(super) fn bind(&self, message: M) -> Result<Bound<P>, Answer> {
        let params = (self.config.decode)(message)?;
        self.config.gate.bind(params).map_err(|error| {
            let answer = Answer::new(Status::ParamsInvalid).with_reason(error.kind().as_str());
            match error.field() {
                Some(field) => answer.with_field(field),
                None => answer,
            }
        })
    }

    /// The credential of a call, if it is this subject's and this action's. The params are not looked at before.
    pub(super) fn credential(
        &self,
        subject: Subject,
        metadata: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Credential, Answer> {
        let gate = &self.config.gate;
        if self.config.by_key {
            let name = headers::IDEMPOTENCY_KEY;
            let field = name.as_str();
            let key = in_header(metadata)?
                .ok_or_else(|| Answer::new(Status::KeyRequired).with_field(field))?;
            // It names another operation, and its sender counts on that one. Inside of another layer it is that layer's.
            let nested = extensions.get::<Attempt>().is_some();
            if metadata.contains_key(headers::FINGERPRINT) && !nested {
                return Err(Answer::new(Status::CredentialsDiffer));
            }
            let keyed = gate.keyed(&subject, &key);
            return match keyed {
                Ok(keyed) => Ok(Credential::Key {
                    keyed,
                    field: field.to_owned(),
                }),
                Err(invalid) => Err(invalid.with_field(field)),
            };
        }
        let mut sent = metadata.get_all(headers::FINGERPRINT).iter();
        let one = sent
            .next()
            .map(HeaderValue::as_bytes)
            .ok_or_else(|| Answer::new(Status::FingerprintRequired))?;
        if sent.next().is_some() {
            return Err(Answer::new(Status::CredentialsDiffer));
        }
        let opened = gate.open(&subject, one)?;
        Ok(Credential::Fingerprint { subject, opened })
    }

    /// A call that passed all checks that come before the claim.
    pub(super) fn ready(
        &self,
        credential: Credential,
        params: Bound<P>,
    ) -> Result<Ready<P>, Answer> {
        Ready::new(self.config.gate.clone(), credential, params)
    }
}
