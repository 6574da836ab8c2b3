//! Addresses, passwords, TLS.

use std::time::Duration;

use counterfoil_core::store::StoreErrorKind;
use counterfoil_servers::Redis as Server;
use counterfoil_store_redis::{ALostWriteMayBeRepeated, ConfigError, RedisConfig, RedisStore};
use rcgen::CertifiedKey;

use crate::{
    common::{client::Redis, config, keys},
    op::{Op, alone},
};

#[tokio::test]
async fn an_address_that_is_none_is_refused() {
    for bad in [
        "",
        "127.0.0.1:6379",
        "http://127.0.0.1:6379",
        "redis+unix:///tmp/redis.sock",
        "redis://",
        "redis://127.0.0.1:port",
        "redis://127.0.0.1:6379/first",
        "redis-sentinel://127.0.0.1:26379",
        "redis-cluster://127.0.0.1:7000?node=here",
    ] {
        let error = RedisConfig::from_url(bad).expect_err(bad);
        assert_eq!(error, ConfigError::Url, "{bad}");
    }
}

#[test]
fn settings_that_are_none_are_refused() {
    let config = || RedisConfig::from_url("redis://127.0.0.1:6379").expect("a valid address");
    for bad in ["", "a{b", "a}b", &"a".repeat(65)] {
        assert_eq!(config().with_prefix(bad).unwrap_err(), ConfigError::Prefix);
    }
    let never = Duration::ZERO;
    assert_eq!(
        config().with_command_timeout(never).unwrap_err(),
        ConfigError::Timeout
    );
    assert_eq!(
        config().with_connect_timeout(never).unwrap_err(),
        ConfigError::Timeout
    );
    assert_eq!(
        config().with_trusted_pem(b"").unwrap_err(),
        ConfigError::Tls
    );
}

#[tokio::test]
async fn debug_and_errors_show_no_password() {
    let server = Server::start().expect("a server");
    let redis = Redis::connect(server.url()).await;
    let _: String = redis
        .ask("CONFIG", &["SET", "requirepass", "hunter2"])
        .await;
    let good = server.url().replace("redis://", "redis://:hunter2@");
    let store = alone(config(&good)).await;
    Op::new().claim(&store).await;
    let wrong = server.url().replace("redis://", "redis://:hunter3@");
    let config = config(&wrong)
        .with_connect_timeout(Duration::from_millis(300))
        .expect("a valid timeout");
    let shown = format!("{config:?} {store:?}");
    let error = RedisStore::alone(config, keys(), ALostWriteMayBeRepeated)
        .await
        .expect_err("the password is wrong");
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
    let why = format!("{error:?}");
    assert!(why.contains("WRONGPASS"), "{why}");
    assert!(
        !format!("{shown} {why}").contains("hunter"),
        "{shown} {why}"
    );
    assert!(shown.contains("127.0.0.1"), "{shown}");
}

#[tokio::test]
async fn a_user_and_a_database_are_taken_from_the_address() {
    let server = Server::start().expect("a server");
    let redis = Redis::connect(server.url()).await;
    let _: String = redis
        .ask(
            "ACL",
            &["SETUSER", "gate", "on", ">s3cret", "~*", "&*", "+@all"],
        )
        .await;
    let address = server.url().replace("redis://", "redis://gate:s3cret@") + "/3";
    let store = alone(config(&address)).await;
    Op::new().claim(&store).await;
    let keyspace: String = redis.ask("INFO", &["keyspace"]).await;
    assert!(keyspace.contains("db3:keys=1"), "{keyspace}");
}

#[tokio::test]
async fn with_tls_only_a_trusted_server_is_spoken_to() {
    let signed = || rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    let CertifiedKey { cert, signing_key } = signed().expect("a certificate");
    let server = Server::starter()
        .tls(
            cert.pem().as_bytes(),
            signing_key.serialize_pem().as_bytes(),
        )
        .start()
        .expect("a server");
    let port = server.tls_port().expect("it speaks TLS");
    let address = format!("rediss://localhost:{port}");
    let trusting = |pem: String| {
        config(&address)
            .with_connect_timeout(Duration::from_millis(500))
            .and_then(|config| config.with_trusted_pem(pem.as_bytes()))
            .expect("a valid configuration")
    };
    let store = alone(trusting(cert.pem())).await;
    Op::new().claim(&store).await;

    let other = signed().expect("a certificate").cert.pem();
    let error = RedisStore::alone(trusting(other), keys(), ALostWriteMayBeRepeated)
        .await
        .expect_err("it is not trusted");
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
    let by_machine = config(&address)
        .with_connect_timeout(Duration::from_millis(500))
        .expect("a valid timeout");
    RedisStore::alone(by_machine, keys(), ALostWriteMayBeRepeated)
        .await
        .expect_err("this machine does not trust it either");
}
