//! Events that a security team wants to see: something in Redis that nobody with the keys has vouched for.

use counterfoil_core::{OperationId, engine::SECURITY_TARGET};
use tracing::warn;

/// A cached copy that is not what was put there for this operation. It counts as a miss.
pub(crate) fn corrupt_copy(id: OperationId) {
    warn!(
        target: SECURITY_TARGET,
        event = "corrupt_copy",
        operation_id = %id,
        "a cached record is not what was put there"
    );
}

/// A record that can't be read, met on a walk over all of them.
pub(crate) fn corrupt_record(id: OperationId) {
    warn!(
        target: SECURITY_TARGET,
        event = "corrupt_record",
        operation_id = %id,
        "a record can't be read, or nobody with the keys has vouched for it"
    );
}
