//! Starts the servers that all tests of a run share.

use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::error::Error;
use crate::postgres::{PgBouncer, Postgres};
use crate::redis::{Redis, RedisCluster, RedisSentinel};
use crate::shared::Shared;

/// Nobody kills these, so silence only means that the machine is busy, and nobody is to be replaced for it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Enough for many tests at once, each with a pool of its own.
const CONNECTIONS: &str = "400";

/// Servers for all tests of a run. They end when it is dropped.
#[derive(Debug)]
pub struct SharedServers {
    redis: Option<Redis>,
    cluster: Option<RedisCluster>,
    sentinel: Option<RedisSentinel>,
    // It goes before what stands behind it.
    bouncer: Option<PgBouncer>,
    postgres: Option<Postgres>,
}

impl SharedServers {
    /// Starts these at once, and waits until all of them answer.
    /// PgBouncer brings Postgres with it.
    pub fn start(which: &[Shared]) -> Result<Self, Error> {
        let wants = |server| which.contains(&server);
        thread::scope(|scope| {
            let redis = wants(Shared::Redis).then(|| scope.spawn(Redis::start));
            let cluster = wants(Shared::RedisCluster)
                .then(|| scope.spawn(|| RedisCluster::start_with(PATIENCE)));
            let sentinel = wants(Shared::RedisSentinel)
                .then(|| scope.spawn(|| RedisSentinel::start_with(PATIENCE)));
            let with_bouncer = wants(Shared::PgBouncer);
            let postgres = (wants(Shared::Postgres) || with_bouncer)
                .then(|| scope.spawn(move || postgres(with_bouncer)));
            let (postgres, bouncer) = joined(postgres)?.unzip();
            Ok(Self {
                redis: joined(redis)?,
                cluster: joined(cluster)?,
                sentinel: joined(sentinel)?,
                bouncer: bouncer.flatten(),
                postgres,
            })
        })
    }

    /// The servers and their addresses, in the order of [`Shared::ALL`].
    pub fn addresses(&self) -> impl Iterator<Item = (Shared, &str)> {
        Shared::ALL
            .into_iter()
            .filter_map(|server| Some((server, self.address(server)?)))
    }

    /// What [`shared`](crate::shared()) reads: the names of variables and their values.
    pub fn environment(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.addresses()
            .map(|(server, address)| (server.variable(), address))
    }

    fn address(&self, server: Shared) -> Option<&str> {
        match server {
            Shared::Redis => self.redis.as_ref().map(Redis::url),
            Shared::RedisCluster => self.cluster.as_ref().map(RedisCluster::url),
            Shared::RedisSentinel => self.sentinel.as_ref().map(RedisSentinel::url),
            Shared::Postgres => self.postgres.as_ref().map(Postgres::url),
            Shared::PgBouncer => self.bouncer.as_ref().map(PgBouncer::url),
        }
    }
}

fn postgres(with_bouncer: bool) -> Result<(Postgres, Option<PgBouncer>), Error> {
    let postgres = Postgres::starter()
        .setting("max_connections", CONNECTIONS)
        .start()?;
    let bouncer = with_bouncer.then(|| PgBouncer::start(&postgres));
    Ok((postgres, bouncer.transpose()?))
}

fn joined<T>(start: Option<ScopedJoinHandle<'_, Result<T, Error>>>) -> Result<Option<T>, Error> {
    start
        .map(|start| start.join().expect("a start does not panic"))
        .transpose()
}
