//! One server: its process, its directory, and what is done to it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::bounded::{self, until};
use crate::error::Error;
use crate::guard::Guard;
use crate::port;
use crate::processes::{self, State};

/// How long a server may take to be ready.
pub(crate) const READY: Duration = Duration::from_secs(30);
/// How long a signal may take to show.
const SIGNAL: Duration = Duration::from_secs(10);

/// A server that may run, be frozen, or be dead, in a directory that outlives its deaths.
#[derive(Debug)]
pub(crate) struct Server {
    kind: &'static str,
    directory: PathBuf,
    life: Mutex<Life>,
}

#[derive(Debug)]
struct Life {
    guard: Guard,
    pid: Option<Pid>,
}

impl Server {
    /// Makes a fresh directory for it, and starts nothing. `command` is told the directory.
    pub(crate) fn new(
        kind: &'static str,
        end: Signal,
        command: impl FnOnce(&Path) -> Vec<OsString>,
    ) -> Result<Self, Error> {
        let name = format!("counterfoil-{kind}-{:016x}", port::random());
        let directory = std::env::temp_dir().join(name);
        let guard = Guard::new(&directory, end, &command(&directory)).map_err(Error::io(
            &format!("making {} for a server", directory.display()),
        ))?;
        Ok(Self {
            kind,
            directory,
            life: Mutex::new(Life { guard, pid: None }),
        })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A name that no other server has: its directory's.
    pub(crate) fn name(&self) -> String {
        let name = self.directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Its process, if it runs or is frozen.
    pub(crate) fn pid(&self) -> Option<u32> {
        let pid = self.life().pid?;
        u32::try_from(pid.as_raw_pid()).ok()
    }

    /// Starts it and waits until `is_ready`, which is told the process, says so.
    pub(crate) fn launch(&self, is_ready: impl Fn(u32) -> bool) -> Result<(), Error> {
        let mut life = self.life();
        let started = life.guard.start();
        let pid = started.map_err(Error::io(&format!("starting {}", self.kind)))?;
        life.pid = Some(pid);
        let number = u32::try_from(pid.as_raw_pid()).expect("process ids are positive");
        let ready = until(READY, || {
            if processes::state(pid) == State::Gone {
                life.pid = None;
                life.guard
                    .reap()
                    .map_err(Error::io(&format!("reaping {}", self.kind)))?;
                return Err(Error::Ended {
                    server: self.kind.to_owned(),
                    log: self.log(),
                });
            }
            Ok(is_ready(number).then_some(()))
        })?;
        ready.ok_or_else(|| self.too_late("its start", READY))
    }

    /// Ends it and all its children by SIGKILL, also if they are frozen. To a server that is dead it does nothing.
    pub(crate) fn kill(&self) -> Result<(), Error> {
        let mut life = self.life();
        let Some(pid) = life.pid else {
            return Ok(());
        };
        // One that is stopped has no more children than those seen now.
        self.stop(pid)?;
        let children = processes::children(pid);
        for process in children.iter().copied().chain([pid]) {
            signal(process, Signal::KILL).map_err(Error::io(&self.signalling()))?;
        }
        for process in children.into_iter().chain([pid]) {
            self.wait_for(process, State::Gone)?;
        }
        life.pid = None;
        life.guard.reap().map_err(Error::io(&self.signalling()))
    }

    /// Stops it and all its children, as a machine that hangs would.
    pub(crate) fn freeze(&self) -> Result<(), Error> {
        let life = self.life();
        let pid = self.running(&life)?;
        self.stop(pid)?;
        let children = processes::children(pid);
        for child in &children {
            signal(*child, Signal::STOP).map_err(Error::io(&self.signalling()))?;
        }
        for child in children {
            self.wait_for(child, State::Stopped)?;
        }
        Ok(())
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) -> Result<(), Error> {
        let life = self.life();
        let pid = self.running(&life)?;
        for process in processes::children(pid).into_iter().chain([pid]) {
            signal(process, Signal::CONT).map_err(Error::io(&self.signalling()))?;
        }
        Ok(())
    }

    /// The error of something that took too long here.
    pub(crate) fn too_late(&self, what: &str, bound: Duration) -> Error {
        Error::TooLate {
            what: format!("{}: {what}", self.kind),
            bound,
            log: format!("; its log ends with:\n{}", self.log()),
        }
    }

    fn log(&self) -> String {
        bounded::tail(&self.directory.join("log"))
    }

    fn stop(&self, pid: Pid) -> Result<(), Error> {
        signal(pid, Signal::STOP).map_err(Error::io(&self.signalling()))?;
        self.wait_for(pid, State::Stopped)
    }

    /// Waits until the process is as wanted. One that is gone is as good as stopped.
    fn wait_for(&self, pid: Pid, wanted: State) -> Result<(), Error> {
        let seen = until(SIGNAL, || {
            let state = processes::state(pid);
            Ok((state == wanted || state == State::Gone).then_some(()))
        })?;
        seen.ok_or_else(|| self.too_late("the effect of a signal", SIGNAL))
    }

    fn running(&self, life: &Life) -> Result<Pid, Error> {
        life.pid.ok_or_else(|| Error::NotRunning {
            server: self.kind.to_owned(),
        })
    }

    fn signalling(&self) -> String {
        format!("signalling {}", self.kind)
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    /// The guard ends it. Postgres would wait five seconds for children that are frozen.
    fn drop(&mut self) {
        if self.pid().is_some() {
            let _ = self.thaw();
        }
    }
}

/// A child that ended meanwhile is none to worry about.
fn signal(pid: Pid, signal: Signal) -> io::Result<()> {
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
