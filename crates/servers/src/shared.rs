//! The servers that all tests of a run share.

/// A server that tests share. They may do in it what they like with data of their own, and nothing to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shared {
    /// One server of Redis.
    Redis,
    /// A cluster of Redis, of three masters with a replica each.
    RedisCluster,
    /// A master of Redis and its replica behind three sentinels.
    RedisSentinel,
    /// One server of Postgres.
    Postgres,
    /// PgBouncer in front of the server of Postgres, in transaction mode.
    PgBouncer,
}

impl Shared {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Redis,
        Self::RedisCluster,
        Self::RedisSentinel,
        Self::Postgres,
        Self::PgBouncer,
    ];

    /// What one calls it on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::RedisCluster => "redis-cluster",
            Self::RedisSentinel => "redis-sentinel",
            Self::Postgres => "postgres",
            Self::PgBouncer => "pgbouncer",
        }
    }

    /// The environment variable with its address.
    #[must_use]
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Redis => "COUNTERFOIL_TEST_REDIS",
            Self::RedisCluster => "COUNTERFOIL_TEST_REDIS_CLUSTER",
            Self::RedisSentinel => "COUNTERFOIL_TEST_REDIS_SENTINEL",
            Self::Postgres => "COUNTERFOIL_TEST_POSTGRES",
            Self::PgBouncer => "COUNTERFOIL_TEST_PGBOUNCER",
        }
    }
}

/// The address of a server that is there for all tests of this run.
///
/// # Panics
///
/// If there is none: a test that needs a server fails without it.
#[must_use]
pub fn shared(server: Shared) -> String {
    address(server, std::env::var(server.variable()).ok())
}

fn address(server: Shared, value: Option<String>) -> String {
    value.filter(|value| !value.is_empty()).unwrap_or_else(|| {
        panic!(
            "this test needs a server, and {} is not set: run `cargo xtask servers -- cargo test …`, which starts \
             servers and sets it, or `cargo xtask test`",
            server.variable()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_what_the_variable_says() {
        let value = Some("redis://127.0.0.1:1".to_owned());
        assert_eq!(address(Shared::Redis, value), "redis://127.0.0.1:1");
    }

    #[test]
    fn without_a_server_the_panic_names_the_variable_and_the_command() {
        for value in [None, Some(String::new())] {
            for server in Shared::ALL {
                let value = value.clone();
                let panic = std::panic::catch_unwind(move || address(server, value));
                let text = panic.expect_err("there is no address");
                let text = text.downcast::<String>().expect("it is a text");
                assert!(text.contains(server.variable()), "{text}");
                assert!(text.contains("cargo xtask servers -- cargo test"), "{text}");
            }
        }
    }
}
