//! The servers that tests share: all answer on the addresses that are told.

mod common;

use std::collections::HashMap;

use common::{redis, sql};
use counterfoil_servers::{Shared, SharedServers};

#[test]
fn all_start_together_and_answer_where_the_variables_say() {
    let servers = SharedServers::start(&Shared::ALL).expect("they start");
    let environment: HashMap<_, _> = servers.environment().collect();
    assert_eq!(environment.len(), 5);
    for server in [Shared::Postgres, Shared::PgBouncer] {
        let url = environment[server.variable()];
        assert_eq!(sql(url, "SHOW max_connections"), "400");
    }
    for (server, mode) in [
        (Shared::Redis, "standalone"),
        (Shared::RedisCluster, "cluster"),
        (Shared::RedisSentinel, "sentinel"),
    ] {
        let info = redis(port(environment[server.variable()]), &["INFO", "server"]);
        assert!(info.contains(&format!("redis_mode:{mode}\r")), "{info}");
    }
}

#[test]
fn only_those_that_are_asked_for_start_and_pgbouncer_brings_postgres() {
    let servers = SharedServers::start(&[Shared::PgBouncer]).expect("they start");
    let started: Vec<_> = servers.addresses().map(|(server, _)| server).collect();
    assert_eq!(started, [Shared::Postgres, Shared::PgBouncer]);
    let none = SharedServers::start(&[]).expect("nothing to start");
    assert_eq!(none.addresses().count(), 0);
}

/// The first port in an address.
fn port(url: &str) -> u16 {
    let rest = url.split_once("://127.0.0.1:").expect("our form").1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a port")
}
