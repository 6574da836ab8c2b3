//! The service and a client on another implementation of gRPC.

mod server;

use std::{env, process::Stdio, time::Duration};

use server::Server;
use tokio::{process::Command, time::timeout};

/// Names the Python that has grpcio.
const PYTHON: &str = "COUNTERFOIL_TEST_GRPC_PYTHON";

#[tokio::test]
#[ignore = "needs grpcio, which `cargo xtask test --only grpc` installs into an environment of its own"]
async fn a_client_on_grpcio_is_told_the_same() {
    let python = env::var_os(PYTHON).unwrap_or_else(|| panic!("{PYTHON} names no Python"));
    let server = Server::start().await;
    let descriptors = env::temp_dir().join(format!("payouts-{}.bin", std::process::id()));
    std::fs::write(&descriptors, grpc_payouts::DESCRIPTORS).unwrap();
    let client = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/clients/payouts.py"))
        .arg(&server.address)
        .arg(&descriptors)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(Duration::from_secs(60), client).await;
    std::fs::remove_file(&descriptors).unwrap();
    let output = output
        .expect("the client ends in time")
        .expect("the client starts");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    // The last thing that it looks at: nobody ended it before.
    assert!(out.trim_end().ends_with("effects: 2"), "{out}");
}
