//! Which operation a request speaks of.

use counterfoil_core::{
    OperationId,
    answer::{Answer, Status},
    idempotency::IdempotencyKey,
};
use http::request::Parts;

use crate::{headers, keyed};

/// How a request names an operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// By its id, in the path.
    Id(OperationId),
    /// By its credential, in the header; the path may name it too.
    Credential {
        fingerprint: Vec<u8>,
        id: Option<OperationId>,
    },
    /// By its idempotency key, in the header; the path may name it too.
    Key {
        key: IdempotencyKey,
        id: Option<OperationId>,
    },
}

impl Named {
    /// # Errors
    ///
    /// `not_found` if none names one, `credentials_differ` for two fingerprints, or a fingerprint and a key, `key_invalid`.
    pub(super) fn of(parts: &Parts) -> Result<Self, Answer> {
        let mut fingerprints = parts.headers.get_all(headers::FINGERPRINT).iter();
        let id = id_in(parts.uri.path());
        let key = keyed::in_header(&parts.headers)?;
        match (fingerprints.next(), fingerprints.next()) {
            (None, _) => match (key, id) {
                (Some(key), id) => Ok(Self::Key { key, id }),
                (None, Some(id)) => Ok(Self::Id(id)),
                (None, None) => Err(Answer::new(Status::NotFound)),
            },
            (Some(_), _) if key.is_some() => Err(Answer::new(Status::CredentialsDiffer)),
            (Some(one), None) => Ok(Self::Credential {
                fingerprint: one.as_bytes().to_vec(),
                id,
            }),
            (Some(_), Some(_)) => Err(Answer::new(Status::CredentialsDiffer)),
        }
    }
}

/// The id in the last segment, or in the one before `cancel`. An id has no character that a path escapes.
fn id_in(path: &str) -> Option<OperationId> {
    let path = path.strip_suffix("/cancel").unwrap_or(path);
    path.rsplit('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    const ID: &str = "0190a0b0-0000-7000-8000-000000000000";

    fn named(path: &str, fingerprints: &[&str]) -> Result<Named, Status> {
        let mut request = Request::get(path);
        for fingerprint in fingerprints {
            request = request.header(headers::FINGERPRINT, *fingerprint);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Named::of(&parts).map_err(|answer| answer.status)
    }

    #[test]
    fn the_last_segment_is_the_id() {
        let id = ID.parse().unwrap();
        for path in [
            format!("/v1/operations/{ID}"),
            format!("/{ID}"),
            format!("/v1/operations/{ID}/cancel"),
            format!("/v1/operations/{}", ID.replace('-', "")),
        ] {
            assert_eq!(named(&path, &[]), Ok(Named::Id(id)), "{path}");
        }
    }

    #[test]
    fn what_is_no_id_is_not_found() {
        for path in ["/", "/v1/operations", "/v1/operations/7", "/cancel"] {
            assert_eq!(named(path, &[]), Err(Status::NotFound), "{path}");
        }
    }

    #[test]
    fn a_fingerprint_comes_first_and_only_once() {
        let by_credential = named("/v1/operation", &["fp1.x"]);
        let fingerprint = b"fp1.x".to_vec();
        assert_eq!(
            by_credential,
            Ok(Named::Credential {
                fingerprint,
                id: None
            })
        );
        assert_eq!(named("/", &["a", "a"]), Err(Status::CredentialsDiffer));
    }
}
