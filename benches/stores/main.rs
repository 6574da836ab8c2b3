//! What do the stores cost, beside the least that their servers could cost?
//!
//! Starts Redis and Postgres of its own, measures floor and store in turns, and prints one table of ratios: the median
//! of the rounds, and their range. Only the ratios mean anything: servers and callers share the machine.
//!
//! ```text
//! cargo bench -p benches --bench stores                # everything, in some minutes
//! cargo bench -p benches --bench stores -- postgres    # redis, postgres, tiered or size
//! ```

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is what it is for"
)]

mod floor;
mod measure;
mod operations;
mod postgres;
mod redis;
mod size;
mod tiered;

use std::process::ExitCode;

use measure::Line;
use tokio::runtime::{Builder, Runtime};

const SECTIONS: [&str; 4] = ["redis", "postgres", "tiered", "size"];

fn main() -> ExitCode {
    // Cargo passes `--bench`.
    let chosen: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if let Some(unknown) = chosen.iter().find(|word| !SECTIONS.contains(&&***word)) {
        eprintln!("there is no section {unknown}; there are {SECTIONS:?}");
        return ExitCode::from(2);
    }
    let is_chosen = |section: &str| chosen.is_empty() || chosen.iter().any(|word| word == section);
    println!("| what | floor | ratio (range) | aim | met | store / floor, last round |");
    println!("| --- | --- | --- | --- | --- | --- |");
    if is_chosen("redis") {
        alone().block_on(redis::measure());
    }
    if is_chosen("postgres") {
        alone().block_on(postgres::one_caller());
        many().block_on(postgres::many_callers());
    }
    if is_chosen("tiered") {
        alone().block_on(tiered::measure());
    }
    if is_chosen("size") {
        many().block_on(size::measure());
    }
    ExitCode::SUCCESS
}

/// For a lone caller, one thread: whether a reply wakes the caller's own thread or another one would else decide more than
/// what is measured.
fn alone() -> Runtime {
    let built = Builder::new_current_thread().enable_all().build();
    built.expect("a runtime")
}

/// For many callers, a thread per core, as in a service.
fn many() -> Runtime {
    let built = Builder::new_multi_thread().enable_all().build();
    built.expect("a runtime")
}

fn print(line: &Line) {
    println!("{line}");
}
