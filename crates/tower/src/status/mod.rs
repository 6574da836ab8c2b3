//! Status and cancel as services, for an operation's own subject.

mod named;

use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use counterfoil_core::{
    OperationId, Subject,
    answer::{Answer, Status, Wording},
    engine::Counterfoil,
    idempotency::IdempotencyKey,
};
use http::{Request, Response, request::Parts};
use tower_service::Service;

use crate::{
    Body, ResponseFuture,
    http_answer::{Rendering, Replay},
    request::Reading,
};

use named::Named;

/// Tells how an operation stands: `GET /v1/operations/ID`, or a path of its own with the header
/// `Counterfoil-Fingerprint` or `Idempotency-Key`.
///
/// The operation is named by the fingerprint or the key, if its header is there, else by the last segment of the path; where both
/// name one they must be the same, else `credentials_differ`. Whatever became of it, what was found is 200 with the
/// answer as JSON, and `Retry-After` while it has not ended. An unknown id, one that is no id, and another subject's are
/// 404 alike. By fingerprint, an operation that nobody confirmed yet is `not_started`; so is one by a key that no
/// record stands for.
///
/// The service takes every method; mount it for `GET`. It reads the path as it comes, so any router will do.
///
/// ```
/// use counterfoil_core::{KeyId, Subject, engine::Counterfoil, fingerprint::{Key, Keyring}};
/// use counterfoil_store_memory::MemoryStore;
/// use counterfoil_tower::{Body, StatusService};
/// use http::Request;
/// use tower::ServiceExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
/// let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
/// let request = Request::get("/v1/operations/0190a0b0-0000-7000-8000-000000000000")
///     .extension(Subject::new("acme", "agent-7")?)
///     .body(Body::default())?;
/// let response = StatusService::new(counterfoil).oneshot(request).await?;
/// assert_eq!(response.headers()["counterfoil-status"], "outcome_unknown");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StatusService(Shared);

/// Calls an operation off: `POST /v1/operations/ID/cancel`.
///
/// The id is the last segment of the path, or the one before it where the last is `cancel`. An operation that has no
/// record yet can be called off by its own credential only, in the header `Counterfoil-Fingerprint`; an id in the path
/// must then be that fingerprint's, else `credentials_differ`, and nothing is called off. The header `Idempotency-Key` names an
/// operation as its id does; one that has no record can't be called off by it. 200 `cancelled`, for good; 409
/// `too_late` once it ran; 404 for an unknown id, and for another subject's; 202 `outcome_unknown` where the store has
/// forgotten.
///
/// The service takes every method; mount it for `POST`.
#[derive(Clone)]
pub struct CancelService(Shared);

#[derive(Clone)]
struct Shared {
    counterfoil: Counterfoil,
    reading: Reading,
    wording: Arc<Wording>,
    wording_for_keys: Arc<Wording>,
}

impl Shared {
    fn new(counterfoil: Counterfoil) -> Self {
        Self {
            wording: Arc::new(counterfoil.wording().clone()),
            wording_for_keys: Arc::new(counterfoil.wording().clone().for_keys()),
            counterfoil,
            reading: Reading::default(),
        }
    }

    /// The words for what names the operation: its id tells a key's from a fingerprint's.
    fn rendering(&self, answer: &Answer) -> Rendering<'_> {
        let of_a_key = answer.operation_id.is_some_and(|id| id.is_derived());
        let wording = if of_a_key {
            &self.wording_for_keys
        } else {
            &self.wording
        };
        Rendering::new(wording, Replay::Envelope)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("reading", &self.reading)
            .finish_non_exhaustive()
    }
}

/// What both services have: settings, and a service whose answers come from `answer` and are written by `$render`.
macro_rules! by_operation {
    ($service:ident, $render:ident) => {
        impl $service {
            /// A service over the operations of `counterfoil`.
            #[must_use]
            pub fn new(counterfoil: Counterfoil) -> Self {
                Self(Shared::new(counterfoil))
            }

            /// As [`ConfirmLayer::with_subject`](crate::ConfirmLayer::with_subject).
            #[must_use]
            pub fn with_subject(
                mut self,
                find: impl Fn(&Parts) -> Option<Subject> + Send + Sync + 'static,
            ) -> Self {
                self.0.reading.set_subject(find);
                self
            }

            /// The words of answers, such as another language's. Default: those of the [`Counterfoil`].
            #[must_use]
            pub fn with_wording(mut self, wording: Wording) -> Self {
                self.0.wording_for_keys = Arc::new(wording.clone().for_keys());
                self.0.wording = Arc::new(wording);
                self
            }
        }

        impl fmt::Debug for $service {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($service)).field(&self.0).finish()
            }
        }

        impl<B: Send + 'static> Service<Request<B>> for $service {
            type Response = Response<Body>;
            type Error = Infallible;
            type Future = ResponseFuture<Infallible>;

            fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
                Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: Request<B>) -> Self::Future {
                let service = self.clone();
                // The body is not looked at.
                let (parts, _) = request.into_parts();
                ResponseFuture::new(async move {
                    let answer = match service.answer(&parts).await {
                        Ok(answer) | Err(answer) => answer,
                    };
                    Ok(service.0.rendering(&answer).$render(&answer))
                })
            }
        }
    };
}

by_operation!(StatusService, status);
by_operation!(CancelService, call_off);

impl Shared {
    /// How the operation of a fingerprint stands. Where the path names one too, they must be the same.
    async fn status_of(
        &self,
        subject: &Subject,
        fingerprint: &[u8],
        in_path: Option<OperationId>,
    ) -> Result<Answer, Answer> {
        let stands = self
            .counterfoil
            .status_by_fingerprint(subject, fingerprint)
            .await;
        match (in_path, stands.operation_id) {
            (Some(named), Some(of_credential)) if named != of_credential => {
                Err(Answer::new(Status::CredentialsDiffer))
            }
            _ => Ok(stands),
        }
    }
}

/// The operation of a key. Where the path names one too, they must be the same.
fn of_key(
    subject: &Subject,
    key: &IdempotencyKey,
    in_path: Option<OperationId>,
) -> Result<OperationId, Answer> {
    let of_key = key.operation_id(subject);
    if in_path.is_some_and(|named| named != of_key) {
        return Err(Answer::new(Status::CredentialsDiffer));
    }
    Ok(of_key)
}

impl StatusService {
    async fn answer(&self, parts: &Parts) -> Result<Answer, Answer> {
        let subject = self.0.reading.subject(parts)?;
        match Named::of(parts)? {
            Named::Id(id) => Ok(self.0.counterfoil.status_by_id(&subject, id).await),
            Named::Credential { fingerprint, id } => {
                self.0.status_of(&subject, &fingerprint, id).await
            }
            Named::Key { key, id } => {
                of_key(&subject, &key, id)?;
                Ok(self.0.counterfoil.status_by_key(&subject, &key).await)
            }
        }
    }
}

impl CancelService {
    async fn answer(&self, parts: &Parts) -> Result<Answer, Answer> {
        let subject = self.0.reading.subject(parts)?;
        let counterfoil = &self.0.counterfoil;
        match Named::of(parts)? {
            Named::Id(id) => Ok(counterfoil.cancel_by_id(&subject, id).await),
            Named::Key { key, id } => {
                let id = of_key(&subject, &key, id)?;
                Ok(counterfoil.cancel_by_id(&subject, id).await)
            }
            Named::Credential { fingerprint, id } => {
                if id.is_some() {
                    // The store is asked for no more than whose fingerprint it is: a mismatch must call off neither.
                    let stands = self.0.status_of(&subject, &fingerprint, id).await?;
                    if stands.operation_id.is_none() {
                        return Err(stands);
                    }
                }
                Ok(counterfoil
                    .cancel_by_fingerprint(&subject, &fingerprint)
                    .await)
            }
        }
    }
}
