//! What a key is sent with.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{
    OperationId, ParamHash, Scope, Subject, Timestamp,
    params::{hash_count, hash_part},
};

const DOMAIN: &[u8] = b"counterfoil/keyed-request/v1";

/// An operation that a key names, and the request that the key came with.
///
/// It is made by [`Gate::keyed`](crate::engine::Gate::keyed), or without a key by
/// [`Gate::unkeyed`](crate::engine::Gate::unkeyed).
pub struct Keyed {
    pub(crate) subject: Subject,
    pub(crate) id: OperationId,
    pub(crate) exp: Option<Timestamp>,
    /// The key's time is ahead of this process's clock: it claims nothing, and is told what stands.
    pub(crate) too_early: bool,
    request: Vec<Box<[u8]>>,
}

impl Keyed {
    pub(crate) const fn new(subject: Subject, id: OperationId, exp: Option<Timestamp>) -> Self {
        Self {
            subject,
            id,
            exp,
            too_early: false,
            request: Vec::new(),
        }
    }

    pub(crate) const fn too_early(mut self) -> Self {
        self.too_early = true;
        self
    }

    /// Binds the request line: the method, the path and the query as they were sent. The same key on another resource is
    /// another request, and no spelling is merged with another.
    #[must_use]
    pub fn with_request(mut self, method: &str, path: &str, query: Option<&str>) -> Self {
        self.request = [Some(method), Some(path), query]
            .into_iter()
            .flatten()
            .map(|part| part.as_bytes().into())
            .collect();
        self
    }

    /// The operation.
    #[must_use]
    pub const fn operation_id(&self) -> OperationId {
        self.id
    }

    /// What the record keeps, and each later request under this key is compared with: scope, params and request line.
    pub(crate) fn hash(&self, scope: &Scope, params: &ParamHash) -> ParamHash {
        let mut hasher = Sha256::new();
        hash_part(&mut hasher, DOMAIN);
        hash_part(&mut hasher, scope.as_str().as_bytes());
        hash_part(&mut hasher, params.as_bytes());
        hash_count(&mut hasher, self.request.len());
        for part in &self.request {
            hash_part(&mut hasher, part);
        }
        ParamHash::from_bytes(hasher.finalize().into())
    }
}

/// Shows the operation, neither the key nor the request.
impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed")
            .field("id", &self.id)
            .field("exp", &self.exp)
            .finish_non_exhaustive()
    }
}
