//! `cargo xtask servers`, as one calls it: with a command, and until it is told to stop.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

fn servers(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("servers").args(arguments).stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    let bytes = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether somebody listens where an address `redis://HOST:PORT` says.
fn listens(address: &str) -> bool {
    let place = address.strip_prefix("redis://").expect("our form");
    TcpStream::connect(place).is_ok()
}

#[test]
fn a_command_gets_the_addresses_and_its_exit_code_is_passed_on() {
    let script = "redis-cli -u $COUNTERFOIL_TEST_REDIS PING; \
                  echo at:$COUNTERFOIL_TEST_REDIS:and:$COUNTERFOIL_TEST_POSTGRES:end; exit 7";
    let output = servers(&["--only", "redis", "--", "sh", "-c", script])
        .env_remove("COUNTERFOIL_TEST_POSTGRES")
        .output()
        .expect("it runs");
    let text = text(&output);
    assert_eq!(output.status.code(), Some(7), "{text}");
    assert!(text.contains("PONG\n"), "{text}");
    let line = text.lines().find_map(|line| line.strip_prefix("at:"));
    let (address, other) = line
        .and_then(|line| line.split_once(":and:"))
        .expect("the line");
    assert_eq!(other, ":end", "only Redis was asked for");
    assert!(!listens(address), "it ended with the command");
}

#[test]
fn a_command_that_can_not_be_started_is_a_failure() {
    let output = servers(&["--only=redis", "--", "no-program-has-this-name"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("no-program-has-this-name"));
}

#[test]
fn without_a_command_it_waits_to_be_told_to_stop_and_then_ends_them() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = servers(&["--only=redis", "--export"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let address = exported(&mut child);
        assert!(listens(&address));
        kill_process(Pid::from_child(&child), signal).expect("it is ours");
        let ends = Instant::now() + Duration::from_secs(30);
        let status = loop {
            if let Some(status) = child.try_wait().expect("it is ours") {
                break status;
            }
            assert!(Instant::now() < ends, "it goes on");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(status.success());
        assert!(!listens(&address));
    }
}

/// The address in the line for a shell.
fn exported(child: &mut Child) -> String {
    let stdout = child.stdout.as_mut().expect("it is piped");
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    lines
        .filter_map(|line| {
            let value = line.strip_prefix("export COUNTERFOIL_TEST_REDIS='")?;
            Some(value.strip_suffix('\'')?.to_owned())
        })
        .next()
        .expect("it says where")
}
