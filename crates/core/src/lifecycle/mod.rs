//! The life of an operation, as one pure function: a state and an event give a state or a refusal.
//!
//! [`step`] does no I/O and knows no store. A store reads what stands, calls it (or says the same in Lua or SQL), and
//! writes what it returns, all in one atomic step. The passing of time enters through [`Life::at`]: a lapsed lease
//! reads as UNKNOWN, and nothing that merely passes ever makes an operation free to run.
//!
//! ```
//! use std::time::Duration;
//! use counterfoil_core::{
//!     Epoch, Owner, Timestamp,
//!     lifecycle::{Claim, Ending, Event, State, step},
//! };
//!
//! let now = Timestamp::from_unix_secs(1_000);
//! let me = Owner::mint();
//! let claimed = step(None, &Event::Claim(Claim::new(me, Duration::from_secs(30))), now)?;
//! assert_eq!((claimed.state, claimed.epoch), (State::InFlight, Epoch::FIRST));
//!
//! // Nobody renewed: the lease lapses, and the outcome is unknown. It is not free to run.
//! let late = now + Duration::from_secs(31);
//! assert_eq!(claimed.at(late).state, State::Unknown);
//! assert!(step(Some(&claimed), &Event::Claim(Claim::new(Owner::mint(), Duration::from_secs(30))), late).is_err());
//!
//! // Its owner may still say what happened.
//! let done = Event::Complete { owner: me, epoch: Epoch::FIRST, ending: Ending::Done };
//! assert_eq!(step(Some(&claimed), &done, late)?.state, State::Done);
//! # Ok::<(), counterfoil_core::lifecycle::Refusal>(())
//! ```

mod event;
mod state;
mod transition;

#[cfg(test)]
mod tests;

pub use event::{Claim, Ending, Event, Refusal, Seen, Verdict};
pub use state::{Life, State};
pub use transition::step;
