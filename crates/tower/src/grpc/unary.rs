//! The helper inside a method: decoded messages in, decoded messages out.

use std::{future::Future, sync::Arc};

use counterfoil_core::{
    Subject,
    answer::{Answer, Status},
    engine::{Attempt, Params, Preview},
};
use http::{HeaderMap, HeaderValue};
use prost::Message;
use tonic::{Request, Response, metadata::MetadataMap};

use super::{GrpcGate, answer_status, deliver, meaning, reply::Reply};
use crate::{
    headers,
    run::{Left, Told},
};

impl<M, P: Params> GrpcGate<M, P> {
    /// The fingerprint for a message: what a service's preview method puts into its own reply.
    ///
    /// The subject is the [`Subject`] in the request's extensions, put there by an interceptor that authenticates.
    ///
    /// # Errors
    ///
    /// The status of an answer: `unauthenticated`, `params_invalid`, or what the gate's check says.
    pub async fn preview(&self, request: Request<M>) -> Result<Preview, tonic::Status> {
        self.previewed(request)
            .await
            .map_err(|answer| answer_status(&answer, self.wording()))
    }

    async fn previewed(&self, request: Request<M>) -> Result<Preview, Answer> {
        let (_, extensions, message) = request.into_parts();
        let subject = subject(extensions.get())?;
        let params = self.bind(message)?;
        self.gate().preview(&subject, &params).await
    }

    /// Runs `handler` if the operation is this call's to run; else replies with what stands: the first reply, or an answer.
    ///
    /// The handler returns what a method returns. `Ok` is done. An `Err` says nothing of whether it happened, so the handler
    /// says that through [`Attempt::declare`]; without a word the outcome is unknown, and its caller is told so in place of
    /// the `Err`. The first reply comes with the metadata `counterfoil-status: completed`, a replay with
    /// `already_completed` and `idempotent-replayed: true`.
    ///
    /// The message came here decoded: what it held that `M` doesn't know is gone, and is not bound. A
    /// [`GrpcLayer`](super::GrpcLayer) sees that, and refuses it.
    ///
    /// Cancellation: dropping this future changes nothing. The handler runs to its end and its reply is kept.
    ///
    /// # Errors
    ///
    /// The handler's own status, its replay, or the status of an answer ([`answer_status`]).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use counterfoil_core::engine::{Attempt, Disposition};
    /// use counterfoil_tower::grpc::GrpcGate;
    /// use tonic::{Request, Response, Status};
    ///
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Payout { payee: String }
    /// # struct Service { create: GrpcGate<String, Payout> }
    /// impl Service {
    ///     async fn create(&self, request: Request<String>) -> Result<Response<String>, Status> {
    ///         self.create.confirm(request, pay).await
    ///     }
    /// }
    ///
    /// async fn pay(attempt: Attempt, payout: Arc<Payout>) -> Result<Response<String>, Status> {
    ///     let Ok(key) = attempt.downstream_key() else {
    ///         attempt.declare(Disposition::NotExecuted);
    ///         return Err(Status::unavailable("the lease is lost"));
    ///     };
    ///     // Here the money moves, and `key` goes along.
    ///     Ok(Response::new(format!("paid {} as {key}", payout.payee)))
    /// }
    /// ```
    pub async fn confirm<R, F, Fut>(
        &self,
        request: Request<M>,
        handler: F,
    ) -> Result<Response<R>, tonic::Status>
    where
        R: Message + Default + 'static,
        F: FnOnce(Attempt, Arc<P>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Response<R>, tonic::Status>> + Send + 'static,
    {
        let (metadata, extensions, message) = request.into_parts();
        let ready = subject(extensions.get()).and_then(|subject| {
            let credential = self.credential(subject, metadata.as_ref(), &extensions)?;
            let params = self.bind(message)?;
            self.ready(credential, params)
        });
        let ready = match ready {
            Ok(ready) => ready,
            Err(answer) => return Err(answer_status(&answer, self.wording())),
        };
        let own = Left::default();
        let (left, failures, limits) = (own.clone(), self.failures(), self.limits());
        let run = ready.run(move |attempt, params| async move {
            let returned = handler(attempt.clone(), params).await;
            let reply = Reply::of(&returned);
            let code = match &returned {
                Ok(_) => tonic::Code::Ok,
                Err(status) => status.code(),
            };
            // A reply that can't be sent has no final status either.
            let code = reply.is_some().then_some(code);
            let outcome = meaning::outcome(code, &attempt, failures, || {
                Some(reply?.within(limits.bytes)?.encode())
            });
            left.put(returned);
            outcome
        });
        let told = run.await;
        self.reply(&told, own.take())
    }

    fn reply<R: Message + Default>(
        &self,
        told: &Told,
        own: Option<Result<Response<R>, tonic::Status>>,
    ) -> Result<Response<R>, tonic::Status> {
        let answer = &told.answer;
        let mut metadata = HeaderMap::new();
        headers::tell(&mut metadata, answer);
        let returned = match own.filter(|_| deliver::own_stands(told)) {
            Some(own) => own,
            None => {
                let first = answer.result.as_ref().and_then(Reply::decode);
                let Some(first) = first.and_then(|reply| reply.returned()) else {
                    return Err(answer_status(answer, self.wording()));
                };
                metadata.insert(headers::REPLAYED, HeaderValue::from_static("true"));
                first
            }
        };
        match returned {
            Ok(mut response) => {
                add(response.metadata_mut(), metadata);
                Ok(response)
            }
            Err(mut status) => {
                add(status.metadata_mut(), metadata);
                Err(status)
            }
        }
    }
}

/// There is no anonymous subject.
fn subject(found: Option<&Subject>) -> Result<Subject, Answer> {
    found
        .cloned()
        .ok_or_else(|| Answer::new(Status::Unauthenticated))
}

/// Ours win: what stands is not a handler's to forge.
fn add(to: &mut MetadataMap, told: HeaderMap) {
    let mut all = std::mem::take(to).into_headers();
    deliver::forget(&mut all);
    all.extend(told);
    *to = MetadataMap::from_headers(all);
}
