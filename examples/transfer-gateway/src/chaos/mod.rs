//! Faults on request: with `--chaos`, the header `X-Chaos` makes a call misbehave, so that a test can place a fault.
//!
//! | value | what happens |
//! | --- | --- |
//! | `delay=MS`, `delay-after=MS` | the handler waits before its effect (and before it takes the downstream key), or after |
//! | `status=CODE` | the effect, then this status, with no word about it |
//! | `refuse=CODE`, `fail=CODE` | no effect, this status, marked `not_executed` or `failed` |
//! | `accept` | 202, and the effect two seconds later with its receipt |
//! | `panic-before`, `panic-after` | a panic before or after the effect |
//! | `exit-before-claim`, `exit-after-claim`, `exit-after-effect`, `exit-after-complete` | the process is killed there |
//! | `drop-response` | the connection is cut before the answer |
//! | `big=BYTES` | a body of that size, or the usual one if that is larger |
//! | `stream=N`, `break=N` | a body of N chunks of 4 KiB, flushed one by one; one that breaks off after N chunks |
//!
//! Several are joined by `;`. Two that contradict each other are refused.

mod body;
mod middleware;
mod parse;

use std::time::Duration;

use http::StatusCode;

pub(crate) use body::shaped;
pub(crate) use middleware::{CutConnection, misbehave};

/// The request header that asks for faults.
pub(crate) const HEADER: &str = "x-chaos";

/// The faults that one call asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Chaos {
    pub(crate) delay: Duration,
    pub(crate) delay_after: Duration,
    pub(crate) says: Option<Says>,
    pub(crate) body: Option<Shape>,
    crash: Option<Crash>,
    drop_response: bool,
}

/// What the handler says in place of the truth, or of the usual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    /// After the effect, this status and no word.
    Status(StatusCode),
    /// Without the effect, this status and the word that this attempt did nothing.
    Refuse(StatusCode),
    /// Without the effect, this status and the word that it failed for good.
    Fail(StatusCode),
    /// 202; the effect comes later.
    Accept,
}

/// The shape of a success's body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Big(usize),
    Stream(usize),
    Break(usize),
}

/// Where a call crashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Crash {
    PanicBefore,
    PanicAfter,
    ExitBeforeClaim,
    ExitAfterClaim,
    ExitAfterEffect,
    ExitAfterComplete,
}

/// A place that a call comes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    BeforeClaim,
    AfterClaim,
    BeforeEffect,
    AfterEffect,
    AfterComplete,
}

/// What a panic on request says. The demo keeps it off the screen.
pub(crate) const PANIC: &str = "a panic on request of X-Chaos";

impl Chaos {
    /// Crashes here, if that was asked for.
    pub(crate) fn at(&self, place: Place) {
        match (self.crash, place) {
            (Some(Crash::PanicBefore), Place::BeforeEffect)
            | (Some(Crash::PanicAfter), Place::AfterEffect) => std::panic::panic_any(PANIC),
            (Some(Crash::ExitBeforeClaim), Place::BeforeClaim)
            | (Some(Crash::ExitAfterClaim), Place::AfterClaim)
            | (Some(Crash::ExitAfterEffect), Place::AfterEffect)
            | (Some(Crash::ExitAfterComplete), Place::AfterComplete) => exit_as_killed(),
            _ => {}
        }
    }
}

/// Ends the process at once: no destructor, no flush, as `kill -9` would.
fn exit_as_killed() -> ! {
    let me = rustix::process::getpid();
    let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    // The signal may take a moment, and nothing may happen in it.
    loop {
        std::thread::park();
    }
}
