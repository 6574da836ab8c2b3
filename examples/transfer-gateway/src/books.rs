//! Where effects go: the ledger of this process, or, for transfers, a ledger that is a service of its own.

use counterfoil::{OperationId, engine::DownstreamKey};

use crate::{
    granted_ledger::{GrantedLedger, ReadError, SendError},
    ledger::{AppendError, Deed, Effect, Ledger},
};

/// The ledgers. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    here: Ledger,
    /// Then transfers go there.
    there: Option<GrantedLedger>,
}

/// Why an effect is not in a ledger, or may not be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(transparent)]
    Here(#[from] AppendError),
    #[error(transparent)]
    There(#[from] SendError),
}

impl WriteError {
    /// Whether the effect is surely not there by this attempt.
    pub(crate) const fn nothing_happened(&self) -> bool {
        match self {
            Self::Here(error) => error.nothing_happened(),
            Self::There(error) => error.nothing_happened(),
        }
    }
}

impl Books {
    /// With transfers in a ledger of their own.
    pub(crate) fn with_granted(self, there: GrantedLedger) -> Self {
        Self {
            there: Some(there),
            ..self
        }
    }

    /// The ledger of this process.
    pub(crate) const fn here(&self) -> &Ledger {
        &self.here
    }

    /// Whether such deeds go to another process.
    pub(crate) const fn goes_elsewhere(&self, deed: &Deed) -> bool {
        self.there.is_some() && matches!(deed, Deed::Transfer(_))
    }

    /// Writes an effect. In a file, or elsewhere, it is on disk when this returns.
    ///
    /// Cancellation: once begun the write may go on.
    pub(crate) async fn append(
        &self,
        key: &DownstreamKey,
        effect: Effect,
    ) -> Result<(), WriteError> {
        match &self.there {
            Some(there) if self.goes_elsewhere(&effect.deed) => {
                Ok(there.append(key, &effect).await?)
            }
            _ => Ok(self.here.append(effect).await?),
        }
    }

    /// The effects of a tenant, or of one of its operations, each ledger's in the order in which they came.
    pub(crate) async fn effects(
        &self,
        tenant: &str,
        of: Option<OperationId>,
    ) -> Result<Vec<Effect>, ReadError> {
        let mut effects = self.here.effects(tenant, of).await;
        if let Some(there) = &self.there {
            effects.extend(there.effects(tenant, of).await?);
        }
        Ok(effects)
    }
}

impl From<Ledger> for Books {
    fn from(here: Ledger) -> Self {
        Self { here, there: None }
    }
}
