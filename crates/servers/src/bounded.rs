//! Waits that end.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;

/// The longest pause between two looks.
const POLL: Duration = Duration::from_millis(20);

/// Looks again and again until there is something, or the bound has passed: then None.
pub(crate) fn until<T>(
    bound: Duration,
    mut look: impl FnMut() -> Result<Option<T>, Error>,
) -> Result<Option<T>, Error> {
    let ends = Instant::now() + bound;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        if Instant::now() >= ends {
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(POLL);
    }
}

/// Waits for a child's end.
pub(crate) fn wait(child: &mut Child, bound: Duration) -> io::Result<ExitStatus> {
    let ends = Instant::now() + bound;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= ends {
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(POLL);
    }
}

/// Runs a program to its end, with all that it says in the file. The error carries the end of it.
pub(crate) fn run(command: &mut Command, output: &Path, bound: Duration) -> Result<(), Error> {
    let doing = || format!("running {}", command_name(command));
    let doing = doing();
    let file = File::create(output).map_err(Error::io(&doing))?;
    let also = file.try_clone().map_err(Error::io(&doing))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(also)
        .spawn()
        .map_err(Error::io(&doing))?;
    let waited = wait(&mut child, bound);
    if waited.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let status = waited.map_err(Error::io(&doing))?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        program: command_name(command),
        status,
        said: tail(output),
    })
}

/// The last lines of a file; empty if there are none.
pub(crate) fn tail(file: &Path) -> String {
    const LINES: usize = 30;
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

fn command_name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
