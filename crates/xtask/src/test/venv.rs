//! Environments for packages of Python: nothing is installed where other programs look.
//!
//! A step that has one needs [`PYTHON`](crate::needs::PYTHON) and [`VENV`](crate::needs::VENV), and stands on its file of
//! requirements.

use std::path::PathBuf;
use std::process::Command;

use crate::run::{Bound, Failure};

use super::step::Context;

const PIP: [&str; 6] = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--requirement",
];

/// Makes the environment of this name in the target directory, with what the file requires, and gives its Python. Made
/// again each time, since one that was cut short looks like one that wasn't.
///
/// Where the packages can't be had the step is left out: not every machine that builds this reaches PyPI.
pub(super) fn make(
    context: &Context,
    bound: Bound,
    name: &str,
    requirements: &str,
) -> Result<PathBuf, Failure> {
    let place = context.workspace.target().join(name);
    let runner = &context.runner;
    let mut make = Command::new("python3");
    runner.run(make.args(["-m", "venv", "--clear"]).arg(&place), bound)?;
    let python = place.join("bin").join("python");
    let mut install = Command::new(&python);
    install.current_dir(context.workspace.root());
    match runner.run(install.args(PIP).arg(requirements), bound) {
        Ok(()) => Ok(python),
        Err(failure @ Failure::Status { .. }) => {
            let why = format!("what {requirements} lists can't be installed: {failure}");
            Err(Failure::LeftOut(why))
        }
        Err(failure) => Err(failure),
    }
}
