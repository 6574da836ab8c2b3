//! `cargo xtask`: the project's own commands.
//!
//! Purpose: one way to do what the project asks of a contributor and of its continuous integration, on a machine that
//! has nothing but Rust. `cargo xtask` alone says what there is.
//!
//! The way through the files: [`command`] (the table of commands, and the help), one module per command ([`mod@test`],
//! [`servers`]), and what commands share: [`needs`] (tools, and how they are installed), [`run`] (child processes with a bound),
//! [`workspace`] (what cargo says of this workspace), [`texts`] (checks of the tree's files).
//!
//! Caveat: it needs a Unix, because it ends the whole process group of a step that hangs.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program talks on its standard streams"
)]

#[cfg(not(unix))]
compile_error!("cargo xtask needs a Unix (Linux, macOS, or WSL)");

mod command;
mod needs;
mod run;
mod servers;
mod test;
mod texts;
mod workspace;

use std::process::ExitCode;

/// What a wrong call of the program exits with, as is the custom.
const EXIT_MISUSE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    command::dispatch(&arguments).unwrap_or_else(|misuse| {
        eprintln!("error: {}\n\n{}", misuse.message, misuse.help);
        ExitCode::from(EXIT_MISUSE)
    })
}
