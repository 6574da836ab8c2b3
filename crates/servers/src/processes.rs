//! Looks into the system's table of processes: who lives, who is stopped, who is whose child.
//!
//! Linux shows it as files. Elsewhere `ps` is asked.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Pid;

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs, or waits for something.
    Runs,
    /// It was stopped by a signal.
    Stopped,
    /// It is gone, or nothing but its exit status is left.
    Gone,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    pid: i32,
    parent: i32,
    state: State,
}

/// What this process does now.
pub(crate) fn state(pid: Pid) -> State {
    let number = pid.as_raw_pid();
    let row = if has_files() {
        from_file(&format!("/proc/{number}/stat"))
    } else {
        from_ps().into_iter().find(|row| row.pid == number)
    };
    row.map_or(State::Gone, |row| row.state)
}

/// The living children of a process. If it is stopped, there will be no others.
pub(crate) fn children(parent: Pid) -> Vec<Pid> {
    let rows = if has_files() { from_files() } else { from_ps() };
    rows.into_iter()
        .filter(|row| row.parent == parent.as_raw_pid() && row.state != State::Gone)
        .filter_map(|row| Pid::from_raw(row.pid))
        .collect()
}

fn has_files() -> bool {
    Path::new("/proc/self/stat").exists()
}

fn from_files() -> Vec<Row> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let name = entry.file_name();
            name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
        })
        .filter_map(|entry| from_file(&entry.path().join("stat").to_string_lossy()))
        .collect()
}

fn from_file(path: &str) -> Option<Row> {
    // It vanishes with the process, between any two calls.
    parse_stat(&fs::read_to_string(path).ok()?)
}

/// `PID (NAME) STATE PARENT …`, where the name may contain anything.
fn parse_stat(text: &str) -> Option<Row> {
    let (pid, rest) = text.split_once(" (")?;
    let (_, rest) = rest.rsplit_once(") ")?;
    let mut words = rest.split(' ');
    let state = words.next()?;
    parse(pid, words.next()?, state)
}

fn from_ps() -> Vec<Row> {
    let arguments = ["-A", "-o", "pid=", "-o", "ppid=", "-o", "stat="];
    let output = Command::new("ps").args(arguments).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(parse_line)
        .collect()
}

fn parse_line(line: &str) -> Option<Row> {
    let mut words = line.split_whitespace();
    parse(words.next()?, words.next()?, words.next()?)
}

fn parse(pid: &str, parent: &str, state: &str) -> Option<Row> {
    let state = match state.as_bytes().first()? {
        b'T' | b't' => State::Stopped,
        b'Z' | b'X' | b'x' => State::Gone,
        _ => State::Runs,
    };
    Some(Row {
        pid: pid.parse().ok()?,
        parent: parent.parse().ok()?,
        state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_words() {
        assert_eq!(
            parse_stat("7 (a) S 9 (b)) T 3 7 7 0"),
            Some(Row {
                pid: 7,
                parent: 3,
                state: State::Stopped
            })
        );
    }

    #[test]
    fn a_line_of_ps_is_understood() {
        assert_eq!(
            parse_line("   12     1 Ss+"),
            Some(Row {
                pid: 12,
                parent: 1,
                state: State::Runs
            })
        );
    }

    #[test]
    fn a_child_is_found_among_ours_until_it_is_gone() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("it starts");
        let pid = Pid::from_child(&child);
        let this = rustix::process::getpid();
        assert!(children(this).contains(&pid));
        assert_eq!(state(pid), State::Runs);
        child.kill().expect("it is ours");
        while state(pid) != State::Gone {
            std::thread::yield_now();
        }
        assert!(!children(this).contains(&pid), "a zombie is no child");
        child.wait().expect("it has ended");
    }
}
