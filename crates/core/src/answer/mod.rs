//! What a caller is told: whether the operation ran, whether calling again changes anything, and the one next step.

mod defaults;
mod executed;
mod status;
mod told;

pub use defaults::{POLL_RUNNING, POLL_SLOW, SEND_AGAIN};
pub use executed::{Executed, OperationState, ThisCall, executed_of};
pub use status::Status;
pub use told::Answer;
/// TEMP
#[derive(Debug, Clone)]
pub struct Wording;
impl Wording {
    /// TEMP
    pub fn english() -> Self {
        Self
    }
}
