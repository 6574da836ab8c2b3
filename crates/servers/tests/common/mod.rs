//! Other people's clients, which ask our servers how they are.

#![allow(dead_code, reason = "each test program uses some of them")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};

/// How long anything may take here.
const BOUND: Duration = Duration::from_secs(90);

/// What `redis-cli` prints for a command.
pub(crate) fn redis(port: u16, words: &[&str]) -> String {
    output(redis_cli(port).args(words), "")
}

/// Whether a replica has, within that time, all that its master holds now.
pub(crate) fn is_replicated(master: u16, within: Duration) -> bool {
    // WAIT speaks of what was written before the last command of its own connection, so that takes a command.
    let commands = format!("PING\nWAIT 1 {}\n", within.as_millis());
    match output(&mut redis_cli(master), &commands).as_str() {
        "PONG\n1" => true,
        "PONG\n0" => false,
        other => panic!("{other}"),
    }
}

fn redis_cli(port: u16) -> Command {
    let mut command = Command::new("redis-cli");
    command.args(["-h", "127.0.0.1", "-p", &port.to_string()]);
    command
}

/// What `psql` prints for a statement: rows without a frame, or the error.
pub(crate) fn sql(url: &str, statement: &str) -> String {
    let mut command = Command::new("psql");
    output(command.args([url, "-AtXc", statement]), "")
}

/// All that a client prints. It may take 30 seconds.
pub(crate) fn output(command: &mut Command, input: &str) -> String {
    let mut client = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the client is there");
    let mut stdin = client.stdin.take().expect("it is piped");
    // One that does not read may be gone already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    // What they print fits into a pipe.
    let ends = Instant::now() + BOUND;
    while client.try_wait().expect("it is ours").is_none() {
        if Instant::now() >= ends {
            client.kill().expect("it is ours");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let output = client.wait_with_output().expect("it is ours");
    let bytes = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// Whether a process runs, or is stopped. What is left of one that has ended does not count.
pub(crate) fn lives(pid: u32) -> bool {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    test_kill_process(number.expect("a process id")).is_ok() && !stat.contains(") Z ")
}

/// Waits until it is so, for 90 seconds at most.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let ends = Instant::now() + BOUND;
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
