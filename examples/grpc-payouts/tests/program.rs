//! What the program tells a person.

use std::{net::TcpListener, process::Command};

/// The exit code, and what stands on stdout and stderr.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_grpc-payouts"));
    let output = program.args(arguments).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn help_is_no_error() {
    let (code, stdout, stderr) = run(&["--help"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert!(stdout.starts_with("usage: grpc-payouts"), "{stdout}");
}

#[test]
fn what_it_can_not_do_is_told_in_a_sentence() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    // Nobody listens there any more.
    let nobody = {
        let left = TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}", left.local_addr().expect("an address"))
    };
    for (arguments, told) in [
        (&["--lsten"][..], "usage: grpc-payouts"),
        (&["--listen"], "usage: grpc-payouts"),
        (&["--listen", &address], "can't listen on 127.0.0.1:"),
        (
            &["--ledger-takes", "long"],
            "--ledger-takes MS: invalid digit",
        ),
        (
            &["pay", &nobody, "ten", "EUR", "p-17"],
            "CENTS is ten: invalid digit",
        ),
        (&["pay", &nobody, "10", "EUR", "p-17"], "transport error: "),
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!((code, &*stdout), (Some(1), ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with(told), "{arguments:?}: {stderr}");
        assert!(!stderr.contains('{'), "{arguments:?}: {stderr}");
    }
}
