//! Relative links of Markdown files, and where they lead.
//!
//! Read are inline links and images, and definitions of references. Code, fenced or inline, holds no links. What has a
//! scheme (`https:`, or the `crate::` of rustdoc) and what only has an anchor is no relative link.

use std::path::{Component, Path, PathBuf};

/// A relative link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The number of its line, from 1.
    pub(crate) line: usize,
    /// As it is written.
    pub(crate) target: String,
}

/// The relative links of a Markdown text, in their order.
pub(crate) fn relative(text: &str) -> Vec<Link> {
    let text = without_code(text);
    let mut links = Vec::new();
    for (line, number) in text.lines().zip(1_usize..) {
        let inline = line
            .match_indices("](")
            .map(|(start, _)| &line[start + 2..]);
        let targets = inline.chain(definition(line)).filter_map(destination);
        links.extend(
            targets
                .filter(|target| is_relative(target))
                .map(|target| Link {
                    line: number,
                    target,
                }),
        );
    }
    links
}

/// Says why a link of a file (named from the root) leads nowhere. A leading `/` stands for the root of the repository.
pub(crate) fn resolve(
    file: &str,
    target: &str,
    exists: impl Fn(&Path) -> bool,
) -> Result<(), &'static str> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let path = percent_decoded(path).ok_or("is not a path")?;
    let from_root = match path.strip_prefix('/') {
        Some(path) => PathBuf::from(path),
        None => Path::new(file).parent().unwrap_or(Path::new("")).join(path),
    };
    let path = normalized(&from_root).ok_or("leaves the repository")?;
    if exists(&path) {
        Ok(())
    } else {
        Err("leads to nothing")
    }
}

/// The text with all code blanked, and the lines where they were.
fn without_code(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let mark = fence_mark(line);
        match (fence, mark) {
            (None, None) => kept.push_str(line),
            (None, Some(_)) => fence = mark,
            // As long as the one that opened it, of the same sign, and nothing behind it.
            (Some(open), Some(close)) if close.starts_with(open) && line.trim() == close => {
                fence = None
            }
            (Some(_), _) => {}
        }
        kept.push('\n');
    }
    without_spans(&kept)
}

/// The run of signs that opens or closes fenced code.
fn fence_mark(line: &str) -> Option<&str> {
    // A fence inside a quote or a list item is indented or marked.
    let line = line.trim_start_matches([' ', '\t', '>']);
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(sign).len();
    // Signs behind an opening of backticks make it a code span.
    let is_span = sign == '`' && line[length..].contains('`');
    (length >= 3 && !is_span).then(|| &line[..length])
}

/// The text with code spans blanked. A span ends at a run of as many backticks as began it, before the next empty line.
fn without_spans(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        kept.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = rest.len() - rest.trim_start_matches('`').len();
        let body = &rest[length..];
        match span_end(body, length) {
            Some(end) => {
                kept.extend(body[..end].chars().filter(|c| *c == '\n'));
                rest = &body[end + length..];
            }
            None => {
                kept.push_str(&rest[..length]);
                rest = body;
            }
        }
    }
    kept.push_str(rest);
    kept
}

fn span_end(body: &str, length: usize) -> Option<usize> {
    let paragraph = &body[..body.find("\n\n").unwrap_or(body.len())];
    let mut from = 0;
    while let Some(found) = paragraph[from..].find('`') {
        let start = from + found;
        let run = paragraph.len() - start - paragraph[start..].trim_start_matches('`').len();
        if run == length {
            return Some(start);
        }
        from = start + run;
    }
    None
}

/// What stands behind the colon of a reference's definition. Footnotes (`[^1]:`) hold text.
fn definition(line: &str) -> Option<&str> {
    let label = line.trim_start().strip_prefix('[')?;
    let (label, rest) = label.split_once("]:")?;
    (!label.starts_with('^') && !label.contains(']')).then_some(rest)
}

/// The destination at the start of the text: in angle brackets, or up to white space or the parenthesis that closes.
fn destination(text: &str) -> Option<String> {
    let text = text.trim_start();
    if let Some(angled) = text.strip_prefix('<') {
        return angled.split_once('>').map(|(target, _)| target.to_owned());
    }
    let mut depth = 0_usize;
    let mut target = String::new();
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => {
                target.extend(signs.next());
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            _ if sign.is_whitespace() => break,
            _ => {}
        }
        target.push(sign);
    }
    (!target.is_empty()).then_some(target)
}

fn is_relative(target: &str) -> bool {
    let has_scheme = target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-._".contains(c))
    });
    !has_scheme && !target.starts_with('#') && !target.starts_with("//")
}

fn percent_decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The path with `.` and `..` worked in; none if it climbs above the root.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if parts.pop() => {}
            Component::Normal(name) => parts.push(name),
            _ => return None,
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<String> {
        relative(text).into_iter().map(|link| link.target).collect()
    }

    fn resolves(file: &str, target: &str) -> Result<(), &'static str> {
        let tree = ["README.md", "docs", "docs/path.md", "docs/a b.md", ""];
        resolve(file, target, |path| {
            tree.iter().any(|there| Path::new(there) == path)
        })
    }

    #[test]
    fn links_images_and_definitions_are_read_with_their_lines() {
        let text = "[a](one.md)\n\n![b](two.png \"title\") and [c](<three 3.md>)\n[d]: four.md 'title'\n[^1]: five.md\n";
        let lines: Vec<_> = relative(text)
            .into_iter()
            .map(|link| (link.line, link.target))
            .collect();
        let expected = [
            (1, "one.md"),
            (3, "two.png"),
            (3, "three 3.md"),
            (4, "four.md"),
        ];
        assert_eq!(
            lines,
            expected.map(|(line, target)| (line, target.to_owned()))
        );
    }

    #[test]
    fn a_linked_image_is_two_links() {
        assert_eq!(targets("[![b](b.svg)](ci.md)"), ["b.svg", "ci.md"]);
    }

    #[test]
    fn parentheses_inside_a_target_belong_to_it() {
        assert_eq!(targets(r"([x](a(1).md)) [y](b\).md)"), ["a(1).md", "b).md"]);
    }

    #[test]
    fn other_sites_anchors_and_rustdoc_paths_are_not_relative() {
        let text = "[a](https://example.org/x) [b](mailto:a@example.org) [c](#top) [d](crate::Store) [e](//example.org)";
        assert_eq!(targets(text), [""; 0]);
    }

    #[test]
    fn code_holds_no_links() {
        let text =
            "```rust\n[a](no.md)\n~~~\n[a](no.md)\n```\n`[b](no.md)` ``[c](`no.md)`` [d](yes.md)\n";
        assert_eq!(
            relative(text),
            [Link {
                line: 6,
                target: "yes.md".into()
            }]
        );
        assert_eq!(
            targets("````\n```\n[a](no.md)\n````\n[b](yes.md)"),
            ["yes.md"]
        );
        assert_eq!(
            targets("- item\n  ```\n  [a](no.md)\n  ```\n[b](yes.md)"),
            ["yes.md"]
        );
    }

    #[test]
    fn a_lone_backtick_hides_nothing() {
        assert_eq!(targets("a ` here\n\n[a](yes.md) and ` there"), ["yes.md"]);
    }

    #[test]
    fn a_link_is_followed_from_its_own_file_or_from_the_root() {
        for (file, target) in [
            ("README.md", "docs/path.md"),
            ("README.md", "./docs/"),
            ("docs/path.md", "../README.md#the-map"),
            ("docs/path.md", "path.md?plain=1"),
            ("docs/path.md", "a%20b.md"),
            ("docs/path.md", "/README.md"),
            ("docs/path.md", ".."),
        ] {
            assert_eq!(resolves(file, target), Ok(()), "{target} in {file}");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_told_apart_from_one_that_leaves_the_repository() {
        assert_eq!(resolves("README.md", "path.md"), Err("leads to nothing"));
        assert_eq!(
            resolves("docs/path.md", "README.md"),
            Err("leads to nothing")
        );
        assert_eq!(
            resolves("docs/path.md", "../../README.md"),
            Err("leaves the repository")
        );
        assert_eq!(resolves("docs/path.md", "%zz.md"), Err("is not a path"));
    }
}
