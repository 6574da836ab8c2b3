//! A check of the tree itself: what no compiler looks at.
//!
//! Rules, for the files that git tracks: none names a directory of somebody's machine, no Rust source holds a
//! placeholder or a debug print, every relative link of a Markdown file leads to something that exists, and every
//! function that a Markdown file names by its file is there.
//!
//! Caveats: files that are not UTF-8 are passed over. Anchors of links, links in HTML, and links to other sites are not
//! followed.

mod forbidden;
mod links;
mod named;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::{Bound, Failure, Runner};

/// Checks every tracked file under the root. Gives a line that says how much was looked at.
pub(crate) fn check(root: &Path, runner: &Runner, bound: Bound) -> Result<String, Failure> {
    let files = tracked(root, runner, bound)?;
    let mut faults = Vec::new();
    let mut read = 0_usize;
    let mut links = 0_usize;
    for file in &files {
        runner.checkpoint()?;
        // Deleted and not yet committed, or a link to a directory, or not a text: nothing to read.
        let Ok(text) = fs::read_to_string(root.join(file)) else {
            continue;
        };
        read += 1;
        links += look(root, file, &text, &mut faults);
    }
    if faults.is_empty() {
        return Ok(format!(
            "{read} texts and {links} relative links are in order"
        ));
    }
    Err(Failure::Found(format!(
        "found {}:
  {}",
        faults.len(),
        faults.join(
            "
  "
        )
    )))
}

/// Adds the faults of one file, and gives the number of its relative links.
fn look(root: &Path, file: &str, text: &str, faults: &mut Vec<String>) -> usize {
    let mut add = |line: usize, what: String| faults.push(format!("{file}:{line}: {what}"));
    for (line, path) in forbidden::machine_paths(text) {
        add(line, format!("a path of somebody's machine: `{path}`"));
    }
    if has_extension(file, "rs") {
        for (line, name) in forbidden::unfinished(text) {
            add(line, format!("`{name}` does not belong into the tree"));
        }
    }
    if !has_extension(file, "md") {
        return 0;
    }
    for named in named::functions(text) {
        let source = |path: &Path| fs::read_to_string(root.join(path)).ok();
        if let Err(why) = named::resolve(&named, source) {
            add(
                named.line,
                format!("`{}::{}` {why}", named.file, named.function),
            );
        }
    }
    let links = links::relative(text);
    for link in &links {
        if let Err(why) = links::resolve(file, &link.target, |path| root.join(path).exists()) {
            add(link.line, format!("the link `{}` {why}", link.target));
        }
    }
    links.len()
}

/// The files that git tracks, from the root, with `/` between directories.
fn tracked(root: &Path, runner: &Runner, bound: Bound) -> Result<Vec<String>, Failure> {
    let mut command = Command::new("git");
    command
        .current_dir(root)
        // Continuous integration often checks out as one user and runs as another, which git else refuses to read.
        .args(["-c", "safe.directory=*", "ls-files", "-z"]);
    let bytes = runner.read(&mut command, bound)?;
    let files: Vec<String> = bytes
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    if files.is_empty() {
        return Err(Failure::Found("git tracks no file here".into()));
    }
    Ok(files)
}

fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|ending| ending == extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(file: &str, text: &str) -> Vec<String> {
        let mut faults = Vec::new();
        look(
            Path::new(env!("CARGO_MANIFEST_DIR")),
            file,
            text,
            &mut faults,
        );
        faults
    }

    #[test]
    fn a_fault_names_file_and_line() {
        assert_eq!(
            faults("guide.md", "fine\n[gone](src/gone.rs)"),
            ["guide.md:2: the link `src/gone.rs` leads to nothing"]
        );
    }

    #[test]
    fn a_function_that_is_named_and_not_there_is_a_fault() {
        assert_eq!(
            faults(
                "guide.md",
                "`src/texts/mod.rs::gone` and `src/texts/mod.rs::look`"
            ),
            ["guide.md:1: `src/texts/mod.rs::gone` is no function of that file"]
        );
    }

    #[test]
    fn links_are_read_in_markdown_and_placeholders_in_rust_only() {
        let placeholder = format!("{}!()", "todo");
        assert_eq!(
            faults("notes.txt", &format!("[gone](gone.md) {placeholder}")),
            [""; 0]
        );
        assert_eq!(faults("a.rs", &placeholder).len(), 1);
        assert_eq!(faults("a.rs", "//! [gone](gone.md)"), [""; 0]);
    }
}
