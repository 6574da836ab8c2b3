//! A gate without its params type, so that a layer needs no type parameter.

use async_trait::async_trait;
use bytes::Bytes;
use counterfoil_core::{
    Subject,
    answer::{Answer, Status},
    engine::Gate,
};
use http::{HeaderMap, request::Parts};

use crate::{
    headers,
    http_answer::Refusal,
    request::{Reading, json_of},
    run::{Credential, Ready, Run},
};

/// A gate, erased.
#[async_trait]
pub(crate) trait Guarded: Send + Sync {
    /// What can be said of the head alone, before the body is waited for.
    fn look(&self, _: &Parts) -> Result<(), Refusal> {
        Ok(())
    }

    /// All checks that come before the claim, in their order. The store is asked by none of them.
    async fn prepare(
        &self,
        reading: &Reading,
        parts: &mut Parts,
        subject: Subject,
        body: &Bytes,
    ) -> Result<Run, Refusal>;

    /// The scope's name, for `Debug`.
    fn scope(&self) -> &str;
}

#[async_trait]
impl<P: Send + Sync + 'static> Guarded for Gate<P> {
    async fn prepare(
        &self,
        reading: &Reading,
        parts: &mut Parts,
        subject: Subject,
        body: &Bytes,
    ) -> Result<Run, Refusal> {
        let mut incoming = self.incoming(json_of(body))?;
        let in_body = incoming.take_fingerprint()?;
        // Signed in the fingerprint where it counts; sent along again it is no param.
        incoming.take_repeat_of()?;
        let fingerprint = credential(&parts.headers, in_body.as_deref())?;
        let opened = self.open(&subject, &fingerprint)?;
        reading.join(parts, &mut incoming).await?;
        let params = self.bind_incoming(incoming)?;
        let credential = Credential::Fingerprint { subject, opened };
        Ok(Ready::new(self.clone(), credential, params)?.erased())
    }

    fn scope(&self) -> &str {
        Self::scope(self).as_str()
    }
}

/// The one credential of a request: from the header, or from the body.
fn credential(headers: &HeaderMap, in_body: Option<&str>) -> Result<Vec<u8>, Answer> {
    let mut in_headers = headers.get_all(headers::FINGERPRINT).iter();
    let in_header = in_headers.next().map(http::HeaderValue::as_bytes);
    if in_headers.next().is_some() {
        return Err(Answer::new(Status::CredentialsDiffer));
    }
    match (in_header, in_body.map(str::as_bytes)) {
        (Some(one), Some(other)) if one != other => Err(Answer::new(Status::CredentialsDiffer)),
        (Some(one), _) | (None, Some(one)) => Ok(one.to_vec()),
        (None, None) => Err(Answer::new(Status::FingerprintRequired)),
    }
}
