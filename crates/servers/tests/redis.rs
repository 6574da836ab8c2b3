//! One server of Redis: it answers, dies, comes back, hangs, and vanishes.

mod common;

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use common::{eventually, redis};
use counterfoil_servers::Redis;

#[test]
fn it_answers_on_its_address() {
    let server = Redis::start().expect("it starts");
    assert_eq!(server.url(), format!("redis://127.0.0.1:{}", server.port()));
    assert_eq!(redis(server.port(), &["PING"]), "PONG");
    assert_eq!(redis(server.port(), &["CONFIG", "GET", "save"]), "save");
}

#[test]
fn after_a_kill_it_comes_back_empty_on_the_same_port() {
    let server = Redis::start().expect("it starts");
    let before = server.pid().expect("it runs");
    assert_eq!(redis(server.port(), &["SET", "k", "v"]), "OK");
    server.kill().expect("it dies");
    assert_eq!(server.pid(), None);
    assert!(!common::lives(before));
    assert!(redis(server.port(), &["PING"]).contains("Connection refused"));
    server.restart().expect("it comes back");
    assert_ne!(server.pid(), Some(before));
    assert_eq!(redis(server.port(), &["EXISTS", "k"]), "0");
}

#[test]
fn with_a_log_of_its_writes_it_comes_back_with_them() {
    let server = Redis::starter()
        .setting("appendonly", "yes")
        .setting("appendfsync", "always")
        .start()
        .expect("it starts");
    assert_eq!(redis(server.port(), &["SET", "k", "v"]), "OK");
    server.restart().expect("it comes back");
    assert_eq!(redis(server.port(), &["GET", "k"]), "v");
}

#[test]
fn a_frozen_one_answers_only_after_it_thaws() {
    let server = Redis::start().expect("it starts");
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("it listens");
    stream
        .set_read_timeout(Some(Duration::from_millis(300)))
        .expect("a bound");
    server.freeze().expect("it freezes");
    stream.write_all(b"PING\r\n").expect("the system takes it");
    let mut answer = [0; 7];
    let error = stream.read_exact(&mut answer).expect_err("nobody answers");
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    server.thaw().expect("it thaws");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a bound");
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"+PONG\r\n");
}

#[test]
fn nothing_is_left_of_one_that_is_dropped_alive_frozen_or_dead() {
    for end in [|_: &Redis| Ok(()), Redis::freeze, Redis::kill] {
        let server = Redis::start().expect("it starts");
        let pid = server.pid().expect("it runs");
        let directory = common::directory(pid);
        assert!(directory.join("redis.conf").exists());
        end(&server).expect("it does as told");
        drop(server);
        assert!(common::is_gone(pid, &directory));
    }
}

#[test]
fn what_it_can_not_do_it_says_with_the_end_of_its_log() {
    let error = Redis::starter()
        .setting("no-such-setting", "1")
        .start()
        .expect_err("it refuses");
    let text = error.to_string();
    assert!(text.contains("ended by itself"), "{text}");
    assert!(text.contains("no-such-setting"), "{text}");
}

#[test]
fn a_dead_one_can_not_be_frozen_and_a_second_kill_changes_nothing() {
    let server = Redis::start().expect("it starts");
    server.kill().expect("it dies");
    server.kill().expect("it is dead already");
    let error = server.freeze().expect_err("nobody to freeze");
    assert!(error.to_string().contains("does not run"), "{error}");
}

#[test]
fn one_that_died_by_itself_is_seen_to_have_and_restarts() {
    let server = Redis::start().expect("it starts");
    redis(server.port(), &["SHUTDOWN", "NOSAVE"]);
    let pid = server.pid();
    eventually("the end", || pid.is_none_or(|pid| !common::lives(pid)));
    server.restart().expect("it comes back");
    assert_eq!(redis(server.port(), &["PING"]), "PONG");
}

#[test]
fn many_at_once_get_ports_of_their_own() {
    let starts: Vec<_> = (0..8)
        .map(|_| std::thread::spawn(|| Redis::start().expect("it starts")))
        .collect();
    let servers: Vec<Redis> = starts
        .into_iter()
        .map(|start| start.join().expect("no panic"))
        .collect();
    for server in &servers {
        let info = redis(server.port(), &["INFO", "server"]);
        let pid = server.pid().expect("it runs");
        assert!(info.contains(&format!("process_id:{pid}\r")), "{info}");
    }
}
