//! The program itself: its options, its start and its end, what a crash leaves behind, its languages and its demo.

mod crash;
mod end;
mod end_of_streams;
mod options;
mod start;
mod words;

use serde_json::Value;
use tests::{Finished, Program, Scratch};

const KEYS: &str = "k1=1111111111111111111111111111111111111111111111111111111111111111";

fn run(arguments: &[&str]) -> Finished {
    Program::gateway(arguments).finish()
}

/// The ids in the ledger's file, one for each line.
fn operations_in(ledger: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(ledger.path()).unwrap_or_default();
    let effects = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"));
    effects
        .map(|effect: Value| effect["operation_id"].as_str().expect("an id").to_owned())
        .collect()
}
