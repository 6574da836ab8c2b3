//! What a step is.

use std::time::Duration;

use crate::needs::Need;
use crate::run::{Bound, Failure, Runner};
use crate::workspace::Workspace;

/// What every step works with.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) runner: Runner,
    pub(crate) workspace: Workspace,
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
    may_be_absent: bool,
}

/// A part of the project that a step stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// A member of the workspace, by its name.
    Package(&'static str),
    /// A file, from the root.
    File(&'static str),
}

/// A part that is not there, named.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// The step may still find it missing: it has nothing to do.
    Expected(String),
    /// It has to be there: the step fails.
    Fault(String),
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
            may_be_absent: false,
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

    /// For a part that is not built yet: if it is missing, the step has nothing to do. To be deleted when it is there.
    pub(crate) const fn if_present(mut self) -> Self {
        self.may_be_absent = true;
        self
    }

    /// What is missing of what the step stands on.
    pub(crate) fn absence(&self, workspace: &Workspace) -> Option<Absence> {
        let part = self.stands_on?;
        if part.is_in(workspace) {
            return None;
        }
        let name = part.name();
        Some(if self.may_be_absent {
            Absence::Expected(name)
        } else {
            Absence::Fault(name)
        })
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

    fn absence(step: &Step) -> Option<Absence> {
        let runner = Runner::deaf();
        step.absence(&Workspace::load(&runner).expect("cargo answers"))
    }

    #[test]
    fn a_missing_part_is_a_fault_unless_it_is_marked_as_not_built_yet() {
        let missing = Part::File("no/such/file");
        let step = Step::new("s", "", 1, nothing).stands_on(missing);
        let name = "file `no/such/file`".to_owned();
        assert_eq!(absence(&step), Some(Absence::Fault(name.clone())));
        assert_eq!(absence(&step.if_present()), Some(Absence::Expected(name)));
    }

    #[test]
    fn a_part_that_is_there_is_not_absent() {
        for part in [Part::File("Cargo.toml"), Part::Package("xtask")] {
            assert_eq!(
                absence(&Step::new("s", "", 1, nothing).stands_on(part)),
                None
            );
        }
    }
}
