//! `cargo xtask test`: makes sure of the tools, then runs every step in order.
//!
//! Rules: the first step that fails ends the run, and a step whose part of the project is missing fails. Exit codes: 0
//! for success, 1 for a failure, 2 for a wrong call, 128 and the signal's number when it was told to stop.

mod options;
mod report;
mod step;
mod steps;
mod venv;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use crate::command::{Command, Misuse};
use crate::needs;
use crate::run::{Bound, Failure, Runner};
use crate::workspace::Workspace;

use options::Options;
use report::{Ending, Report};
use step::{Context, Step};
use steps::STEPS;

/// The row for the table of commands.
pub(crate) const COMMAND: Command = Command {
    name: "test",
    summary: "Runs all checks and tests; installs the tools that they need and that are missing",
    help,
    run,
};

fn run(arguments: &[String]) -> Result<ExitCode, Misuse> {
    let options = Options::parse(arguments, STEPS).map_err(|message| Misuse {
        message,
        help: help(),
    })?;
    Ok(match options {
        Options::List => {
            print!("{}", list());
            ExitCode::SUCCESS
        }
        Options::Run(chosen) => carry_out(&chosen),
    })
}

fn carry_out(chosen: &[&Step]) -> ExitCode {
    let mut report = Report::default();
    let prepared = prepare(chosen);
    let outcome = match &prepared {
        Ok(context) => run_all(chosen, context, &mut report),
        Err(failure) => {
            eprintln!("\nfailed before the first step: {failure}");
            return failure.exit_code();
        }
    };
    print!("{}", report.text(chosen));
    match outcome {
        Err(failure) => failure.exit_code(),
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// Asks cargo about the workspace, and makes sure of the tools of those steps that will run.
fn prepare(chosen: &[&Step]) -> Result<Context, Failure> {
    let runner = Runner::new()?;
    let workspace = Workspace::load(&runner)?;
    let mut needs = Vec::new();
    for step in chosen
        .iter()
        .filter(|step| step.missing(&workspace).is_none())
    {
        for need in step.needs {
            if !needs.contains(need) {
                needs.push(*need);
            }
        }
    }
    if !needs.is_empty() {
        println!("== tools ==");
        needs::ensure(&needs, &runner)?;
    }
    Ok(Context::new(runner, workspace))
}

fn run_all(chosen: &[&Step], context: &Context, report: &mut Report) -> Result<(), Failure> {
    for step in chosen {
        println!("\n== {}: {} ==", step.name, step.about);
        let started = Instant::now();
        let outcome = match step.missing(&context.workspace) {
            None => (step.run)(context, Bound::of(step.bound)),
            Some(what) => Err(Failure::Found(format!("{what} is missing"))),
        };
        match outcome {
            Ok(()) => report.add(step.name, started.elapsed(), Ending::Passed),
            Err(Failure::LeftOut(why)) => {
                report.add(step.name, started.elapsed(), Ending::LeftOut);
                println!("left out: {}: {why}", step.name);
            }
            Err(failure) => {
                report.add(step.name, started.elapsed(), Ending::Failed);
                eprintln!("\nfailed: {}: {failure}", step.name);
                eprintln!("this step alone: cargo xtask test --only {}", step.name);
                return Err(failure);
            }
        }
    }
    Ok(())
}

fn help() -> String {
    format!(
        "Runs all checks and tests of the project, and installs the tools that they need and that are missing.

Usage: cargo xtask test [--only STEP[,STEP…]] [--list]

Options:
  --only STEP[,STEP…]  only these steps, in the order of the list
  --list               names the steps and runs none
  -h, --help           this text

Steps, in order:
{}
The first step that fails ends the run. Exit code: 0 if all passed, 1 if one failed, 2 for a wrong call.",
        list()
    )
}

fn list() -> String {
    let mut text = String::new();
    for step in STEPS {
        let _ = writeln!(text, "  {:<10} {}", step.name, step.about);
    }
    text
}
