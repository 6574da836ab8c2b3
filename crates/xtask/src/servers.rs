//! `cargo xtask servers`: starts the servers that tests share, for a command or until Ctrl-C, and ends them.
//!
//! Exit codes: those of the command; without one 0 when it was told to stop. 1 if the servers can't be had, 2 for a wrong
//! call, 128 and the signal's number when a command was cut short.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use counterfoil_servers::{Shared, SharedServers};

use crate::command::{Command, Misuse};
use crate::needs::{self, Need, PGBOUNCER, POSTGRES, REDIS};
use crate::run::{Bound, Failure, Runner};

/// The row for the table of commands.
pub(crate) const COMMAND: Command = Command {
    name: "servers",
    summary: "Starts the servers that tests need, for a command or until Ctrl-C",
    help,
    run,
};

/// How long a command may take with the servers.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What it was asked to do.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    servers: Vec<Shared>,
    export: bool,
    command: Vec<String>,
}

fn run(arguments: &[String]) -> Result<ExitCode, Misuse> {
    let options = Options::parse(arguments).map_err(|message| Misuse {
        message,
        help: help(),
    })?;
    Ok(
        carry_out(&options).unwrap_or_else(|failure| match &failure {
            Failure::Status { status, .. } if status.code().is_some() => {
                let code = status.code().and_then(|code| u8::try_from(code).ok());
                code.map_or(ExitCode::FAILURE, ExitCode::from)
            }
            _ => {
                eprintln!("failed: {failure}");
                failure.exit_code()
            }
        }),
    )
}

fn carry_out(options: &Options) -> Result<ExitCode, Failure> {
    let runner = Runner::new()?;
    needs::ensure(&options.needs(), &runner)?;
    let servers = start(&options.servers, &runner)?;
    if options.export {
        print!("{}", exports(&servers));
    } else {
        print!("{}", table(&servers));
    }
    if let Some((program, arguments)) = options.command.split_first() {
        let mut command = std::process::Command::new(program);
        command.args(arguments).envs(servers.environment());
        runner.run(&mut command, Bound::of(DAY))?;
    } else {
        eprintln!("\nCtrl-C ends them.");
        runner.wait_for_a_signal();
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts all for a run of tests, and shows them.
pub(crate) fn for_tests(runner: &Runner) -> Result<SharedServers, Failure> {
    let servers = start(&Shared::ALL, runner)?;
    print!("{}", table(&servers));
    Ok(servers)
}

/// Starts servers, and says how long it took.
fn start(which: &[Shared], runner: &Runner) -> Result<SharedServers, Failure> {
    let started = std::time::Instant::now();
    let servers = SharedServers::start(which);
    let servers = servers.map_err(|error| Failure::Found(format!("{error:?}")))?;
    // Asked to stop meanwhile: they are dropped, and end.
    runner.checkpoint()?;
    eprintln!(
        "servers started in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    Ok(servers)
}

fn table(servers: &SharedServers) -> String {
    let mut text = String::new();
    for (server, address) in servers.addresses() {
        let _ = writeln!(text, "{:<15} {address}", server.name());
    }
    text
}

fn exports(servers: &SharedServers) -> String {
    let mut text = String::new();
    for (variable, address) in servers.environment() {
        let _ = writeln!(text, "export {variable}='{address}'");
    }
    text
}

impl Options {
    /// Understands the arguments, or says what is wrong with them.
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut export = false;
        let mut only: Option<Vec<Shared>> = None;
        let mut command = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let names = match word.as_str() {
                "--" => {
                    command.extend(words.by_ref().cloned());
                    if command.is_empty() {
                        return Err("after `--` there is to be a command".to_owned());
                    }
                    continue;
                }
                "--export" => {
                    export = true;
                    continue;
                }
                "--only" => words.next().ok_or("`--only` wants the name of a server")?,
                other => other
                    .strip_prefix("--only=")
                    .ok_or_else(|| format!("`{other}` is no option of `cargo xtask servers`"))?,
            };
            for name in names.split(',') {
                only.get_or_insert_default().push(named(name)?);
            }
        }
        Ok(Self {
            servers: only.unwrap_or_else(|| Shared::ALL.to_vec()),
            export,
            command,
        })
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs: Vec<Need> = Vec::new();
        for need in self.servers.iter().flat_map(|server| needs_of(*server)) {
            if !needs.contains(need) {
                needs.push(*need);
            }
        }
        needs
    }
}

fn needs_of(server: Shared) -> &'static [Need] {
    match server {
        Shared::Redis | Shared::RedisCluster | Shared::RedisSentinel => &[REDIS],
        Shared::Postgres => &[POSTGRES],
        Shared::PgBouncer => &[POSTGRES, PGBOUNCER],
    }
}

fn named(name: &str) -> Result<Shared, String> {
    let server = Shared::ALL.into_iter().find(|server| server.name() == name);
    server.ok_or_else(|| format!("there is no server `{name}`"))
}

fn help() -> String {
    let mut list = String::new();
    for server in Shared::ALL {
        let _ = writeln!(list, "  {:<15} {}", server.name(), server.variable());
    }
    format!(
        "Starts the servers that tests need, on free ports of this machine, and ends them with the command or at Ctrl-C.

Usage: cargo xtask servers [--only SERVER[,SERVER…]] [--export]
       cargo xtask servers [--only SERVER[,SERVER…]] -- COMMAND…

Options:
  --only SERVER[,SERVER…]  only these
  --export                 shows the addresses as lines for a shell
  -- COMMAND…              runs this with the variables set, and exits with its code; its standard input is empty
  -h, --help               this text

Servers, and the variables with their addresses:
{list}
pgbouncer brings postgres with it. Programs that are missing are installed first, as `cargo xtask test` does it."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Options, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Options::parse(&words)
    }

    #[test]
    fn without_options_all_start_and_wait() {
        let options = Options {
            servers: Shared::ALL.to_vec(),
            export: false,
            command: Vec::new(),
        };
        assert_eq!(parsed(&[]), Ok(options));
    }

    #[test]
    fn a_command_keeps_all_that_follows_the_dashes() {
        let words = ["--only=redis", "--", "cargo", "test", "--", "--only", "x"];
        let options = parsed(&words).expect("it is valid");
        assert_eq!(options.servers, [Shared::Redis]);
        assert_eq!(options.command, &words[2..]);
    }

    #[test]
    fn only_takes_servers_in_every_spelling() {
        let both = [Shared::RedisCluster, Shared::PgBouncer];
        for words in [
            &["--only", "redis-cluster,pgbouncer"][..],
            &["--only=redis-cluster", "--only", "pgbouncer"],
        ] {
            assert_eq!(
                parsed(words).map(|options| options.servers),
                Ok(both.to_vec())
            );
        }
    }

    #[test]
    fn what_can_not_be_understood_is_named() {
        for (words, name) in [
            (&["--only", "redis,mysql"][..], "`mysql`"),
            (&["--only"], "`--only`"),
            (&["cargo", "test"], "`cargo`"),
            (&["--"], "`--`"),
        ] {
            let message = parsed(words).expect_err("it is wrong");
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn what_two_servers_need_is_needed_once() {
        let options = parsed(&["--only", "redis,redis-cluster,pgbouncer,postgres"]);
        let needs = options.expect("it is valid").needs();
        assert_eq!(needs, [REDIS, POSTGRES, PGBOUNCER]);
    }

    #[test]
    fn the_help_names_every_server_and_its_variable() {
        for server in Shared::ALL {
            assert!(help().contains(server.name()) && help().contains(server.variable()));
        }
    }
}
