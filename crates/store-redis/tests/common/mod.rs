//! What the tests share: keys, and stores with a prefix of their own.
#![allow(dead_code, reason = "each test takes what it needs of it")]

pub(crate) mod client;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use counterfoil_core::{
    KeyId, Owner,
    fingerprint::{Key, Keyring, ValueKeys},
};
use counterfoil_store_redis::{RedisConfig, RedisStore};
use counterfoil_testkit::conformance::Harness;

/// The same keys in every test and every process.
pub(crate) fn keys() -> ValueKeys {
    ring().value_keys()
}

/// The ring that they are of.
pub(crate) fn ring() -> Keyring {
    Keyring::new(key("k1", 7))
}

pub(crate) fn key(id: &str, byte: u8) -> Key {
    let id = KeyId::parse(id).expect("a short id");
    Key::new(id, &[byte; 32]).expect("a key of 32 bytes")
}

/// A prefix that no other test has.
pub(crate) fn prefix() -> String {
    let random = u128::from_le_bytes(*Owner::mint().as_bytes());
    format!("t{:08x}:", random as u32)
}

/// A configuration with a prefix of its own, and time: the machine that runs the tests has much else to do.
pub(crate) fn config(url: &str) -> RedisConfig {
    RedisConfig::from_url(url)
        .and_then(|config| config.with_prefix(prefix()))
        .and_then(|config| config.with_command_timeout(Duration::from_secs(5)))
        .and_then(|config| config.with_connect_timeout(Duration::from_secs(5)))
        .expect("a valid configuration")
}

/// A store whose time passes as the suite wants it.
pub(crate) async fn harness(url: &str) -> Harness {
    let ahead = Arc::new(AtomicU64::new(0));
    let store = RedisStore::with_clock_ahead(config(url), keys(), Arc::clone(&ahead))
        .await
        .expect("the server is there");
    Harness::new(store, move |by| {
        ahead.fetch_add(by.as_millis() as u64, Ordering::SeqCst);
        std::future::ready(())
    })
    .with_unit(Duration::from_secs(30))
    .with_tick(Duration::from_secs(10))
}
