//! Child processes that can't outlive their step.
//!
//! Rules: every child leads a process group of its own, and when the wait for it ends, for whatever reason, the group is
//! killed before the child is reaped. Until then the group's number is certainly ours, so nothing else can be hit. Every
//! wait has a bound, and Ctrl-C, SIGTERM and SIGHUP end it. A child's standard input is empty.
//!
//! Caveat: a descendant that leads a group of its own escapes. Tests that start programs leave them in their own group,
//! or bound them.

use std::fmt;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use counterfoil_servers::Shared;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How long a child may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);
/// The longest pause between two looks at a child.
const POLL: Duration = Duration::from_millis(50);

/// Starts children, and ends them when it is told to.
#[derive(Debug)]
pub(crate) struct Runner {
    /// The last signal that asked us to stop; 0 for none.
    signal: Arc<AtomicUsize>,
}

/// Until when something may run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    ends: Instant,
    whole: Duration,
}

/// Why something did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The program could not be started.
    NotStarted { command: String, error: io::Error },
    /// It ran, and said no.
    Status { command: String, status: ExitStatus },
    /// It was ended because its time was up.
    OutOfTime { command: String, bound: Duration },
    /// It was ended because we were asked to stop, by this signal.
    Interrupted(i32),
    /// A check of our own found something, or what it stands on is missing.
    Found(String),
    /// What it needs can't be had here, and it stands for nothing else. Said, and not counted as passed.
    LeftOut(String),
}

impl Runner {
    /// From here on the signals that ask to stop are heard, and no longer end the process by themselves.
    pub(crate) fn new() -> Result<Self, Failure> {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let value = usize::try_from(number).expect("signal numbers are positive");
            signal_hook::flag::register_usize(number, Arc::clone(&signal), value).map_err(
                |error| Failure::Found(format!("signals can't be listened to: {error}")),
            )?;
        }
        Ok(Self { signal })
    }

    /// One that no signal reaches: a test process keeps its own.
    #[cfg(test)]
    pub(crate) fn deaf() -> Self {
        Self {
            signal: Arc::default(),
        }
    }

    /// Runs the command to its end, with its output streamed to ours.
    pub(crate) fn run(&self, command: &mut Command, bound: Bound) -> Result<(), Failure> {
        println!("$ {}", shown(command));
        let mut child = self.spawn(command)?;
        self.end(command, &mut child, bound)
    }

    /// Runs the command to its end, and gives what it wrote to its standard output.
    pub(crate) fn read(&self, command: &mut Command, bound: Bound) -> Result<Vec<u8>, Failure> {
        let mut child = self.spawn(command.stdout(Stdio::piped()))?;
        let mut stdout = child.stdout.take().expect("standard output is piped");
        // Read while it runs: a full pipe would stop it for ever.
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).map(|_| bytes)
        });
        self.end(command, &mut child, bound)?;
        reader
            .join()
            .expect("the reader does not panic")
            .map_err(|error| Failure::NotStarted {
                command: shown(command),
                error,
            })
    }

    /// Whether the command starts and succeeds. It is silent.
    pub(crate) fn succeeds(&self, command: &mut Command, bound: Bound) -> Result<bool, Failure> {
        match self.read(command.stderr(Stdio::null()), bound) {
            Ok(_) => Ok(true),
            Err(Failure::Interrupted(signal)) => Err(Failure::Interrupted(signal)),
            Err(_) => Ok(false),
        }
    }

    /// An error if we were asked to stop.
    pub(crate) fn checkpoint(&self) -> Result<(), Failure> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(Failure::Interrupted(
                i32::try_from(number).expect("it was an i32 when it was registered"),
            )),
        }
    }

    /// Returns when we are asked to stop, and not before.
    pub(crate) fn wait_for_a_signal(&self) {
        while self.checkpoint().is_ok() {
            thread::sleep(POLL);
        }
    }

    fn spawn(&self, command: &mut Command) -> Result<Child, Failure> {
        self.checkpoint()?;
        command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| Failure::NotStarted {
                command: shown(command),
                error,
            })
    }

    /// Waits for the child, ends its group, reaps it, and judges.
    fn end(&self, command: &Command, child: &mut Child, bound: Bound) -> Result<(), Failure> {
        let group = Pid::from_child(child);
        let waited = self.wait(command, group, bound);
        if waited.is_err() {
            let _ = rustix::process::kill_process_group(group, Signal::TERM);
            let grace = Instant::now() + GRACE;
            while Instant::now() < grace && !has_ended(group) {
                thread::sleep(POLL);
            }
        }
        // Also after success: what a test started and forgot must not hold our output open. The error is "nobody left".
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
        let status = child.wait().map_err(|error| Failure::NotStarted {
            command: shown(command),
            error,
        })?;
        waited?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::Status {
            command: shown(command),
            status,
        })
    }

    fn wait(&self, command: &Command, child: Pid, bound: Bound) -> Result<(), Failure> {
        let mut pause = Duration::from_millis(1);
        while !has_ended(child) {
            self.checkpoint()?;
            if Instant::now() >= bound.ends {
                return Err(Failure::OutOfTime {
                    command: shown(command),
                    bound: bound.whole,
                });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(POLL);
        }
        Ok(())
    }
}

impl Bound {
    /// From now on for that long.
    pub(crate) fn of(whole: Duration) -> Self {
        Self {
            ends: Instant::now() + whole,
            whole,
        }
    }
}

impl Failure {
    /// What the program is to exit with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            // The custom of shells; every signal that we listen to is far below 128.
            Self::Interrupted(signal) => ExitCode::from(128 + u8::try_from(*signal).unwrap_or(0)),
            _ => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { command, error } => write!(f, "`{command}` could not run: {error}"),
            Self::Status { command, status } => write!(f, "`{command}` ended with {status}"),
            Self::OutOfTime { command, bound } => write!(
                f,
                "`{command}` was ended: the time for it is {} s",
                bound.as_secs()
            ),
            Self::Interrupted(signal) => write!(f, "stopped by signal {signal}"),
            Self::Found(what) | Self::LeftOut(what) => f.write_str(what),
        }
    }
}

/// Whether the child has ended. It is left to be reaped, so that its number stays taken.
fn has_ended(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match rustix::process::waitid(WaitId::Pid(child), options) {
        Ok(status) => status.is_some(),
        Err(rustix::io::Errno::INTR) => false,
        // Nothing to wait for: the reaping that follows says what is wrong.
        Err(_) => true,
    }
}

/// The command as one would type it: programs by name, and the variables that it sets. Not so those with the addresses of
/// servers, which end with the run.
fn shown(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        let is_address = Shared::ALL.iter().any(|server| name == server.variable());
        if let Some(value) = value.filter(|_| !is_address) {
            words.push(format!(
                "{}={}",
                name.display(),
                quoted(&value.to_string_lossy())
            ));
        }
    }
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    words.push(program.to_string_lossy().into_owned());
    words.extend(
        command
            .get_args()
            .map(|word| quoted(&word.to_string_lossy())),
    );
    words.join(" ")
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '*', '$', '"']) {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Whether the process is there and is no zombie.
    fn lives(pid: &str) -> bool {
        Command::new("kill")
            .args(["-0", pid])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
            && !std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| stat.contains(") Z "))
    }

    fn waits_until_gone(pid: &str) {
        let ends = Instant::now() + GRACE;
        while lives(pid) {
            assert!(Instant::now() < ends, "process {pid} outlived its step");
            thread::sleep(POLL);
        }
    }

    #[test]
    fn what_a_child_writes_is_read_to_its_end() {
        let bytes = Runner::deaf()
            .read(&mut shell("yes | head -c 300000"), Bound::of(LONG))
            .expect("it succeeds");
        assert_eq!(bytes.len(), 300_000);
    }

    #[test]
    fn a_child_that_says_no_is_a_failure_that_names_it() {
        let failure = Runner::deaf()
            .read(&mut shell("exit 3"), Bound::of(LONG))
            .expect_err("it exits 3");
        let text = failure.to_string();
        assert!(text.contains("sh -c 'exit 3'"), "{text}");
        assert!(text.contains('3'), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_does_not_succeed() {
        let mut command = Command::new("no-program-has-this-name");
        assert!(
            !Runner::deaf()
                .succeeds(&mut command, Bound::of(LONG))
                .expect("no signal")
        );
    }

    #[test]
    fn a_child_past_its_bound_is_ended_with_all_that_it_started() {
        let file = std::env::temp_dir().join(format!("xtask-bound-{}", std::process::id()));
        let script = format!("sleep 20 & echo $! > '{}'; wait", file.display());
        let failure = Runner::deaf()
            .run(&mut shell(&script), Bound::of(Duration::from_millis(500)))
            .expect_err("it hangs");
        assert!(matches!(failure, Failure::OutOfTime { .. }), "{failure}");
        let grandchild = std::fs::read_to_string(&file).expect("the script wrote it");
        waits_until_gone(grandchild.trim());
        let _ = std::fs::remove_file(file);
    }

    #[test]
    fn what_a_successful_child_forgot_is_ended_too() {
        let bytes = Runner::deaf()
            .read(
                &mut shell("sleep 20 >&2 2>/dev/null & echo $!"),
                Bound::of(LONG),
            )
            .expect("it succeeds");
        waits_until_gone(String::from_utf8_lossy(&bytes).trim());
    }

    #[test]
    fn a_signal_ends_the_child_and_the_wait() {
        let runner = Runner::deaf();
        let signal = Arc::clone(&runner.signal);
        let sender = thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            signal.store(15, Ordering::Relaxed);
        });
        let started = Instant::now();
        let failure = runner
            .run(&mut shell("sleep 20"), Bound::of(LONG))
            .expect_err("it is stopped");
        sender.join().expect("it only sends");
        assert!(matches!(failure, Failure::Interrupted(15)), "{failure}");
        assert!(started.elapsed() < LONG);
        assert!(
            runner.run(&mut shell("true"), Bound::of(LONG)).is_err(),
            "nothing starts after it"
        );
    }

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = Command::new("/some/where/cargo");
        command
            .env("RUSTDOCFLAGS", "-D warnings")
            .env(Shared::Redis.variable(), "redis://127.0.0.1:1")
            .args(["doc", "--no-deps"]);
        assert_eq!(
            shown(&command),
            "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"
        );
    }
}
