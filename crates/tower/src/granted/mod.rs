//! For services downstream: a layer that lets only writes in that came through a gate.

mod check;
mod layer;
mod refusal;
mod service;

pub use layer::GrantLayer;
pub use service::GrantChecked;

use counterfoil_core::{Epoch, OperationId, Step, grant::GrantTerms};

/// What a good grant says of the write that it came with. A [`GrantLayer`] puts it into the request's extensions.
#[derive(Clone, Debug)]
pub struct Granted {
    terms: GrantTerms,
}

impl Granted {
    pub(crate) const fn new(terms: GrantTerms) -> Self {
        Self { terms }
    }

    /// The operation.
    #[must_use]
    pub const fn operation_id(&self) -> OperationId {
        self.terms.operation_id()
    }

    /// The fencing number of the attempt. The handler compares it, in the transaction of its write, with the highest that
    /// it has seen of the operation.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.terms.epoch()
    }

    /// Which of the operation's writes it is, if it has several.
    #[must_use]
    pub const fn step(&self) -> Option<&Step> {
        self.terms.step()
    }

    /// The key of this write. The handler is unique by it: a copy of a grant is a good grant until its time is over, and
    /// meets what the first one wrote.
    #[must_use]
    pub fn downstream_key(&self) -> OperationId {
        self.terms.downstream_key()
    }

    /// All that was granted.
    #[must_use]
    pub const fn terms(&self) -> &GrantTerms {
        &self.terms
    }
}
