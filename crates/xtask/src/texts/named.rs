//! Functions that a Markdown text names by their file, as `` `tests/tests/transfers/once.rs::a_retry` ``.
//!
//! A page that says which test shows what is right only for as long as those tests are there.

use std::path::Path;

/// A function that a text names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    /// The number of its line, from 1.
    pub(crate) line: usize,
    /// Its file, from the root of the repository.
    pub(crate) file: &'a str,
    /// Its name.
    pub(crate) function: &'a str,
}

/// All of them, in their order: code spans of one line that are a path of a Rust file, two colons and a name.
pub(crate) fn functions(text: &str) -> Vec<Named<'_>> {
    let mut all = Vec::new();
    for (line, number) in text.lines().zip(1_usize..) {
        // What stands between two backticks is every second part.
        for span in line.split('`').skip(1).step_by(2) {
            let Some((file, function)) = span.split_once(".rs::") else {
                continue;
            };
            let file = &span[..file.len() + ".rs".len()];
            if file.contains('/') {
                all.push(Named {
                    line: number,
                    file,
                    function,
                });
            }
        }
    }
    all
}

/// Says why there is no such function. `source` reads a file of the repository, if it is there.
pub(crate) fn resolve(
    named: &Named<'_>,
    source: impl Fn(&Path) -> Option<String>,
) -> Result<(), &'static str> {
    let source = source(Path::new(named.file)).ok_or("is in a file that isn't there")?;
    if source.lines().any(|line| defines(line, named.function)) {
        Ok(())
    } else {
        Err("is no function of that file")
    }
}

/// The line begins this function: with a body of its own, and not in a comment.
fn defines(line: &str, function: &str) -> bool {
    let line = line.trim_start();
    !line.starts_with("//")
        && line.split_once("fn ").is_some_and(|(before, after)| {
            (before.is_empty() || before.ends_with(' '))
                && after
                    .strip_prefix(function)
                    .is_some_and(|rest| rest.starts_with(['(', '<']))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! fn in_a_comment() of this file
#[tokio::test]
async fn it_runs() {}
    pub(crate) fn inner<T>(of: T) {}
let not_it = \"it_runs_twice\";
";

    fn resolves(text: &str) -> Vec<Result<(), &'static str>> {
        let source = |path: &Path| (path == Path::new("tests/a.rs")).then(|| SOURCE.to_owned());
        let all = functions(text);
        all.iter().map(|named| resolve(named, source)).collect()
    }

    #[test]
    fn a_function_is_named_by_its_file_in_a_code_span() {
        let text = "plain\n| 1 | `tests/a.rs::it_runs`, `tests/b.rs::x` | `a.rs` `std::fmt` |\n";
        let expected = [("tests/a.rs", "it_runs"), ("tests/b.rs", "x")];
        let named = functions(text);
        assert!(named.iter().all(|named| named.line == 2));
        let named: Vec<_> = named.iter().map(|n| (n.file, n.function)).collect();
        assert_eq!(named, expected);
    }

    #[test]
    fn what_stands_in_no_span_or_has_no_path_is_not_named() {
        let text = "tests/a.rs::it_runs and `it_runs` and `a.rs::it_runs` and `crate::store`";
        assert_eq!(functions(text), []);
    }

    #[test]
    fn a_function_that_is_there_is_found_however_it_is_declared() {
        for text in ["`tests/a.rs::it_runs`", "`tests/a.rs::inner`"] {
            assert_eq!(resolves(text), [Ok(())], "{text}");
        }
    }

    #[test]
    fn one_that_is_not_there_is_told_apart_from_a_file_that_is_not() {
        for name in ["it_run", "it_runs_twice", "in_a_comment", "", "runs"] {
            let text = format!("`tests/a.rs::{name}`");
            assert_eq!(
                resolves(&text),
                [Err("is no function of that file")],
                "{text}"
            );
        }
        assert_eq!(
            resolves("`tests/b.rs::it_runs`"),
            [Err("is in a file that isn't there")]
        );
    }
}
