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

mod measure;
mod operations;
mod postgres;
mod redis;
mod size;
mod tiered;

use std::process::ExitCode;

use measure::Line;

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
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        println!("| what | floor | ratio (range) | aim | met | store / floor, last round |");
        println!("| --- | --- | --- | --- | --- | --- |");
        if is_chosen("redis") {
            redis::measure().await;
        }
        if is_chosen("postgres") {
            postgres::measure().await;
        }
        if is_chosen("tiered") {
            tiered::measure().await;
        }
        if is_chosen("size") {
            size::measure().await;
        }
    });
    ExitCode::SUCCESS
}

fn print(line: &Line) {
    println!("{line}");
}
