//! A program as a process: its output collected, its end bounded.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use crate::wait::{PATIENCE, until_blocking, within_blocking};

/// A program, the built transfer gateway most of the time, not started yet.
#[derive(Debug)]
pub struct Program(Command);

/// How a program that ran to its end did.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// All that it printed to stdout.
    pub stdout: String,
    /// All that it printed to stderr.
    pub stderr: String,
}

impl Program {
    /// The gateway that stands beside the tests' own programs, with these arguments.
    ///
    /// # Panics
    ///
    /// If it is not built.
    pub fn gateway<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let mut command = Command::new(path("transfer-gateway"));
        // Settings of the machine change no test.
        command
            .env_remove("COUNTERFOIL_KEYS")
            .env_remove("COUNTERFOIL_STORE")
            .env_remove("COUNTERFOIL_GRANT_KEYS")
            .env_remove("RUST_LOG")
            .env_remove("NO_COLOR");
        command.args(arguments).stdin(Stdio::null());
        Self(command)
    }

    /// The ledger that takes grants, likewise.
    ///
    /// # Panics
    ///
    /// If it is not built.
    pub fn granted_ledger<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        Self::other(path("granted-ledger"), arguments)
    }

    /// Another program, which gets nothing of this process's environment.
    pub fn other<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut command = Command::new(program);
        command.env_clear().args(arguments).stdin(Stdio::null());
        Self(command)
    }

    /// Sets a variable of its environment.
    #[must_use = "the program is handed back"]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    ///
    /// If it can't be started, or runs on for more than 20 seconds.
    #[must_use]
    pub fn finish(self) -> Finished {
        self.finish_within(PATIENCE)
    }

    /// As [`finish`](Self::finish), with a bound of one's own.
    ///
    /// # Panics
    ///
    /// If it can't be started, or runs on for longer.
    #[must_use]
    pub fn finish_within(self, bound: Duration) -> Finished {
        let mut running = self.start();
        let ended = within_blocking(bound, || running.has_ended());
        let (stdout, stderr) = running.output();
        let ended = ended.unwrap_or_else(|| panic!("it did not end\n{stdout}\n{stderr}"));
        Finished {
            code: ended.code(),
            stdout,
            stderr,
        }
    }

    pub(crate) fn start(mut self) -> Running {
        let mut child = self
            .0
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built program starts");
        let stdout = Lines::collect(child.stdout.take().expect("it is piped"));
        let stderr = Lines::collect(child.stderr.take().expect("it is piped"));
        Running {
            child,
            stdout,
            stderr,
        }
    }
}

/// In the directory of this test's own build: a test stands in `deps` under it.
fn path(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test
        .parent()
        .and_then(|deps| deps.parent())
        .expect("a test stands in deps");
    let program = profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "the program under test is not built: run `cargo build -p {name}` first"
    );
    program
}

/// A started process. It is killed and reaped when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) stdout: Lines,
    pub(crate) stderr: Lines,
}

impl Running {
    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        let id = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        let id = id.expect("a child has a process id");
        rustix::process::kill_process(id, rustix::process::Signal::TERM)
            .expect("a child that wasn't waited for can be signalled");
    }

    /// Waits until it says where it listens.
    pub(crate) fn listening(&mut self, name: &str) -> SocketAddr {
        let address = until_blocking(|| match listening(&self.stdout.so_far()) {
            Some(address) => Some(Some(address)),
            None => self.has_ended().map(|_| None),
        });
        let Some(Some(address)) = address else {
            let (stdout, stderr) = self.output();
            panic!("the {name} doesn't listen\n{stdout}\n{stderr}");
        };
        address
    }

    /// Whether it has ended by now.
    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }

    /// Kills it, if it still runs, and gives all that it printed.
    pub(crate) fn output(&mut self) -> (String, String) {
        // It may have ended already, which is no error here.
        let _ = self.child.kill();
        let _ = self.child.wait();
        (self.stdout.all(), self.stderr.all())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.output();
    }
}

fn listening(stdout: &str) -> Option<SocketAddr> {
    let whole_lines = &stdout[..=stdout.rfind('\n')?];
    whole_lines
        .lines()
        .find_map(|line| line.strip_prefix("listening on http://")?.parse().ok())
}

/// What a process prints, line by line, as it comes.
#[derive(Debug)]
pub(crate) struct Lines {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Lines {
    fn collect(from: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut line = Vec::new();
            while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let mut text = into.lock().unwrap_or_else(PoisonError::into_inner);
                text.push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        Self {
            text,
            reader: Some(reader),
        }
    }

    pub(crate) fn so_far(&self) -> String {
        self.text
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// All of it. Only for a process that has ended.
    fn all(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("a reader doesn't panic");
        }
        self.so_far()
    }
}
