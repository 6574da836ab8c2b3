//! Transfers that a person has to agree to. This version can't ask, so its gate refuses them: nothing is signed for one,
//! and nothing claimed.

use counterfoil::answer::{Answer, Status};

use super::Transfer;

/// Answers 501 to params that need a person: approvals come with a later version.
pub(crate) fn refuse_what_needs_one(transfer: &Transfer) -> Result<(), Answer> {
    if transfer.amount.needs_approval() {
        Err(Answer::new(Status::NotImplemented).with_field("/amount"))
    } else {
        Ok(())
    }
}
