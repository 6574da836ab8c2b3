//! Where Redis is, and how long anything may take.

use std::{fmt, time::Duration};

use fred::types::config::{Config, TlsConfig};

use crate::tls;

/// Where Redis is, and how long anything may take.
///
/// The address has one of these forms; each with `rediss` in place of `redis` for TLS:
///
/// | | |
/// | --- | --- |
/// | one server | `redis://[[user:]password@]host[:6379][/database]` |
/// | cluster | `redis-cluster://[[user:]password@]host[:port][?node=host:port&node=…]` |
/// | Sentinel | `redis-sentinel://[[user:]password@]host[:26379][/database]?sentinelServiceName=name[&node=host:port…][&sentinelUsername=…&sentinelPassword=…]` |
///
/// ```
/// use std::time::Duration;
/// use counterfoil_store_redis::RedisConfig;
///
/// let config = RedisConfig::from_url("redis://:secret@cache.internal:6379")?
///     .with_prefix("payments:")?
///     .with_command_timeout(Duration::from_millis(40))?;
/// assert!(!format!("{config:?}").contains("secret"));
/// # Ok::<(), counterfoil_store_redis::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct RedisConfig {
    server: Config,
    uses_tls: bool,
    prefix: String,
    command_timeout: Option<Duration>,
    connect_timeout: Duration,
}

impl RedisConfig {
    /// What keys begin with unless told otherwise.
    pub const DEFAULT_PREFIX: &str = "counterfoil:";

    /// How long a connection may take to be made unless told otherwise, TLS and login included: 1 s. Within one data
    /// centre it takes milliseconds, and a packet that is lost on the way is sent again within this.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

    /// A server by its address.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Url`] if the address has none of the forms, [`ConfigError::Tls`] if it asks for TLS and the machine's
    /// certificates can't be read.
    pub fn from_url(url: &str) -> Result<Self, ConfigError> {
        // The client's own way to TLS panics where two of its providers are in one program, so it is told of none.
        let (scheme, rest) = url.split_once("://").ok_or(ConfigError::Url)?;
        let (scheme, uses_tls) = match scheme.strip_prefix("rediss") {
            Some(form) => (format!("redis{form}"), true),
            None => (scheme.to_owned(), false),
        };
        if !matches!(&*scheme, "redis" | "redis-cluster" | "redis-sentinel") {
            return Err(ConfigError::Url);
        }
        let mut server =
            Config::from_url(&format!("{scheme}://{rest}")).map_err(|_| ConfigError::Url)?;
        // A server that is not there yet is waited for, and not given up.
        server.fail_fast = false;
        if uses_tls {
            server.tls = Some(TlsConfig::from(tls::of_this_machine()?));
        }
        Ok(Self {
            server,
            uses_tls,
            prefix: Self::DEFAULT_PREFIX.to_owned(),
            command_timeout: None,
            connect_timeout: Self::DEFAULT_CONNECT_TIMEOUT,
        })
    }

    /// Trusts these certificates, in PEM, and no others.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Tls`] if there is none in the text, or one that can't be read, or the address asks for no TLS.
    pub fn with_trusted_pem(mut self, certificates: &[u8]) -> Result<Self, ConfigError> {
        if !self.uses_tls {
            return Err(ConfigError::Tls);
        }
        self.server.tls = Some(TlsConfig::from(tls::trusting(certificates)?));
        Ok(self)
    }

    /// What every key and channel begins with, so that services can share a server.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Prefix`] if it is empty, longer than 64 bytes, or has a brace: those place keys in a cluster.
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Result<Self, ConfigError> {
        let prefix = prefix.into();
        if prefix.is_empty() || prefix.len() > 64 || prefix.contains(['{', '}']) {
            return Err(ConfigError::Prefix);
        }
        self.prefix = prefix;
        Ok(self)
    }

    /// How long a call may wait for Redis. Unless told otherwise, [`RedisStore::DEFAULT_COMMAND_TIMEOUT`] for the store and
    /// [`RedisCache::DEFAULT_COMMAND_TIMEOUT`] for the cache.
    ///
    /// [`RedisStore::DEFAULT_COMMAND_TIMEOUT`]: crate::RedisStore::DEFAULT_COMMAND_TIMEOUT
    /// [`RedisCache::DEFAULT_COMMAND_TIMEOUT`]: crate::RedisCache::DEFAULT_COMMAND_TIMEOUT
    ///
    /// # Errors
    ///
    /// [`ConfigError::Timeout`] if it is less than a millisecond, or more than a minute.
    pub fn with_command_timeout(mut self, timeout: Duration) -> Result<Self, ConfigError> {
        self.command_timeout = Some(bounded(timeout)?);
        Ok(self)
    }

    /// How long a connection may take to be made, TLS and login included.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Timeout`] if it is less than a millisecond, or more than a minute.
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Result<Self, ConfigError> {
        self.connect_timeout = bounded(timeout)?;
        Ok(self)
    }

    pub(crate) fn server(&self) -> Config {
        self.server.clone()
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) const fn command_timeout(&self) -> Option<Duration> {
        self.command_timeout
    }

    pub(crate) const fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }
}

/// To the client no time at all means for ever; and a wait of more than a minute is no bound to a caller.
fn bounded(timeout: Duration) -> Result<Duration, ConfigError> {
    if !(Duration::from_millis(1)..=Duration::from_secs(60)).contains(&timeout) {
        return Err(ConfigError::Timeout);
    }
    Ok(timeout)
}

/// Shows the hosts, never a user or a password.
impl fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.server.server.hosts();
        let hosts: Vec<_> = hosts.iter().map(ToString::to_string).collect();
        f.debug_struct("RedisConfig")
            .field("hosts", &hosts)
            .field("tls", &self.uses_tls)
            .field("prefix", &self.prefix)
            .field("command_timeout", &self.command_timeout)
            .field("connect_timeout", &self.connect_timeout)
            .finish_non_exhaustive()
    }
}

/// The configuration is none. No message has any of its text, since an address may hold a password.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The address has none of the forms.
    #[error(
        "the address is none of redis://, redis-cluster:// and redis-sentinel://, with or without TLS"
    )]
    Url,
    /// The prefix is empty, too long, or has a brace.
    #[error("a prefix has 1 to 64 bytes and no brace")]
    Prefix,
    /// Less than a millisecond, or more than a minute.
    #[error("a timeout is at least a millisecond and at most a minute")]
    Timeout,
    /// The certificates can't be read, or no TLS was asked for.
    #[error("the certificates to trust can't be read, or the address asks for no TLS")]
    Tls,
}
