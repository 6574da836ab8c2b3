//! Claims and completions that share statements: with many callers, with rows that others hold, with a server that dies.

mod common;

#[path = "batch/faults.rs"]
mod faults;
#[path = "batch/held.rs"]
mod held;
#[path = "batch/mixed.rs"]
mod mixed;
#[path = "batch/racing.rs"]
mod racing;
