//! The table of commands, who answers to which name, and the help.
//!
//! A new command is a module with a `COMMAND`, and one row in [`COMMANDS`].

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::{servers, test};

/// Every command, in the order of the help.
const COMMANDS: &[Command] = &[test::COMMAND, servers::COMMAND];

/// One command of `cargo xtask`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    /// What is typed after `cargo xtask`.
    pub(crate) name: &'static str,
    /// One line for the list of commands.
    pub(crate) summary: &'static str,
    /// The text of `--help`, without a newline at its end.
    pub(crate) help: fn() -> String,
    /// Runs it with the arguments that follow its name. `--help` never gets here.
    pub(crate) run: fn(&[String]) -> Result<ExitCode, Misuse>,
}

/// A call that can't be understood: what is wrong with it, and the help that would have helped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misuse {
    pub(crate) message: String,
    pub(crate) help: String,
}

/// What a list of arguments asks for.
#[derive(Debug)]
enum Asked {
    /// A text for standard output.
    Help(String),
    /// A command, whose arguments start at the index.
    Run(&'static Command, usize),
}

/// Carries out what the arguments (without the program's own name) ask for.
pub(crate) fn dispatch(arguments: &[String]) -> Result<ExitCode, Misuse> {
    match understand(arguments)? {
        Asked::Help(text) => {
            println!("{text}");
            Ok(ExitCode::SUCCESS)
        }
        Asked::Run(command, first) => (command.run)(&arguments[first..]),
    }
}

fn understand(arguments: &[String]) -> Result<Asked, Misuse> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] | ["help" | "--help" | "-h"] => Ok(Asked::Help(help())),
        ["help", name] => Ok(Asked::Help((find(name)?.help)())),
        [name, ref rest @ ..] => {
            let command = find(name)?;
            // What follows two dashes is for another program, and so is its help.
            let mut ours = rest.iter().take_while(|word| **word != "--");
            if ours.any(|word| matches!(*word, "--help" | "-h")) {
                return Ok(Asked::Help((command.help)()));
            }
            Ok(Asked::Run(command, 1))
        }
    }
}

fn find(name: &str) -> Result<&'static Command, Misuse> {
    COMMANDS
        .iter()
        .find(|command| command.name == name)
        .ok_or_else(|| Misuse {
            message: format!("there is no command `{name}`"),
            help: help(),
        })
}

fn help() -> String {
    let mut text = String::from(
        "The project's own commands.\n\nUsage: cargo xtask COMMAND [OPTIONS]\n\nCommands:\n",
    );
    for command in COMMANDS {
        let _ = writeln!(text, "  {:<10} {}", command.name, command.summary);
    }
    text.push_str("\ncargo xtask COMMAND --help says more about one of them.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<Asked, Misuse> {
        understand(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn no_arguments_ask_for_the_help() {
        for words in [&[][..], &["help"], &["--help"], &["-h"]] {
            let Ok(Asked::Help(text)) = asked(words) else {
                panic!("{words:?} is not answered with the help");
            };
            assert!(text.contains("Usage: cargo xtask COMMAND"), "{text}");
        }
    }

    #[test]
    fn the_help_names_every_command() {
        for command in COMMANDS {
            assert!(help().contains(&format!("  {} ", command.name)));
        }
    }

    #[test]
    fn a_command_is_asked_for_its_own_help_in_three_ways() {
        for words in [
            &["help", "test"][..],
            &["test", "--help"],
            &["test", "--only", "x", "-h"],
        ] {
            let Ok(Asked::Help(text)) = asked(words) else {
                panic!("{words:?} is not answered with the command's help");
            };
            assert!(text.contains("Usage: cargo xtask test"), "{text}");
        }
    }

    #[test]
    fn help_asked_of_another_program_is_left_to_it() {
        let asked = asked(&["servers", "--", "redis-cli", "-h"]);
        assert!(matches!(asked, Ok(Asked::Run(..))));
    }

    #[test]
    fn an_unknown_command_is_named_and_answered_with_the_help() {
        for words in [&["tests"][..], &["help", "tests"]] {
            let misuse = asked(words).expect_err("no such command");
            assert_eq!(misuse.message, "there is no command `tests`");
            assert_eq!(misuse.help, help());
        }
    }

    #[test]
    fn a_command_gets_the_arguments_after_its_name() {
        assert!(matches!(
            asked(&["test", "--list"]),
            Ok(Asked::Run(command, 1)) if command.name == "test"
        ));
    }
}
