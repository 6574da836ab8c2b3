//! The harness of the black-box tests: starts the built transfer gateway, speaks HTTP to it, and reads what it prints.
//!
//! Rules:
//!
//! - Every wait is bounded and names what it waited for.
//! - A gateway is ended by its own process id, and its log is searched for secrets when it ends, in every test.
//! - Nothing is skipped: a program that isn't built fails the test with the command that builds it.
//!
//! The tests know the project by its contract alone; no crate of ours is a dependency but the one that starts servers.

mod call;
mod caller;
mod gateway;
mod granted_ledger;
mod params;
mod previewed;
mod process;
mod raw;
mod raw_http2;
mod secrets;
mod store;
mod version;
mod wait;

pub use call::{Call, Cut, Reply};
pub use caller::Caller;
pub use gateway::{Gateway, Scratch};
pub use granted_ledger::GrantedLedger;
pub use params::{odd_pieces, transfer, with};
pub use previewed::Previewed;
pub use process::{Finished, Program};
pub use raw::Raw;
pub use raw_http2::{End, Field, Frame, RawHttp2, block};
pub use wait::until;
