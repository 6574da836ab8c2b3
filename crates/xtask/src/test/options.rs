//! What `cargo xtask test` was asked to do.

use super::step::Step;

/// The options, understood.
#[derive(Debug)]
pub(crate) enum Options {
    /// Name the steps.
    List,
    /// Run these, in the order of the table.
    Run(Vec<&'static Step>),
}

impl Options {
    /// Understands the arguments, or says what is wrong with them.
    pub(crate) fn parse(arguments: &[String], steps: &'static [Step]) -> Result<Self, String> {
        let mut list = false;
        let mut only: Option<Vec<&str>> = None;
        let mut words = arguments.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let names = match word {
                "--list" => {
                    list = true;
                    continue;
                }
                "--only" => words.next().ok_or("`--only` wants the name of a step")?,
                _ => word
                    .strip_prefix("--only=")
                    .ok_or_else(|| format!("`{word}` is no option of `cargo xtask test`"))?,
            };
            only.get_or_insert_default().extend(names.split(','));
        }
        if list {
            return Ok(Self::List);
        }
        let Some(only) = only else {
            return Ok(Self::Run(steps.iter().collect()));
        };
        let is_known = |name: &&str| steps.iter().any(|step| step.name == *name);
        if let Some(name) = only.iter().find(|name| !is_known(name)) {
            return Err(format!("there is no step `{name}`"));
        }
        let is_chosen = |step: &&Step| only.contains(&step.name);
        Ok(Self::Run(steps.iter().filter(is_chosen).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::STEPS;
    use super::*;

    fn chosen(words: &[&str]) -> Result<Vec<&'static str>, String> {
        let arguments: Vec<String> = words.iter().map(ToString::to_string).collect();
        match Options::parse(&arguments, STEPS)? {
            Options::List => Ok(vec!["--list"]),
            Options::Run(steps) => Ok(steps.iter().map(|step| step.name).collect()),
        }
    }

    #[test]
    fn without_options_every_step_runs() {
        let all: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(chosen(&[]), Ok(all));
    }

    #[test]
    fn only_takes_steps_in_every_spelling_and_keeps_the_order_of_the_table() {
        let both = Ok(vec!["format", "clippy"]);
        assert_eq!(chosen(&["--only", "clippy,format"]), both);
        assert_eq!(chosen(&["--only=format,clippy"]), both);
        assert_eq!(
            chosen(&["--only", "clippy", "--only=format", "--only", "clippy"]),
            both
        );
    }

    #[test]
    fn a_step_that_does_not_exist_is_named() {
        for words in [&["--only", "format,lint"][..], &["--only=lint"]] {
            assert_eq!(chosen(words), Err("there is no step `lint`".into()));
        }
        assert_eq!(chosen(&["--only", ""]), Err("there is no step ``".into()));
    }

    #[test]
    fn only_without_a_name_and_unknown_options_are_refused() {
        assert_eq!(
            chosen(&["--only"]),
            Err("`--only` wants the name of a step".into())
        );
        for word in ["--fast", "clippy", "--onlyformat"] {
            let message = chosen(&[word]).expect_err("no such option");
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn list_runs_nothing() {
        assert_eq!(chosen(&["--list"]), Ok(vec!["--list"]));
        assert_eq!(chosen(&["--only", "format", "--list"]), Ok(vec!["--list"]));
    }
}
