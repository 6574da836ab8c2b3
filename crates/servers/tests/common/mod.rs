//! Other people's clients, which ask our servers how they are.

#![allow(dead_code, reason = "each test program uses some of them")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};

/// What `redis-cli` prints for a command.
pub(crate) fn redis(port: u16, words: &[&str]) -> String {
    let port = port.to_string();
    let output = Command::new("redis-cli")
        .args(["-h", "127.0.0.1", "-p", &port])
        .args(words)
        .output()
        .expect("redis-cli is there");
    text(&output)
}

/// Whether a replica has, within that time, all that its master holds now.
pub(crate) fn is_replicated(master: u16, within: Duration) -> bool {
    let mut client = Command::new("redis-cli")
        .args(["-h", "127.0.0.1", "-p", &master.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("redis-cli is there");
    // WAIT speaks of what was written before the last command of its own connection, so that takes a command.
    let commands = format!("PING\nWAIT 1 {}\n", within.as_millis());
    let mut stdin = client.stdin.take().expect("it is piped");
    stdin.write_all(commands.as_bytes()).expect("it reads");
    drop(stdin);
    match text(&client.wait_with_output().expect("it ends")).as_str() {
        "PONG\n1" => true,
        "PONG\n0" => false,
        other => panic!("{other}"),
    }
}

/// What `psql` prints for a statement: rows without a frame, or the error.
pub(crate) fn sql(url: &str, statement: &str) -> String {
    let output = Command::new("psql")
        .args([url, "-AtXc", statement])
        .env("PGCONNECT_TIMEOUT", "10")
        .output()
        .expect("psql is there");
    text(&output)
}

fn text(output: &Output) -> String {
    let bytes = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// Whether a process runs, or is stopped. What is left of one that has ended does not count.
pub(crate) fn lives(pid: u32) -> bool {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    test_kill_process(number.expect("a process id")).is_ok() && !stat.contains(") Z ")
}

/// Waits until it is so, for 30 seconds at most.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let ends = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < ends, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The directory in which a process runs.
pub(crate) fn directory(pid: u32) -> std::path::PathBuf {
    std::fs::read_link(format!("/proc/{pid}/cwd")).expect("it runs")
}

/// Whether nothing is left of a server.
pub(crate) fn is_gone(pid: u32, directory: &Path) -> bool {
    !lives(pid) && !directory.exists()
}

/// Lets every user work in a directory.
pub(crate) fn open_to_all(directory: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let all = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(directory, all).expect("it is ours");
}
