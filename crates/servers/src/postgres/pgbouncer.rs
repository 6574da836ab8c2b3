//! PgBouncer in front of a server of Postgres.

use std::process::Command;

use rustix::process::Signal;

use crate::account::Account;
use crate::error::Error;
use crate::port;
use crate::program;
use crate::server::Server;

use super::{Postgres, USER, url, wire};

const CONFIGURATION: &str = "pgbouncer.ini";
const USERS: &str = "users.txt";
/// Since this version it knows the prepared statements of its clients, and gives each connection those that it needs.
const PREPARES_SINCE: (u32, u32) = (1, 21);

/// PgBouncer in transaction mode: a client has a connection of Postgres to itself for a transaction and no longer. It
/// allows 1000 clients on 20 connections.
///
/// Prepared statements pass it from version 1.21 on, with at most 200 for each connection. Older ones don't know them:
/// what a client prepared is missing on its next connection.
#[derive(Debug)]
pub struct PgBouncer {
    server: Server,
    port: u16,
    url: String,
}

/// How a [`PgBouncer`] is to be started.
#[derive(Debug, Clone)]
#[must_use = "nothing is started before `start`"]
pub struct PgBouncerStarter {
    postgres: u16,
    settings: Vec<(String, String)>,
}

impl PgBouncer {
    /// One before this server, which must outlive it to be of use.
    pub fn start(postgres: &Postgres) -> Result<Self, Error> {
        Self::starter(postgres).start()
    }

    /// One with settings of its own.
    pub fn starter(postgres: &Postgres) -> PgBouncerStarter {
        PgBouncerStarter {
            postgres: postgres.port(),
            settings: Vec::new(),
        }
    }

    /// `postgres://counterfoil@127.0.0.1:PORT/counterfoil`, as [`Postgres::url`] with another port.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process. None while it is dead.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    /// Ends it by SIGKILL, also if it is frozen.
    pub fn kill(&self) -> Result<(), Error> {
        self.server.kill()
    }

    /// Starts it again on the same port, after killing it if it runs. Waits until it answers.
    pub fn restart(&self) -> Result<(), Error> {
        self.server.kill()?;
        self.launch()
    }

    /// Stops its process, so that connections stay and nothing is answered.
    pub fn freeze(&self) -> Result<(), Error> {
        self.server.freeze()
    }

    /// Lets a frozen one go on.
    pub fn thaw(&self) -> Result<(), Error> {
        self.server.thaw()
    }

    fn launch(&self) -> Result<(), Error> {
        // It must be this one that answers: another one may have the port, and ours not know it yet. The other one does
        // not know this user. The database is PgBouncer's own, which answers without Postgres.
        let user = self.server.name();
        let answers = || wire::run(self.port, &user, "pgbouncer", "SHOW VERSION").is_ok();
        self.server.launch(|_| answers())
    }
}

impl PgBouncerStarter {
    /// A line of the section `[pgbouncer]`, over our own.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it, and waits until it answers.
    pub fn start(&self) -> Result<PgBouncer, Error> {
        port::on_a_free_one(|port| self.attempt(port))
    }

    fn attempt(&self, port: u16) -> Result<PgBouncer, Error> {
        let program = program::find("pgbouncer", "pgbouncer")?;
        let account = Account::unprivileged()?;
        let server = Server::new("pgbouncer", Signal::KILL, |directory| {
            let mut words = account.command(&program);
            words.push(directory.join(CONFIGURATION).into());
            words
        })?;
        let directory = server.directory();
        account.give(directory)?;
        let name = server.name();
        let users = format!("\"{USER}\" \"\"\n\"{name}\" \"\"\n");
        account.write(&directory.join(USERS), users.as_bytes())?;
        let text = self.configuration(port, &name, prepares(&program)?);
        account.write(&directory.join(CONFIGURATION), text.as_bytes())?;
        let bouncer = PgBouncer {
            server,
            port,
            url: url(port),
        };
        bouncer.launch()?;
        Ok(bouncer)
    }

    /// Paths are from the directory in which it runs, its own. A later line wins.
    fn configuration(&self, port: u16, name: &str, prepares: bool) -> String {
        let postgres = self.postgres;
        let mut text = format!(
            "[databases]\n\
             * = host=127.0.0.1 port={postgres}\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = trust\n\
             auth_file = {USERS}\n\
             admin_users = {USER}, {name}\n\
             pool_mode = transaction\n\
             max_client_conn = 1000\n\
             default_pool_size = 20\n"
        );
        if prepares {
            text.push_str("max_prepared_statements = 200\n");
        }
        for (name, value) in &self.settings {
            text.push_str(&format!("{name} = {value}\n"));
        }
        text
    }
}

fn prepares(program: &std::path::Path) -> Result<bool, Error> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(Error::io("asking pgbouncer for its version"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(version(&text).is_some_and(|version| version >= PREPARES_SINCE))
}

/// `PgBouncer MAJOR.MINOR.PATCH`, and more lines.
fn version(text: &str) -> Option<(u32, u32)> {
    let version = text.lines().next()?.strip_prefix("PgBouncer ")?;
    let mut numbers = version.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_first_line() {
        assert_eq!(version("PgBouncer 1.18.0\nlibevent 2.1"), Some((1, 18)));
        assert_eq!(version("PgBouncer 1.21.0"), Some(PREPARES_SINCE));
        assert_eq!(version("libevent 2.1"), None);
    }
}
