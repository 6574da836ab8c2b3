//! Redis behind sentinels: the replica takes over, with what it has.

mod common;

use std::time::Duration;

use common::{is_replicated, redis};
use counterfoil_servers::RedisSentinel;

const BOUND: Duration = Duration::from_secs(60);

#[test]
fn its_address_names_every_sentinel_and_the_service() {
    let servers = RedisSentinel::start().expect("they start");
    let sentinels = servers.sentinel_ports();
    assert_eq!(
        servers.url(),
        format!(
            "redis-sentinel://127.0.0.1:{}?node=127.0.0.1:{}&node=127.0.0.1:{}&sentinelServiceName=main",
            sentinels[0], sentinels[1], sentinels[2]
        )
    );
    for sentinel in sentinels {
        let quorum = redis(sentinel, &["SENTINEL", "CKQUORUM", "main"]);
        assert!(quorum.starts_with("OK 3 usable"), "{quorum}");
    }
}

#[test]
fn a_replicated_write_survives_the_masters_death() {
    let servers = RedisSentinel::start().expect("they start");
    let before = servers.master_port().expect("a sentinel answers");
    assert_eq!(redis(before, &["SET", "k", "v"]), "OK");
    assert!(is_replicated(before, BOUND));
    assert_eq!(servers.kill_master().expect("it dies"), before);
    let after = servers
        .wait_for_failover(before, BOUND)
        .expect("a failover");
    assert!(after != before && servers.ports().contains(&after));
    assert_eq!(servers.master_port().expect("a sentinel answers"), after);
    assert_eq!(redis(after, &["GET", "k"]), "v");
    assert_eq!(redis(after, &["SET", "k", "w"]), "OK");

    // What sentinels make of it then is theirs to decide, and takes them as long as it takes.
    servers.restart(before).expect("it comes back");
    assert_eq!(redis(before, &["PING"]), "PONG");
}

#[test]
fn what_is_written_after_the_cut_is_lost_in_a_failover() {
    let servers = RedisSentinel::start().expect("they start");
    let before = servers.master_port().expect("a sentinel answers");
    assert_eq!(redis(before, &["SET", "k", "old"]), "OK");
    assert!(is_replicated(before, BOUND));
    servers.cut_replication().expect("it is cut");
    assert_eq!(redis(before, &["SET", "k", "new"]), "OK");
    assert_eq!(redis(before, &["GET", "k"]), "new");
    servers.kill_master().expect("it dies");
    let after = servers
        .wait_for_failover(before, BOUND)
        .expect("a failover");
    assert_eq!(redis(after, &["GET", "k"]), "old");
}

#[test]
fn a_frozen_master_is_replaced_by_one_that_lacks_what_it_alone_had() {
    let servers = RedisSentinel::start().expect("they start");
    servers.cut_replication().expect("it is cut");
    let before = servers.master_port().expect("a sentinel answers");
    assert_eq!(redis(before, &["SET", "k", "v"]), "OK");
    assert_eq!(servers.freeze_master().expect("it freezes"), before);
    let after = servers
        .wait_for_failover(before, BOUND)
        .expect("a failover");
    assert_eq!(redis(after, &["EXISTS", "k"]), "0");
    // What sentinels make of it then is theirs to decide; who asks them is sent to the other one.
    servers.thaw(before).expect("it thaws");
    assert_eq!(redis(before, &["PING"]), "PONG");
    assert_eq!(servers.master_port().expect("a sentinel answers"), after);
    assert_eq!(redis(after, &["EXISTS", "k"]), "0");
}

#[test]
fn a_cut_is_mended() {
    let servers = RedisSentinel::start().expect("they start");
    let master = servers.master_port().expect("a sentinel answers");
    servers.cut_replication().expect("it is cut");
    assert_eq!(redis(master, &["SET", "k", "v"]), "OK");
    assert!(!is_replicated(master, Duration::from_millis(1500)));
    servers.mend_replication().expect("it is mended");
    assert!(is_replicated(master, BOUND));
}
