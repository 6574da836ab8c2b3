//! PgBouncer before Postgres: it passes transactions on, dies, comes back, hangs, and vanishes.

mod common;

use std::thread;
use std::time::Duration;

use common::sql;
use counterfoil_servers::{PgBouncer, Postgres};

fn start() -> (PgBouncer, Postgres) {
    let postgres = Postgres::start().expect("it starts");
    (PgBouncer::start(&postgres).expect("it starts"), postgres)
}

#[test]
fn it_passes_on_to_the_same_database_in_transaction_mode() {
    let (bouncer, postgres) = start();
    let port = bouncer.port();
    assert_eq!(
        bouncer.url(),
        format!("postgres://counterfoil@127.0.0.1:{port}/counterfoil")
    );
    sql(bouncer.url(), "CREATE TABLE t AS SELECT 7 AS n");
    assert_eq!(sql(postgres.url(), "SELECT n FROM t"), "7");
    let own = format!("postgres://counterfoil@127.0.0.1:{port}/pgbouncer");
    let settings = sql(&own, "SHOW CONFIG");
    assert!(settings.contains("pool_mode|transaction|"), "{settings}");
}

#[test]
fn settings_of_ones_own_win() {
    let postgres = Postgres::start().expect("it starts");
    let bouncer = PgBouncer::starter(&postgres)
        .setting("pool_mode", "session")
        .start()
        .expect("it starts");
    let own = format!(
        "postgres://counterfoil@127.0.0.1:{}/pgbouncer",
        bouncer.port()
    );
    let settings = sql(&own, "SHOW CONFIG");
    assert!(settings.contains("pool_mode|session|"), "{settings}");
}

#[test]
fn after_a_kill_it_comes_back_on_the_same_port() {
    let (bouncer, _postgres) = start();
    bouncer.kill().expect("it dies");
    assert_eq!(bouncer.pid(), None);
    let refused = sql(bouncer.url(), "SELECT 1");
    assert!(refused.contains("Connection refused"), "{refused}");
    bouncer.restart().expect("it comes back");
    assert_eq!(sql(bouncer.url(), "SELECT 1"), "1");
}

#[test]
fn a_frozen_one_answers_only_after_it_thaws() {
    let (bouncer, _postgres) = start();
    bouncer.freeze().expect("it freezes");
    let url = bouncer.url().to_owned();
    let asked = thread::spawn(move || sql(&url, "SELECT 1"));
    thread::sleep(Duration::from_millis(500));
    assert!(!asked.is_finished());
    bouncer.thaw().expect("it thaws");
    assert_eq!(asked.join().expect("no panic"), "1");
}

#[test]
fn nothing_is_left_of_one_that_is_dropped_alive_frozen_or_dead() {
    let postgres = Postgres::start().expect("it starts");
    for end in [|_: &PgBouncer| Ok(()), PgBouncer::freeze, PgBouncer::kill] {
        let bouncer = PgBouncer::start(&postgres).expect("it starts");
        let pid = bouncer.pid().expect("it runs");
        let directory = common::directory(pid);
        assert!(directory.join("pgbouncer.ini").exists());
        end(&bouncer).expect("it does as told");
        drop(bouncer);
        assert!(common::is_gone(pid, &directory));
    }
}
