//! Postgres, and PgBouncer in front of it.

mod pgbouncer;
mod small_disk;
mod wire;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::account::Account;
use crate::bounded;
use crate::error::Error;
use crate::port;
use crate::program;
use crate::server::Server;
use crate::tls::Tls;

pub use pgbouncer::{PgBouncer, PgBouncerStarter};

/// The superuser, and whose database it is.
const USER: &str = "counterfoil";
/// Where the data is, in the directory of a server.
const DATA: &str = "data";
/// As what a primary knows its standby.
const STANDBY: &str = "standby";
/// How long making a fresh cluster of databases may take, or a copy of one.
const INITDB: Duration = Duration::from_secs(60);

/// One server of Postgres that keeps what it committed: `fsync` and `synchronous_commit` are on, and 200 connections are
/// allowed, unless [`PostgresStarter::setting`] says otherwise.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    port: u16,
    url: String,
}

/// How a [`Postgres`] is to be started.
#[derive(Debug, Clone, Default)]
#[must_use = "nothing is started before `start`"]
pub struct PostgresStarter {
    settings: Vec<(String, String)>,
    tls: Option<Tls>,
    /// The port of the primary whose standby it is to be.
    primary: Option<u16>,
    /// Its size in MiB.
    small_disk: Option<u32>,
}

impl Postgres {
    /// A plain one.
    pub fn start() -> Result<Self, Error> {
        Self::starter().start()
    }

    /// One with settings of its own.
    pub fn starter() -> PostgresStarter {
        PostgresStarter::default()
    }

    /// A standby of this server: a copy of it, which takes over what it commits from then on, and can be read. The primary
    /// knows it as `standby`, and waits for it once its `synchronous_standby_names` say so. `SELECT pg_promote()` makes it a
    /// primary of its own.
    pub fn standby_of(primary: &Self) -> PostgresStarter {
        PostgresStarter {
            primary: Some(primary.port),
            ..PostgresStarter::default()
        }
    }

    /// `postgres://counterfoil@127.0.0.1:PORT/counterfoil`, for a superuser who needs no password. It stays the same over
    /// restarts.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where its small disk is, if it has one: a directory for a tablespace.
    #[must_use]
    pub fn small_disk(&self) -> PathBuf {
        small_disk::place(self.server.directory())
    }

    /// The process of the postmaster. None while it is dead.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    /// Ends the postmaster and all its children by SIGKILL, also if they are frozen.
    pub fn kill(&self) -> Result<(), Error> {
        self.server.kill()
    }

    /// Starts it again on the same port and over the same data, after killing it if it runs. Waits until it has
    /// recovered and answers.
    pub fn restart(&self) -> Result<(), Error> {
        self.server.kill()?;
        self.server.launch(|pid| self.is_ready(pid))
    }

    /// Stops the postmaster and all its children, so that connections stay and nothing is answered.
    pub fn freeze(&self) -> Result<(), Error> {
        self.server.freeze()
    }

    /// Lets a frozen one go on. It then does and answers what it was asked meanwhile.
    pub fn thaw(&self) -> Result<(), Error> {
        self.server.thaw()
    }

    /// It must be this process that answers: another one's server may have the port, and ours not know it yet. Ours says
    /// in its lock file that it listens, in the line that also tells how it is.
    fn is_ready(&self, pid: u32) -> bool {
        let lock = data(self.server.directory()).join("postmaster.pid");
        let lock = fs::read_to_string(lock).unwrap_or_default();
        let lines: Vec<&str> = lock.lines().collect();
        lines.first().and_then(|line| line.parse().ok()) == Some(pid)
            && lines
                .get(7)
                .is_some_and(|status| ["ready", "standby"].contains(&status.trim()))
            && wire::run(self.port, USER, "postgres", "SELECT 1").is_ok()
    }
}

impl PostgresStarter {
    /// A line of `postgresql.conf`, over our own. The value is quoted here.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Speaks TLS with those who ask for it. Takes the certificate and its key in PEM.
    pub fn tls(mut self, certificate: &[u8], key: &[u8]) -> Self {
        self.tls = Some(Tls::new(certificate, key));
        self
    }

    /// Gives it a disk of so many MiB beside its own, to fill up: see [`Postgres::small_disk`]. It is a file system in memory
    /// that only this server sees, and that is empty again after a restart. Needs no right but that to make a user namespace.
    pub fn small_disk(mut self, mebibytes: u32) -> Self {
        self.small_disk = Some(mebibytes);
        self
    }

    /// Whether this system lets a server have a [small disk](Self::small_disk).
    pub fn small_disk_is_allowed() -> bool {
        Account::unprivileged().is_ok_and(small_disk::is_allowed)
    }

    /// Starts it, and waits until it answers.
    pub fn start(&self) -> Result<Postgres, Error> {
        port::on_a_free_one(|port| self.attempt(port))
    }

    fn attempt(&self, port: u16) -> Result<Postgres, Error> {
        let programs = program::postgres()?;
        let account = Account::unprivileged()?;
        // SIGQUIT ends it at once, and lets it remove its shared memory.
        let server = Server::new("postgres", Signal::QUIT, |directory| {
            let program = programs.join("postgres");
            let mut words = match self.small_disk {
                Some(mebibytes) => small_disk::command(account, directory, mebibytes, &program),
                None => account.command(&program),
            };
            words.push("-D".into());
            words.push(data(directory).into());
            words
        })?;
        account.give(server.directory())?;
        small_disk::make(account, server.directory())?;
        match self.primary {
            Some(primary) => copy(&programs, account, server.directory(), primary)?,
            None => initialise(&programs, account, server.directory())?,
        }
        self.configure(account, server.directory(), port)?;
        let postgres = Postgres {
            server,
            port,
            url: url(port),
        };
        postgres.server.launch(|pid| postgres.is_ready(pid))?;
        if self.primary.is_some() {
            return Ok(postgres);
        }
        let create = format!("CREATE DATABASE {USER}");
        wire::run(port, USER, "postgres", &create).map_err(|error| Error::Answer {
            server: "postgres".to_owned(),
            answer: error.to_string(),
        })?;
        Ok(postgres)
    }

    fn configure(&self, account: Account, directory: &Path, port: u16) -> Result<(), Error> {
        let data = data(directory);
        let mut settings = vec![
            ("listen_addresses".to_owned(), "127.0.0.1".to_owned()),
            ("port".to_owned(), port.to_string()),
            ("unix_socket_directories".to_owned(), String::new()),
            // In files of the data directory, which vanish with it, also after a kill.
            ("dynamic_shared_memory_type".to_owned(), "mmap".to_owned()),
            ("fsync".to_owned(), "on".to_owned()),
            ("synchronous_commit".to_owned(), "on".to_owned()),
            ("max_connections".to_owned(), "200".to_owned()),
        ];
        if let Some(tls) = &self.tls {
            for (setting, file, text) in [
                ("ssl_cert_file", "certificate.pem", &tls.certificate),
                ("ssl_key_file", "key.pem", &tls.key),
            ] {
                account.write(&data.join(file), text)?;
                settings.push((setting.to_owned(), file.to_owned()));
            }
            settings.push(("ssl".to_owned(), "on".to_owned()));
        }
        if let Some(primary) = self.primary {
            let connection =
                format!("host=127.0.0.1 port={primary} user={USER} application_name={STANDBY}");
            settings.push(("primary_conninfo".to_owned(), connection));
            account.write(&data.join("standby.signal"), b"")?;
        }
        settings.extend(self.settings.iter().cloned());
        let lines: String = settings
            .iter()
            .map(|(name, value)| format!("{name} = '{}'\n", value.replace('\'', "''")))
            .collect();
        account.write(&data.join("postgresql.conf"), lines.as_bytes())
    }
}

fn initialise(programs: &Path, account: Account, directory: &Path) -> Result<(), Error> {
    let mut command = maker(&programs.join("initdb"), account, directory);
    command.args(["--username", USER, "--auth", "trust"]).args([
        "--encoding",
        "UTF8",
        "--locale",
        "C",
        "--no-sync",
    ]);
    bounded::run(&mut command, &directory.join("initdb.log"), INITDB)
}

/// A copy of the primary, with what it commits meanwhile.
fn copy(programs: &Path, account: Account, directory: &Path, primary: u16) -> Result<(), Error> {
    let mut command = maker(&program::pg_basebackup(programs)?, account, directory);
    command
        .args(["--host", "127.0.0.1", "--username", USER])
        .args(["--port", &primary.to_string()])
        .args([
            "--wal-method",
            "stream",
            "--checkpoint",
            "fast",
            "--no-sync",
        ]);
    bounded::run(&mut command, &directory.join("copy.log"), INITDB)
}

/// A program that fills the directory for data. It names it from where it stands: by a whole path it would make again what
/// was removed because we are gone.
fn maker(program: &Path, account: Account, directory: &Path) -> Command {
    let words = account.command(program);
    let (program, rest) = words.split_first().expect("a command names a program");
    let mut command = Command::new(program);
    command.args(rest).args(["-D", DATA]).current_dir(directory);
    command
}

fn data(directory: &Path) -> PathBuf {
    directory.join(DATA)
}

fn url(port: u16) -> String {
    format!("postgres://{USER}@127.0.0.1:{port}/{USER}")
}
