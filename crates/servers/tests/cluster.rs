//! A cluster of Redis: it serves all slots, and does so again after the death of a master.

mod common;

use std::time::Duration;

use common::{eventually, is_replicated, redis};
use counterfoil_servers::RedisCluster;

const BOUND: Duration = Duration::from_secs(20);

#[test]
fn it_serves_all_slots_and_each_key_by_its_master() {
    let cluster = RedisCluster::start().expect("it starts");
    let masters = cluster.masters().expect("it answers");
    assert_eq!(masters.len(), 3);
    for key in ["a", "b", "c", "{t}:x"] {
        let master = cluster.master_of(key).expect("it answers");
        assert!(masters.contains(&master));
        assert_eq!(redis(master, &["SET", key, "v"]), "OK");
        let other = masters.iter().find(|port| **port != master);
        let refused = redis(*other.expect("there are three"), &["GET", key]);
        assert!(
            refused.contains(&format!("127.0.0.1:{master}")),
            "{refused}"
        );
    }
}

#[test]
fn its_address_names_every_node() {
    let cluster = RedisCluster::start().expect("it starts");
    let ports = cluster.ports();
    let mut url = format!("redis-cluster://127.0.0.1:{}", ports[0]);
    for (mark, port) in std::iter::once('?')
        .chain(std::iter::repeat('&'))
        .zip(&ports[1..])
    {
        url.push_str(&format!("{mark}node=127.0.0.1:{port}"));
    }
    assert_eq!(ports.len(), 6);
    assert_eq!(cluster.url(), url);
}

#[test]
fn after_a_masters_death_its_replica_serves_and_it_comes_back_as_a_replica() {
    let cluster = RedisCluster::start().expect("it starts");
    let before = cluster.master_of("k").expect("it answers");
    assert_eq!(redis(before, &["SET", "k", "v"]), "OK");
    assert!(is_replicated(before, BOUND));
    let masters = cluster.masters().expect("it answers");
    let which = masters.iter().position(|port| *port == before);
    let killed = cluster.kill_master(which.expect("it is one"));
    assert_eq!(killed.expect("it dies"), before);
    cluster
        .wait_for_failover(before, BOUND)
        .expect("a replica takes over");
    let after = cluster.master_of("k").expect("it answers");
    assert_ne!(after, before);
    assert_eq!(redis(after, &["GET", "k"]), "v");
    cluster.restart(before).expect("it comes back");
    eventually("the return as a replica", || {
        redis(before, &["ROLE"]).starts_with("slave")
    });
    cluster.wait_until_whole(BOUND).expect("it is whole again");
}

#[test]
fn a_frozen_master_is_replaced_and_thaws_as_a_replica() {
    let cluster = RedisCluster::start().expect("it starts");
    let before = cluster.master_of("k").expect("it answers");
    cluster.freeze(before).expect("it freezes");
    cluster
        .wait_for_failover(before, BOUND)
        .expect("a replica takes over");
    cluster.thaw(before).expect("it thaws");
    eventually("the return as a replica", || {
        redis(before, &["ROLE"]).starts_with("slave")
    });
}
