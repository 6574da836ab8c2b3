//! Servers with TLS: they show the certificate that they were given.

mod common;

use std::process::Command;

use common::{redis, sql};
use counterfoil_servers::{Postgres, Redis};

/// A certificate that vouches for itself, and its key, in PEM.
fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".into(), "127.0.0.1".into()]);
    let made = made.expect("the names are valid");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

#[test]
fn redis_speaks_tls_on_a_port_of_its_own() {
    let (certificate, key) = certificate();
    let server = Redis::starter()
        .tls(certificate.as_bytes(), key.as_bytes())
        .start()
        .expect("it starts");
    let authority = std::env::temp_dir().join(format!("counterfoil-{}.pem", std::process::id()));
    std::fs::write(&authority, certificate).expect("it can be written");
    let port = server.tls_port().expect("it has one").to_string();
    let mut client = Command::new("redis-cli");
    client.args(["-h", "127.0.0.1", "-p", &port, "--tls", "--cacert"]);
    let answer = common::output(client.arg(&authority).arg("PING"), "");
    std::fs::remove_file(&authority).expect("it is ours");
    assert_eq!(answer, "PONG");
    assert_eq!(redis(server.port(), &["PING"]), "PONG");
}

#[test]
fn without_a_certificate_redis_has_no_such_port() {
    assert_eq!(Redis::start().expect("it starts").tls_port(), None);
}

#[test]
fn postgres_speaks_tls_with_those_who_ask() {
    let (certificate, key) = certificate();
    let server = Postgres::starter()
        .tls(certificate.as_bytes(), key.as_bytes())
        .start()
        .expect("it starts");
    let authority = std::env::temp_dir().join(format!("counterfoil-{}-pg.pem", std::process::id()));
    std::fs::write(&authority, certificate).expect("it can be written");
    let mine = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let verified = format!(
        "{}?sslmode=verify-full&sslrootcert={}",
        server.url(),
        authority.display()
    );
    let (with, without) = (
        sql(&verified, mine),
        sql(&format!("{}?sslmode=disable", server.url()), mine),
    );
    std::fs::remove_file(&authority).expect("it is ours");
    assert_eq!((with.as_str(), without.as_str()), ("t", "f"));
}
