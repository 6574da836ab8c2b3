//! One server of Postgres: it answers, dies, recovers, hangs, and vanishes.

mod common;

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::sql;
use counterfoil_servers::Postgres;

#[test]
fn it_answers_on_its_address_and_keeps_what_it_commits() {
    let server = Postgres::start().expect("it starts");
    let port = server.port();
    assert_eq!(
        server.url(),
        format!("postgres://counterfoil@127.0.0.1:{port}/counterfoil")
    );
    for (setting, value) in [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("max_connections", "200"),
        ("server_encoding", "UTF8"),
        ("ssl", "off"),
    ] {
        let shown = sql(server.url(), &format!("SHOW {setting}"));
        assert_eq!(shown, value, "{setting}");
    }
}

#[test]
fn settings_of_ones_own_win() {
    let server = Postgres::starter()
        .setting("fsync", "off")
        .setting("max_connections", "20")
        .setting("application_name", "it's")
        .start()
        .expect("it starts");
    assert_eq!(sql(server.url(), "SHOW fsync"), "off");
    assert_eq!(sql(server.url(), "SHOW max_connections"), "20");
}

#[test]
fn after_a_kill_it_recovers_what_was_committed() {
    let server = Postgres::start().expect("it starts");
    let before = server.pid().expect("it runs");
    sql(server.url(), "CREATE TABLE t AS SELECT 7 AS n");
    server.kill().expect("it dies");
    assert_eq!(server.pid(), None);
    assert!(!common::lives(before));
    let refused = sql(server.url(), "SELECT 1");
    assert!(refused.contains("Connection refused"), "{refused}");
    server.restart().expect("it comes back");
    assert_eq!(sql(server.url(), "SELECT n FROM t"), "7");
    server.restart().expect("also while it runs");
    assert_eq!(sql(server.url(), "SELECT n FROM t"), "7");
}

#[test]
fn in_a_frozen_one_also_the_statements_under_way_stand_still() {
    let server = Postgres::start().expect("it starts");
    let mut busy = Command::new("psql")
        .args([server.url(), "-AtXc"])
        .arg("SELECT 'begun' FROM pg_sleep(3)")
        .stdout(Stdio::piped())
        .spawn()
        .expect("psql is there");
    let active = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%begun%' AND state = 'active' \
                  AND pid <> pg_backend_pid()";
    common::eventually("the statement", || sql(server.url(), active) == "1");
    server.freeze().expect("it freezes");
    // By now it would have ended.
    thread::sleep(Duration::from_millis(3_300));
    assert_eq!(busy.try_wait().expect("it is ours"), None);
    server.thaw().expect("it thaws");
    let output = busy.wait_with_output().expect("it ends");
    assert_eq!(output.stdout, b"begun\n");
}

#[test]
fn a_kill_takes_the_children_along_also_frozen_ones() {
    let server = Postgres::start().expect("it starts");
    let children = sql(
        server.url(),
        "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    );
    let children: Vec<u32> = children
        .lines()
        .map(|pid| pid.parse().expect("a process id"))
        .collect();
    assert!(children.len() >= 4, "{children:?}");
    server.freeze().expect("it freezes");
    server.kill().expect("it dies");
    for child in children {
        assert!(!common::lives(child));
    }
    server.restart().expect("it comes back");
    assert_eq!(sql(server.url(), "SELECT 1"), "1");
}

#[test]
fn nothing_is_left_of_one_that_is_dropped_alive_frozen_or_dead() {
    for end in [|_: &Postgres| Ok(()), Postgres::freeze, Postgres::kill] {
        let server = Postgres::start().expect("it starts");
        let pid = server.pid().expect("it runs");
        // The postmaster runs in its data directory.
        let data = common::directory(pid);
        let directory = data.parent().expect("it has one").to_owned();
        let lock = std::fs::read_to_string(data.join("postmaster.pid")).expect("it is there");
        let words = lock.lines().nth(6).expect("the line of shared memory");
        let segment = words.split_whitespace().last().expect("its number");
        assert!(has_shared_memory(segment));
        end(&server).expect("it does as told");
        drop(server);
        assert!(common::is_gone(pid, &directory));
        assert!(!has_shared_memory(segment), "shared memory is left");
    }
}

fn has_shared_memory(segment: &str) -> bool {
    let output = Command::new("ipcs").arg("-m").output().expect("ipcs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .any(|line| line.split_whitespace().nth(1) == Some(segment))
}

#[test]
fn what_it_can_not_do_it_says_with_the_end_of_its_log() {
    let error = Postgres::starter()
        .setting("no_such_setting", "1")
        .start()
        .expect_err("it refuses");
    let text = error.to_string();
    assert!(text.contains("ended by itself"), "{text}");
    assert!(text.contains("no_such_setting"), "{text}");
}

#[test]
fn a_standby_follows_its_primary_and_takes_over() {
    let primary = Postgres::start().expect("it starts");
    let standby = Postgres::standby_of(&primary).start().expect("it starts");
    assert_eq!(sql(standby.url(), "SELECT pg_is_in_recovery()"), "t");
    let known = "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'";
    common::eventually("the replication", || sql(primary.url(), known) == "standby");
    sql(primary.url(), "CREATE TABLE t AS SELECT 7 AS n");
    common::eventually("the copy", || sql(standby.url(), "SELECT n FROM t") == "7");

    primary.kill().expect("it dies");
    assert_eq!(sql(standby.url(), "SELECT pg_promote()"), "t");
    sql(standby.url(), "UPDATE t SET n = 8");
    standby.restart().expect("it comes back");
    assert_eq!(sql(standby.url(), "SELECT n FROM t"), "8");
}

#[test]
#[ignore = "needs a user namespace, which not every system allows: `cargo xtask test` tries"]
fn a_small_disk_is_full_at_its_size_and_is_seen_by_its_server_alone() {
    let starter = Postgres::starter().small_disk(8);
    let server = starter.start().expect("it starts");
    let place = server.small_disk();
    let make = format!("CREATE TABLESPACE small LOCATION '{}'", place.display());
    assert_eq!(sql(server.url(), &make), "CREATE TABLESPACE");
    let fill = |rows| {
        let fill = format!(
            "CREATE TABLE t{rows} TABLESPACE small AS SELECT n FROM generate_series(1, {rows}) AS n"
        );
        sql(server.url(), &fill)
    };
    // 36 bytes each.
    assert_eq!(fill(100_000), "SELECT 100000");
    let full = fill(200_000);
    assert!(full.contains("No space left on device"), "{full}");
    let seen = std::fs::read_dir(&place).expect("it is there").count();
    assert_eq!(seen, 0);
    assert_eq!(sql(server.url(), "SELECT 1"), "1");
}
