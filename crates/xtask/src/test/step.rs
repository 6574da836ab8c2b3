//! What a step is.

use std::cell::OnceCell;
use std::time::Duration;

use counterfoil_servers::SharedServers;

use crate::needs::Need;
use crate::run::{Bound, Failure, Runner};
use crate::servers;
use crate::workspace::Workspace;

/// What every step works with.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) runner: Runner,
    pub(crate) workspace: Workspace,
    /// Empty until the first step that asks for them.
    servers: OnceCell<SharedServers>,
}

impl Context {
    pub(crate) fn new(runner: Runner, workspace: Workspace) -> Self {
        Self {
            runner,
            workspace,
            servers: OnceCell::new(),
        }
    }

    /// The servers that all tests share. The first step that asks waits for their start; they end with the run.
    pub(crate) fn servers(&self) -> Result<&SharedServers, Failure> {
        if let Some(servers) = self.servers.get() {
            return Ok(servers);
        }
        let servers = servers::for_tests(&self.runner)?;
        Ok(self.servers.get_or_init(|| servers))
    }
}

/// Something that either passes or fails, by itself.
#[derive(Debug)]
pub(crate) struct Step {
    /// What `--only` calls it.
    pub(crate) name: &'static str,
    /// What it does, in a few words.
    pub(crate) about: &'static str,
    /// The tools that it needs besides Rust.
    pub(crate) needs: &'static [Need],
    /// How long all of it may take.
    pub(crate) bound: Duration,
    /// Does it.
    pub(crate) run: fn(&Context, Bound) -> Result<(), Failure>,
    stands_on: Option<Part>,
}

/// A part of the project that a step stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// A member of the workspace, by its name.
    Package(&'static str),
    /// A file, from the root.
    File(&'static str),
}

impl Step {
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        minutes: u64,
        run: fn(&Context, Bound) -> Result<(), Failure>,
    ) -> Self {
        Self {
            name,
            about,
            needs: &[],
            bound: Duration::from_secs(minutes * 60),
            run,
            stands_on: None,
        }
    }

    /// The tools that it needs besides Rust.
    pub(crate) const fn needs(mut self, needs: &'static [Need]) -> Self {
        self.needs = needs;
        self
    }

    /// It fails if that part of the project is missing.
    pub(crate) const fn stands_on(mut self, part: Part) -> Self {
        self.stands_on = Some(part);
        self
    }

    /// What is missing of what the step stands on, named.
    pub(crate) fn missing(&self, workspace: &Workspace) -> Option<String> {
        self.stands_on
            .filter(|part| !part.is_in(workspace))
            .map(Part::name)
    }
}

impl Part {
    fn is_in(self, workspace: &Workspace) -> bool {
        match self {
            Self::Package(name) => workspace.has_package(name),
            Self::File(path) => workspace.root().join(path).is_file(),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Package(name) => format!("package `{name}`"),
            Self::File(path) => format!("file `{path}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &Context, _: Bound) -> Result<(), Failure> {
        Ok(())
    }

    fn missing(part: Part) -> Option<String> {
        let runner = Runner::deaf();
        let workspace = Workspace::load(&runner).expect("cargo answers");
        Step::new("s", "", 1, nothing)
            .stands_on(part)
            .missing(&workspace)
    }

    #[test]
    fn a_missing_part_is_named() {
        let name = Some("file `no/such/file`".to_owned());
        assert_eq!(missing(Part::File("no/such/file")), name);
        let name = Some("package `no-such-package`".to_owned());
        assert_eq!(missing(Part::Package("no-such-package")), name);
    }

    #[test]
    fn a_part_that_is_there_is_not_missing() {
        for part in [Part::File("Cargo.toml"), Part::Package("xtask")] {
            assert_eq!(missing(part), None);
        }
    }
}
