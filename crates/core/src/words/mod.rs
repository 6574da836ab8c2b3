//! The words that the whole project speaks: ids, names and instants, parsed once at the edge.
//!
//! Nothing behind the edge validates again. `Debug` of these types shows what an operator may see.

mod credential_parts;
mod operation_id;
mod scope;
mod step;
mod subject;
mod timestamp;

pub use credential_parts::{Epoch, InvalidKeyId, KeyId, Owner, ParamHash};
pub use operation_id::{InvalidOperationId, OperationId};
pub use scope::{InvalidScope, Scope};
pub use step::{InvalidStep, Step};
pub(crate) use subject::is_unreserved;
pub use subject::{InvalidSubject, Subject};
pub use timestamp::{Clock, SystemClock, Timestamp};
