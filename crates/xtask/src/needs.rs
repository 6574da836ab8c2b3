//! The tools that commands need besides Rust, and how a missing one is installed.
//!
//! Rules: only what is missing is installed, and only what the steps at hand need. Packages come through `apt-get`, as
//! root or by a sudo that asks for no password; without that right, the one command to run is printed. A new need is one
//! more constant.
//!
//! Caveat: where the system runs services, Debian's packages of servers start one each on its standard port. The tests
//! use programs and no services, and leave those alone.

use std::process::Command;
use std::time::Duration;

use crate::run::{Bound, Failure, Runner};

/// The formatter.
pub(crate) const RUSTFMT: Need = Need {
    name: "rustfmt",
    probe: &["cargo", "fmt", "--version"],
    source: Source::Component,
};
/// The lints.
pub(crate) const CLIPPY: Need = Need {
    name: "clippy",
    probe: &["cargo", "clippy", "--version"],
    source: Source::Component,
};
/// Lists the files of the tree.
pub(crate) const GIT: Need = Need {
    name: "git",
    probe: &["git", "--version"],
    source: Source::Package,
};
/// Runs the second implementation of the fingerprint. Its standard library is enough.
pub(crate) const PYTHON: Need = Need {
    name: "python3",
    probe: &["python3", "--version"],
    source: Source::Package,
};
/// Makes an environment for packages of Python. Debian keeps it apart from the language.
pub(crate) const VENV: Need = Need {
    name: "python3-venv",
    probe: &["python3", "-c", "import ensurepip, venv"],
    source: Source::Package,
};

/// The server of Redis, which brings its command line too.
pub(crate) const REDIS: Need = Need {
    name: "redis-server",
    probe: &["sh", "-c", "redis-server --version && redis-cli --version"],
    source: Source::Package,
};
/// The server of Postgres, and its command line. Debian keeps the server out of the path.
pub(crate) const POSTGRES: Need = Need {
    name: "postgresql",
    probe: &[
        "sh",
        "-c",
        "psql --version && { command -v postgres || ls /usr/lib/postgresql/*/bin/postgres; }",
    ],
    source: Source::Package,
};
/// The pool before Postgres. Debian keeps it where only root's path leads.
pub(crate) const PGBOUNCER: Need = Need {
    name: "pgbouncer",
    probe: &["sh", "-c", "PATH=$PATH:/usr/sbin; pgbouncer --version"],
    source: Source::Package,
};

/// How long one look for a tool may take.
const PROBE: Duration = Duration::from_secs(60);
/// How long one installation may take.
const INSTALL: Duration = Duration::from_secs(15 * 60);

/// A tool, how its presence shows, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    /// The name of the component or the package that brings it.
    pub(crate) name: &'static str,
    /// A call that succeeds only if it is there.
    probe: &'static [&'static str],
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A component of the Rust toolchain, by rustup.
    Component,
    /// A package of Debian and its kin, by apt-get.
    Package,
}

/// Who may install packages here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rights {
    Root,
    Sudo,
    None,
}

/// Makes sure of all of them: says what is there, installs what is missing, and looks again.
pub(crate) fn ensure(needs: &[Need], runner: &Runner) -> Result<(), Failure> {
    let missing = missing(needs, runner)?;
    install_components(&names(&missing, Source::Component), runner)?;
    install_packages(&names(&missing, Source::Package), runner)?;
    for need in &missing {
        if !is_there(need, runner)? {
            return Err(Failure::Found(format!(
                "{} was installed, and `{}` still fails",
                need.name,
                need.probe.join(" ")
            )));
        }
    }
    Ok(())
}

fn missing(needs: &[Need], runner: &Runner) -> Result<Vec<Need>, Failure> {
    let mut missing = Vec::new();
    for need in needs {
        let there = is_there(need, runner)?;
        println!(
            "{:<12} {}",
            need.name,
            if there { "is there" } else { "is missing" }
        );
        if !there {
            missing.push(*need);
        }
    }
    Ok(missing)
}

fn is_there(need: &Need, runner: &Runner) -> Result<bool, Failure> {
    let (program, arguments) = need.probe.split_first().expect("a probe names a program");
    runner.succeeds(Command::new(program).args(arguments), Bound::of(PROBE))
}

fn names(needs: &[Need], source: Source) -> Vec<&'static str> {
    let of_source = needs.iter().filter(|need| need.source == source);
    of_source.map(|need| need.name).collect()
}

fn install_components(names: &[&str], runner: &Runner) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    if !runner.succeeds(Command::new("rustup").arg("--version"), Bound::of(PROBE))? {
        return Err(Failure::Found(format!(
            "{} missing, and there is no rustup here to add it: install it where this Rust came from",
            names.join(" and ")
        )));
    }
    let mut command = Command::new("rustup");
    runner.run(
        command.args(["component", "add"]).args(names),
        Bound::of(INSTALL),
    )
}

fn install_packages(names: &[&str], runner: &Runner) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    let has_apt = runner.succeeds(Command::new("apt-get").arg("--version"), Bound::of(PROBE))?;
    let rights = rights(runner)?;
    if !has_apt || rights == Rights::None {
        return Err(Failure::Found(advice(names, has_apt)));
    }
    runner.run(&mut apt_get(rights, &["update"]), Bound::of(INSTALL))?;
    let mut install = apt_get(rights, &["install", "--yes", "--no-install-recommends"]);
    runner.run(install.args(names), Bound::of(INSTALL))
}

/// What to do where we can't do it.
fn advice(names: &[&str], has_apt: bool) -> String {
    let list = names.join(" ");
    if has_apt {
        format!(
            "{list}: missing, and this user may not install packages. Run: sudo apt-get install {list}"
        )
    } else {
        format!(
            "{list}: missing, and there is no apt-get here: install it with the system's own package manager"
        )
    }
}

fn rights(runner: &Runner) -> Result<Rights, Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(Rights::Root);
    }
    let by_sudo = runner.succeeds(Command::new("sudo").args(["-n", "true"]), Bound::of(PROBE))?;
    Ok(if by_sudo { Rights::Sudo } else { Rights::None })
}

/// A call of apt-get that asks no questions, and waits a bounded time for another one's lock.
fn apt_get(rights: Rights, arguments: &[&str]) -> Command {
    let mut command = Command::new(if rights == Rights::Sudo {
        "sudo"
    } else {
        "env"
    });
    if rights == Rights::Sudo {
        command.args(["-n", "env"]);
    }
    command
        .args([
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "-o",
            "DPkg::Lock::Timeout=300",
        ])
        .args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_right_to_install_the_one_command_is_named() {
        assert_eq!(
            advice(&["git", "python3"], true),
            "git python3: missing, and this user may not install packages. Run: sudo apt-get install git python3"
        );
    }

    #[test]
    fn components_and_packages_are_told_apart() {
        let needs = [RUSTFMT, PYTHON, CLIPPY, GIT];
        assert_eq!(names(&needs, Source::Component), ["rustfmt", "clippy"]);
        assert_eq!(names(&needs, Source::Package), ["python3", "git"]);
    }

    #[test]
    fn apt_get_asks_nothing_as_root_and_by_sudo() {
        for (rights, program) in [(Rights::Root, "env"), (Rights::Sudo, "sudo")] {
            let command = apt_get(rights, &["update"]);
            assert_eq!(command.get_program(), program);
            let words: Vec<_> = command.get_args().collect();
            assert!(words.contains(&"DEBIAN_FRONTEND=noninteractive".as_ref()));
            assert_eq!(words.last(), Some(&"update".as_ref()));
        }
    }
}
