//! The README tells what `--help` tells.

use std::{collections::BTreeSet, process::Command};

const README: &str = include_str!("../README.md");

/// The long options that a text names.
fn options(text: &str) -> BTreeSet<&str> {
    let named = text.split("--").skip(1);
    named
        .map(|after| {
            let end = after.find(|c: char| !c.is_ascii_lowercase() && c != '-');
            &after[..end.unwrap_or(after.len())]
        })
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect()
}

#[test]
fn its_options_are_those_of_the_help() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_transfer-gateway"));
    let help = program.arg("--help").output().expect("it starts");
    let help = String::from_utf8(help.stdout).expect("text");
    let (_, after) = README.split_once("\n## Options\n").expect("a section");
    let (section, _) = after.split_once("\n## ").expect("one after it");
    let of_help = options(&help);
    assert!(of_help.contains("accept-lost-writes"), "{help}");
    assert_eq!(of_help, options(section));
}
