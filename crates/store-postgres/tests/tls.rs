//! TLS: the server is verified, always.

mod common;

use common::{builder, patient};
use counterfoil_core::store::Store;
use counterfoil_servers::{Postgres, Shared, shared};
use counterfoil_store_postgres::{ConnectError, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// A root, and a certificate of it for a name, with its key. All in PEM.
fn certificates(name: &str) -> (String, String, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let root = CertifiedIssuer::self_signed(params, key).expect("a root");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let leaf = params.signed_by(&key, &root).expect("a certificate");
    (root.pem(), leaf.pem(), key.serialize_pem())
}

#[tokio::test]
async fn a_verified_server_is_spoken_to_in_tls() {
    let (root, certificate, key) = certificates("127.0.0.1");
    let server = Postgres::starter()
        .tls(certificate.as_bytes(), key.as_bytes())
        .start()
        .expect("Postgres starts");
    let url = format!("{}?sslmode=require", server.url());
    let builder = patient(builder(&url))
        .with_tls_roots(root.as_bytes())
        .expect("it is a root");
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("it is fit for it");
    let op = common::Op::now();
    common::claimed(store.acquire(&op.wish()).await.expect("it answers"));

    let client = common::client(server.url()).await;
    let rows = client
        .query(
            "SELECT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'counterfoil'",
            &[],
        )
        .await
        .expect("the server answers");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row.get(0)), "a session without TLS");
}

#[tokio::test]
async fn a_server_of_another_root_or_name_is_refused() {
    let (root, ..) = certificates("127.0.0.1");
    for name in ["127.0.0.1", "elsewhere.test"] {
        let (own_root, certificate, key) = certificates(name);
        let server = Postgres::starter()
            .tls(certificate.as_bytes(), key.as_bytes())
            .start()
            .expect("Postgres starts");
        let trusted = if name == "127.0.0.1" {
            &root
        } else {
            &own_root
        };
        let refused = patient(builder(server.url()))
            .with_tls_roots(trusted.as_bytes())
            .expect("it is a root")
            .connect()
            .await
            .expect_err("it can't be verified");
        assert!(
            matches!(refused, ConnectError::Database { .. }),
            "{refused:?}"
        );
    }
}

/// Roots mean TLS, also where the URL doesn't say so.
#[tokio::test]
async fn a_server_without_tls_is_refused_where_roots_are_given() {
    let (root, ..) = certificates("127.0.0.1");
    let refused = patient(builder(&shared(Shared::Postgres)))
        .with_tls_roots(root.as_bytes())
        .expect("it is a root")
        .connect()
        .await
        .expect_err("it speaks no TLS");
    assert!(
        matches!(refused, ConnectError::Database { .. }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn what_contradicts_itself_is_refused_before_anything_is_sent() {
    let (root, ..) = certificates("127.0.0.1");
    let at = |mode: &str| format!("postgres://name@127.0.0.1:1/none?sslmode={mode}");
    let refused = builder(&at("require")).connect().await;
    assert!(
        matches!(refused, Err(ConnectError::TlsWithoutRoots)),
        "{refused:?}"
    );
    let refused = builder(&at("disable"))
        .with_tls_roots(root.as_bytes())
        .expect("it is a root")
        .connect()
        .await;
    assert!(
        matches!(refused, Err(ConnectError::TlsDisabled)),
        "{refused:?}"
    );
    for mode in ["verify-ca", "verify-full"] {
        let refused = PostgresStore::builder(&at(mode));
        assert!(
            matches!(refused, Err(ConnectError::SslModeVerify)),
            "{refused:?}"
        );
    }
    for bad in [
        "",
        "no certificate",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let refused = builder(&at("require")).with_tls_roots(bad.as_bytes());
        assert!(matches!(refused, Err(ConnectError::TlsRoots(_))), "{bad:?}");
    }
}
