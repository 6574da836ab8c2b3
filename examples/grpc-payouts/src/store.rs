//! Where operations are kept.
//!
//! A few lines of one's own: the transfer gateway's way to open a store knows poolers, clears up old records and never shows
//! an address, and is three times this example.

use std::{error::Error, sync::Arc};

use counterfoil::{
    MemoryStore,
    fingerprint::Keyring,
    postgres::PostgresStore,
    redis::{ALostWriteMayBeRepeated, RedisCache, RedisConfig, RedisStore},
    store::Store,
    tiered::TieredStore,
};

type BoxError = Box<dyn Error + Send + Sync>;

/// A place for operations.
#[derive(Clone)]
pub enum Place {
    /// In this process, and gone with it.
    Memory,
    /// `postgres://…`: truth.
    Postgres(String),
    /// `tiered:postgres://…,redis://…`: truth, and a cache in front of it.
    Tiered(String, String),
    /// `redis://…`, which may lose a write: then a payout happens twice.
    RedisAlone(String),
}

impl Place {
    /// Reads a URL. Redis alone is taken only from who accepts that it may lose a write.
    ///
    /// # Errors
    ///
    /// A sentence that shows nothing of the URL.
    pub fn parse(url: &str, accept_lost_writes: bool) -> Result<Self, BoxError> {
        let url = url.to_owned();
        if url.starts_with("postgres://") {
            return Ok(Self::Postgres(url));
        }
        if let Some((truth, cache)) = url.strip_prefix("tiered:").and_then(|both| {
            let at = both.find(",redis://")?;
            Some((&both[..at], &both[at + 1..]))
        }) {
            return Ok(Self::Tiered(truth.to_owned(), cache.to_owned()));
        }
        match url.starts_with("redis://") {
            true if accept_lost_writes => Ok(Self::RedisAlone(url)),
            true => {
                Err("Redis alone may lose a payout and then repeat it: --accept-lost-writes".into())
            }
            false => {
                Err("--store is postgres://…, tiered:postgres://…,redis://… or redis://…".into())
            }
        }
    }

    /// Opens it, in Postgres after bringing the schema up to this version.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn open(&self, keys: &Keyring) -> Result<Arc<dyn Store>, BoxError> {
        Ok(match self {
            Self::Memory => Arc::new(MemoryStore::new()),
            Self::Postgres(url) => Arc::new(postgres(url).await?),
            Self::Tiered(truth, cache) => {
                let cache = RedisConfig::from_url(cache)?;
                let cache = RedisCache::connect(cache, keys.value_keys()).await?;
                Arc::new(TieredStore::new(postgres(truth).await?, cache))
            }
            Self::RedisAlone(url) => {
                let config = RedisConfig::from_url(url)?;
                let accepted = ALostWriteMayBeRepeated;
                Arc::new(RedisStore::alone(config, keys.value_keys(), accepted).await?)
            }
        })
    }

    /// Whether a payout that was acknowledged may happen again.
    #[must_use]
    pub const fn may_lose_writes(&self) -> bool {
        matches!(self, Self::RedisAlone(_))
    }
}

async fn postgres(url: &str) -> Result<PostgresStore, BoxError> {
    let builder = PostgresStore::builder(url)?;
    builder.migrate().await?;
    Ok(builder.connect().await?)
}

/// Shows the kind: the rest of a URL may hold a password.
impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Memory => "Memory",
            Self::Postgres(_) => "Postgres",
            Self::Tiered(..) => "Tiered",
            Self::RedisAlone(_) => "RedisAlone",
        })
    }
}
