//! Opening the store that `--store` names.

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use counterfoil::{
    MemoryStore, OperationId,
    fingerprint::Keyring,
    postgres::PostgresStore,
    redis::{ALostWriteMayBeRepeated, RedisCache, RedisConfig, RedisStore},
    store::{Cache, Store},
    tiered::TieredStore,
};
use tracing::{info, warn};

use super::{Clearing, Place};

/// Why a store can't be opened. None of it shows an address: that may hold a password.
#[derive(Debug, thiserror::Error)]
#[error("the store can't be opened: {doing}")]
pub(crate) struct OpenError {
    doing: &'static str,
    source: Box<dyn Error + Send + Sync>,
}

/// Opens it, in Postgres after bringing the schema up to this version; and says what is to be cleared up in it.
pub(crate) async fn open(
    place: &Place,
    keys: &Keyring,
) -> Result<(Arc<dyn Store>, Clearing), OpenError> {
    let mut days = None;
    let store: Arc<dyn Store> = match place {
        Place::Memory => Arc::new(MemoryStore::new()),
        Place::Redis(url) => Arc::new(redis_alone(url, keys).await?),
        Place::Postgres(url) => Arc::new(days.insert(postgres(url).await?).clone()),
        Place::Tiered { truth, cache } => {
            let truth = days.insert(postgres(truth).await?).clone();
            let cache = Arc::new(redis_cache(cache, keys).await?);
            tokio::spawn(warn_if_out_of_reach(Arc::clone(&cache)));
            Arc::new(TieredStore::new(truth, cache))
        }
    };
    let clearing = Clearing {
        store: Arc::clone(&store),
        days,
    };
    Ok((store, clearing))
}

/// Only after `--accept-lost-writes`: without it the command line is refused.
async fn redis_alone(url: &str, keys: &Keyring) -> Result<RedisStore, OpenError> {
    let config =
        RedisConfig::from_url(url).map_err(|error| failed("the address of Redis", error))?;
    RedisStore::alone(config, keys.value_keys(), ALostWriteMayBeRepeated)
        .await
        .map_err(|error| failed("connecting to Redis", error))
}

async fn redis_cache(url: &str, keys: &Keyring) -> Result<RedisCache, OpenError> {
    let config =
        RedisConfig::from_url(url).map_err(|error| failed("the address of Redis", error))?;
    RedisCache::connect(config, keys.value_keys())
        .await
        .map_err(|error| failed("the cache in Redis", error))
}

/// A cache out of reach is no reason not to start, and nobody would notice: truth answers alone. It connects in the
/// background, so it has some time.
async fn warn_if_out_of_reach(cache: Arc<RedisCache>) {
    // An id that no operation has.
    let nobody = OperationId::from_bytes([0; 16]);
    let ends = Instant::now() + REACHED_WITHIN;
    loop {
        let Err(error) = cache.get(nobody).await else {
            return;
        };
        if Instant::now() >= ends {
            warn!(%error, "the cache in Redis is out of reach: Postgres answers alone until it is back");
            return;
        }
        tokio::time::sleep(REACHED_WITHIN / 10).await;
    }
}

const REACHED_WITHIN: Duration = Duration::from_secs(2);

async fn postgres(url: &str) -> Result<PostgresStore, OpenError> {
    let (url, is_pooled) = match without_parameter(url, PGBOUNCER) {
        Some(rest) => (rest, true),
        None => (url.to_owned(), false),
    };
    let builder =
        PostgresStore::builder(&url).map_err(|error| failed("the address of Postgres", error))?;
    let builder = if is_pooled {
        builder.behind_transaction_pooler()
    } else {
        builder
    };
    builder
        .migrate()
        .await
        .map_err(|error| failed("bringing the schema in Postgres up to date", error))?;
    let store = builder
        .with_commit_delay(COMMIT_DELAY)
        .connect()
        .await
        .map_err(|error| failed("connecting to Postgres", error))?;
    info!(?store, "connected to Postgres");
    Ok(store)
}

/// From judging a fingerprint's end to its commit, a claim takes milliseconds. The store asks for more than a caller waits
/// for it, which is five seconds.
const COMMIT_DELAY: Duration = Duration::from_secs(10);

/// A parameter of ours in a Postgres URL: it leads to a pooler in transaction mode.
const PGBOUNCER: &str = "pgbouncer=true";

/// The URL without a parameter, if it has it.
fn without_parameter(url: &str, parameter: &str) -> Option<String> {
    let (rest, query) = url.split_once('?')?;
    let others: Vec<_> = query.split('&').filter(|part| *part != parameter).collect();
    if others.len() == query.split('&').count() {
        return None;
    }
    Some(match &others[..] {
        [] => rest.to_owned(),
        some => format!("{rest}?{}", some.join("&")),
    })
}

fn failed(doing: &'static str, source: impl Error + Send + Sync + 'static) -> OpenError {
    OpenError {
        doing,
        source: Box::new(source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_for_a_pooler_is_taken_out_of_the_url() {
        for (url, rest) in [
            ("postgres://h/d?pgbouncer=true", Some("postgres://h/d")),
            (
                "postgres://h/d?a=b&pgbouncer=true",
                Some("postgres://h/d?a=b"),
            ),
            ("postgres://h/d?pgbouncer=false", None),
            ("postgres://h/d", None),
        ] {
            assert_eq!(without_parameter(url, PGBOUNCER).as_deref(), rest, "{url}");
        }
    }
}
