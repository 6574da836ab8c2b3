//! Words that must not be in a file. They are put together here from parts, so that this file passes its own check.

/// Top directories under which people and machines keep what is theirs.
const DIRECTORIES: [&str; 4] = ["home", "root", "work", "Users"];
/// Macros that stand for work not done, or print for the person who debugs.
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Absolute paths into a home or work directory, each with the number of its line.
pub(crate) fn machine_paths(text: &str) -> Vec<(usize, String)> {
    let patterns = DIRECTORIES.map(|name| format!("/{name}/"));
    hits(text, |line| {
        patterns
            .iter()
            .flat_map(|pattern| paths_with(pattern, line))
            .collect()
    })
}

/// Calls of macros that stand for work not done, each with the number of its line.
pub(crate) fn unfinished(text: &str) -> Vec<(usize, String)> {
    hits(text, |line| {
        let found = MACROS.iter().filter(|name| calls(name, line));
        found.map(|name| format!("{name}!")).collect()
    })
}

fn hits(text: &str, find: impl Fn(&str) -> Vec<String>) -> Vec<(usize, String)> {
    let numbered = text.lines().zip(1_usize..);
    numbered
        .flat_map(|(line, number)| find(line).into_iter().map(move |hit| (number, hit)))
        .collect()
}

/// The pattern starts a path (before it stands no part of a longer one) and something follows in it.
fn paths_with(pattern: &str, line: &str) -> Vec<String> {
    line.match_indices(pattern)
        .filter(|(start, _)| !line[..*start].ends_with(is_of_path))
        .map(|(start, _)| {
            line[start..]
                .chars()
                .take_while(|c| is_of_path(*c) || *c == '/')
                .collect()
        })
        .filter(|path: &String| path.len() > pattern.len())
        .collect()
}

fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || "_-.~$+@{}".contains(c)
}

fn calls(name: &str, line: &str) -> bool {
    let called = format!("{name}!");
    line.match_indices(&called).any(|(start, _)| {
        let is_whole = !line[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = line[start + called.len()..].trim_start();
        is_whole && after.starts_with(['(', '[', '{'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path under a top directory, so that none is spelled out in this file.
    fn under(directory: &str, rest: &str) -> String {
        format!("/{directory}/{rest}")
    }

    #[test]
    fn a_path_of_a_machine_is_found_with_its_line() {
        for directory in DIRECTORIES {
            let path = under(directory, "ann/project");
            for around in [
                ("", ""),
                ("\"", "\""),
                ("file://", ""),
                ("cd ", " && ls"),
                ("`", "`"),
                ("C:", ""),
            ] {
                let text = format!("first\n{}{path}{}", around.0, around.1);
                assert_eq!(machine_paths(&text), [(2, path.clone())], "{text}");
            }
        }
    }

    #[test]
    fn two_paths_on_a_line_are_two_hits() {
        let text = format!("{} {}", under("home", "ann"), under("home", "bob"));
        assert_eq!(machine_paths(&text).len(), 2);
    }

    #[test]
    fn a_part_of_a_longer_path_and_a_bare_directory_are_no_path_of_a_machine() {
        for text in [
            format!("https://example.org{}", under("home", "page")),
            format!("docs{}", under("work", "plan.md")),
            format!("${{DIR}}{}", under("work", "plan.md")),
            format!("..{}", under("root", "x")),
            format!("the directory {} itself", under("home", "")),
        ] {
            assert_eq!(machine_paths(&text), [], "{text}");
        }
    }

    #[test]
    fn a_call_of_an_unfinished_macro_is_found_in_every_spelling() {
        for name in MACROS {
            for call in ["(", " (\"later\")", "[]", " {}"] {
                let text = format!("fn f() {{\n    {name}!{call}");
                assert_eq!(unfinished(&text), [(2, format!("{name}!"))], "{text}");
            }
            assert_eq!(unfinished(&format!("std::{name}!()")).len(), 1);
        }
    }

    #[test]
    fn other_macros_and_plain_words_are_not_unfinished() {
        for name in MACROS {
            for text in [
                format!("my_{name}!()"),
                format!("{name} = 1"),
                format!("a {name}! of joy"),
            ] {
                assert_eq!(unfinished(&text), [], "{text}");
            }
        }
    }
}
