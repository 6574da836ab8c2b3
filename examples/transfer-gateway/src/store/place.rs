//! Where operations are kept, as `--store` says it, or else the environment.

use std::fmt;

/// Where the store is looked for when `--store` is not given.
pub(crate) const VARIABLE: &str = "COUNTERFOIL_STORE";

/// The value of `--store`. `Debug` and every message show schemes only: the rest of a URL may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In this process, and gone with it.
    Memory,
    /// Redis alone, on one server, behind Sentinel or in a cluster.
    Redis(String),
    /// Postgres.
    Postgres(String),
    /// Postgres behind Redis.
    Tiered { truth: String, cache: String },
}

const REDIS: [&str; 6] = [
    "redis://",
    "rediss://",
    "redis-cluster://",
    "rediss-cluster://",
    "redis-sentinel://",
    "rediss-sentinel://",
];
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];

impl Place {
    /// Reads the value that `name` was given.
    ///
    /// # Errors
    ///
    /// What is expected, in a sentence that shows nothing of the value but its scheme.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, String> {
        if text == "memory:" {
            return Ok(Self::Memory);
        }
        if is_one_of(&REDIS, text) {
            return Ok(Self::Redis(text.to_owned()));
        }
        if is_one_of(&POSTGRES, text) {
            return Ok(Self::Postgres(text.to_owned()));
        }
        match text.strip_prefix("tiered:") {
            Some(both) => Self::tiered(name, both),
            None => Err(format!(
                "{name} {:?} is no store; it is memory:, redis://…, redis-cluster://…, redis-sentinel://…, postgres://…, or \
                 tiered: with a postgres URL, a comma and a redis URL",
                scheme(text)
            )),
        }
    }

    /// The first comma behind which a Redis URL begins: a password may hold one.
    fn tiered(name: &str, both: &str) -> Result<Self, String> {
        let cut = both
            .match_indices(',')
            .map(|(at, _)| at)
            .find(|at| is_one_of(&REDIS, &both[at + 1..]));
        match cut {
            Some(at) if is_one_of(&POSTGRES, &both[..at]) => Ok(Self::Tiered {
                truth: both[..at].to_owned(),
                cache: both[at + 1..].to_owned(),
            }),
            _ => Err(format!(
                "{name} tiered: takes a postgres URL, a comma and a redis URL"
            )),
        }
    }

    /// Whether an acknowledged claim may be lost there.
    pub(crate) const fn may_lose_writes(&self) -> bool {
        matches!(self, Self::Redis(_))
    }

    /// What is said of it at the start.
    pub(crate) const fn described(&self) -> &'static str {
        match self {
            Self::Memory => "in memory, and forgotten when this process ends",
            Self::Redis(_) => {
                "in Redis alone, which may lose one: then a transfer may happen twice"
            }
            Self::Postgres(_) => "in Postgres",
            Self::Tiered { .. } => "in Postgres, with a cache in Redis",
        }
    }
}

fn is_one_of(schemes: &[&str], text: &str) -> bool {
    schemes.iter().any(|scheme| {
        text.strip_prefix(scheme)
            .is_some_and(|rest| !rest.is_empty())
    })
}

fn scheme(text: &str) -> &str {
    let scheme = text.split(':').next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if scheme.len() <= LONGEST_SCHEME && scheme.bytes().all(is_plain) && scheme.len() < text.len() {
        scheme
    } else {
        "that"
    }
}

const LONGEST_SCHEME: usize = 16;

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "Memory",
            Self::Redis(_) => "Redis",
            Self::Postgres(_) => "Postgres",
            Self::Tiered { .. } => "Tiered",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_store_is_read() {
        let tiered = |truth: &str, cache: &str| Place::Tiered {
            truth: truth.to_owned(),
            cache: cache.to_owned(),
        };
        for (text, place) in [
            ("memory:", Place::Memory),
            ("redis://h:1", Place::Redis("redis://h:1".to_owned())),
            (
                "postgres://u:p@h/d",
                Place::Postgres("postgres://u:p@h/d".to_owned()),
            ),
            (
                "tiered:postgres://u:a,b@h/d,redis-cluster://h:1?node=h:2",
                tiered("postgres://u:a,b@h/d", "redis-cluster://h:1?node=h:2"),
            ),
        ] {
            assert_eq!(Place::parse("--store", text), Ok(place), "{text}");
        }
    }

    #[test]
    fn what_is_no_store_is_refused_without_showing_it() {
        for text in [
            "memory",
            "",
            "redis://",
            "mysql://secret@h",
            "tiered:postgres://secret@h/d",
            "tiered:redis://secret@h,postgres://h/d",
            "secret words: here",
        ] {
            let refused = Place::parse(VARIABLE, text).expect_err(text);
            assert!(refused.contains(VARIABLE), "{refused}");
            assert!(!refused.contains("secret"), "{refused}");
        }
        assert!(
            Place::parse("--store", "mysql://h")
                .expect_err("mysql")
                .contains("\"mysql\"")
        );
    }
}
