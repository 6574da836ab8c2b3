//! A shell that starts a server, and ends it with us.
//!
//! Why a shell: it lives in a process group of its own and reads from a socket that only this process holds open at the
//! other end. When this process dies, by whatever signal, the shell reads the end, kills the server, and removes its
//! directory. Doing the same in the server itself would take code between fork and exec, which can't be written safely.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::bounded;

const SCRIPT: &str = include_str!("guard.sh");
/// How long the shell may take to answer a word.
const ANSWER: Duration = Duration::from_secs(10);
/// How long it may take to end the server and to remove its directory.
const FINISH: Duration = Duration::from_secs(15);

/// The shell, and our end of the socket.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Child,
    /// None once it was closed, which is the sign to finish.
    socket: Option<BufReader<UnixStream>>,
}

impl Guard {
    /// Starts the shell, which makes the directory. The server is not started yet.
    pub(crate) fn new(directory: &Path, end: Signal, command: &[OsString]) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(ANSWER))?;
        ours.set_write_timeout(Some(ANSWER))?;
        let mut guard = Self {
            shell: spawn(directory, end, command, theirs)?,
            socket: Some(BufReader::new(ours)),
        };
        guard.expect("ready")?;
        Ok(guard)
    }

    /// Starts the server. It may end by itself at once.
    pub(crate) fn start(&mut self) -> io::Result<Pid> {
        self.say("start")?;
        let answer = self.hear()?;
        let pid = answer.parse().ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| io::Error::other(format!("no process id: {answer:?}")))
    }

    /// Lets go of the number of a server that was killed. Until then it is certainly the server's.
    pub(crate) fn reap(&mut self) -> io::Result<()> {
        self.say("reap")?;
        self.expect("reaped")
    }

    fn say(&mut self, word: &str) -> io::Result<()> {
        let mut socket = self.socket()?.get_ref();
        socket.write_all(format!("{word}\n").as_bytes())
    }

    fn hear(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.socket()?.read_line(&mut line)? == 0 {
            return Err(io::Error::other("the shell that starts servers has ended"));
        }
        Ok(line.trim_end().to_owned())
    }

    fn expect(&mut self, word: &str) -> io::Result<()> {
        let answer = self.hear()?;
        if answer == word {
            Ok(())
        } else {
            Err(io::Error::other(format!("{answer:?} instead of {word:?}")))
        }
    }

    fn socket(&mut self) -> io::Result<&mut BufReader<UnixStream>> {
        self.socket
            .as_mut()
            .ok_or_else(|| io::Error::other("closed"))
    }
}

/// Starts the shell at its end of a socket.
fn spawn(
    directory: &Path,
    end: Signal,
    command: &[OsString],
    socket: UnixStream,
) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", SCRIPT, "counterfoil-guard"])
        .arg(directory)
        .arg(if end == Signal::QUIT { "QUIT" } else { "KILL" })
        .args(command)
        // Words of servers that we read must not depend on the user's language.
        .env("LC_ALL", "C")
        .stdin(Stdio::from(OwnedFd::from(socket.try_clone()?)))
        .stdout(Stdio::from(OwnedFd::from(socket)))
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.socket = None;
        if bounded::wait(&mut self.shell, FINISH).is_err() {
            // Nothing more can be done for the server here; the shell at least must not stay.
            let _ = self.shell.kill();
            let _ = self.shell.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::random;

    fn directory() -> std::path::PathBuf {
        std::env::temp_dir().join(format!("counterfoil-guard-{:016x}", random()))
    }

    fn sleeper() -> Vec<OsString> {
        ["sleep", "600"].map(OsString::from).to_vec()
    }

    #[test]
    fn the_shell_tidies_up_also_if_nobody_hears_its_first_word() {
        let directory = directory();
        let (ours, theirs) = UnixStream::pair().expect("two sockets");
        drop(ours);
        let shell = spawn(&directory, Signal::KILL, &sleeper(), theirs);
        let status = bounded::wait(&mut shell.expect("it starts"), FINISH);
        assert!(status.is_ok(), "it ends");
        assert!(!directory.exists());
    }

    #[test]
    fn a_directory_that_is_there_already_is_refused_and_left_alone() {
        let directory = directory();
        std::fs::create_dir(&directory).expect("it is new");
        let guard = Guard::new(&directory, Signal::KILL, &sleeper());
        assert!(guard.is_err());
        assert!(directory.exists());
        std::fs::remove_dir(&directory).expect("it is ours, and empty");
    }

    #[test]
    fn what_it_started_ends_with_it() {
        let directory = directory();
        let mut guard = Guard::new(&directory, Signal::KILL, &sleeper()).expect("it starts");
        let pid = guard.start().expect("it starts");
        assert!(directory.exists());
        assert_eq!(crate::processes::state(pid), crate::processes::State::Runs);
        drop(guard);
        assert_eq!(crate::processes::state(pid), crate::processes::State::Gone);
        assert!(!directory.exists());
    }
}
