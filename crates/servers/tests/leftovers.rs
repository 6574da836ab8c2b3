//! Whoever starts servers may die by `kill -9`: they end with it.

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{directory, eventually, is_gone};
use counterfoil_servers::{PgBouncer, Postgres, Redis, RedisSentinel};
use rustix::process::{Pid, Signal, kill_process_group};

/// Set for the child: what it is to hold when it is killed.
const HOLDS: &str = "COUNTERFOIL_TEST_HOLDS";

#[test]
fn servers_end_when_their_owner_is_killed() {
    if holds("running") {
        let postgres = Postgres::start().expect("it starts");
        let bouncer = PgBouncer::start(&postgres).expect("it starts");
        let redis = Redis::start().expect("it starts");
        wait_for_death(&[postgres.pid(), bouncer.pid(), redis.pid()]);
    }
    ends_with_its_owner("servers_end_when_their_owner_is_killed", "running", 3);
}

#[test]
fn frozen_servers_end_when_their_owner_is_killed() {
    if holds("frozen") {
        let postgres = Postgres::start().expect("it starts");
        let redis = Redis::start().expect("it starts");
        let pids = [postgres.pid(), redis.pid()];
        postgres.freeze().expect("it freezes");
        redis.freeze().expect("it freezes");
        wait_for_death(&pids);
    }
    ends_with_its_owner("frozen_servers_end_when_their_owner_is_killed", "frozen", 2);
}

#[test]
fn servers_end_when_the_whole_group_of_their_owner_is_killed() {
    if holds("group") {
        let redis = Redis::start().expect("it starts");
        wait_for_death(&[redis.pid()]);
    }
    let name = "servers_end_when_the_whole_group_of_their_owner_is_killed";
    let (mut owner, servers) = owner(name, "group");
    assert_eq!(servers.len(), 1);
    kill_process_group(Pid::from_child(&owner), Signal::KILL).expect("it is ours");
    owner.wait().expect("it is ours");
    waits_until_gone(&servers);
}

#[test]
fn an_owner_killed_while_servers_start_leaves_nothing() {
    if holds("starting") {
        // Its word comes first, so that it is killed at some moment of the start.
        print_line("started");
        let _servers = (Postgres::start(), RedisSentinel::start());
        wait_for_death(&[]);
    }
    let temporary = std::env::temp_dir().join(format!("counterfoil-test-{}", std::process::id()));
    std::fs::create_dir(&temporary).expect("it is new");
    common::open_to_all(&temporary);
    for delay in [5, 100, 400, 900] {
        let name = "an_owner_killed_while_servers_start_leaves_nothing";
        let mut child = command(name, "starting")
            .env("TMPDIR", &temporary)
            .spawn()
            .expect("it starts");
        read_until(&mut child, |line| line == "started");
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        eventually("the removal of all directories", || {
            std::fs::read_dir(&temporary).is_ok_and(|mut entries| entries.next().is_none())
        });
    }
    std::fs::remove_dir(&temporary).expect("it is empty");
}

/// Whether this process is the child that is to be killed.
fn holds(what: &str) -> bool {
    std::env::var(HOLDS).is_ok_and(|value| value == what)
}

/// In the child: tells which servers it has, and waits to be killed.
fn wait_for_death(pids: &[Option<u32>]) -> ! {
    for pid in pids {
        print_line(&format!("server {}", pid.expect("it runs")));
    }
    print_line("started");
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Past the capture of the test's output.
fn print_line(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("somebody reads");
}

fn ends_with_its_owner(name: &str, what: &str, count: usize) {
    let (mut owner, servers) = owner(name, what);
    assert_eq!(servers.len(), count);
    owner.kill().expect("it is ours");
    owner.wait().expect("it is ours");
    waits_until_gone(&servers);
}

fn waits_until_gone(servers: &[(u32, PathBuf)]) {
    for (pid, directory) in servers {
        eventually("the end of a server", || is_gone(*pid, directory));
    }
}

/// This test program again, which holds servers: their processes and directories.
fn owner(name: &str, what: &str) -> (Child, Vec<(u32, PathBuf)>) {
    let mut child = command(name, what).spawn().expect("it starts");
    let mut servers = Vec::new();
    read_until(&mut child, |line| {
        if let Some(pid) = line.strip_prefix("server ") {
            let pid = pid.parse().expect("a process id");
            servers.push((pid, root(directory(pid))));
        }
        line == "started"
    });
    (child, servers)
}

fn command(name: &str, what: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(std::env::current_exe().expect("we run"));
    command
        .args(["--exact", name, "--nocapture"])
        .env(HOLDS, what)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    command
}

fn read_until(child: &mut Child, mut is_last: impl FnMut(&str) -> bool) {
    let stdout = child.stdout.as_mut().expect("it is piped");
    let mut lines = BufReader::new(stdout).lines();
    loop {
        let line = lines.next().expect("it goes on").expect("it can be read");
        if is_last(&line) {
            return;
        }
    }
}

/// Postgres runs in a directory below its own.
fn root(directory: PathBuf) -> PathBuf {
    if directory.ends_with("data") {
        directory.parent().expect("it has one").to_owned()
    } else {
        directory
    }
}
