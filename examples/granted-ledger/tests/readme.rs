//! The README knows every option of `--help`.

use std::process::Command;

const README: &str = include_str!("../README.md");

#[test]
fn it_knows_every_option_of_the_help() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_granted-ledger"));
    let help = program.arg("--help").output().expect("it starts");
    let help = String::from_utf8(help.stdout).expect("text");
    let mut options: Vec<_> = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .collect();
    options.retain(|option| *option != "--help");
    assert_eq!(options.len(), 2, "{help}");
    for option in options {
        assert!(README.contains(option), "{option}");
    }
}
