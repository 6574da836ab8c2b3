//! How the words of core are written into columns, and read back.

use std::{borrow::Cow, error::Error, time::Duration};

use bytes::BytesMut;
use counterfoil_core::{Epoch, OperationId, Owner, Timestamp};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// The 16 bytes of a `uuid` column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Id(pub(crate) [u8; 16]);

impl From<OperationId> for Id {
    fn from(id: OperationId) -> Self {
        Self(*id.as_bytes())
    }
}

impl From<Owner> for Id {
    fn from(owner: Owner) -> Self {
        Self(*owner.as_bytes())
    }
}

impl ToSql for Id {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::UUID
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Id {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.try_into()?))
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::UUID
    }
}

/// Times beyond it, some 73 million years off, are written as it, so that a sum of a few of them stays in a `bigint`.
const FAR_MS: u64 = 1 << 61;

pub(crate) fn ms(time: Timestamp) -> i64 {
    clamp(time.unix_ms())
}

pub(crate) fn duration_ms(duration: Duration) -> i64 {
    clamp(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// An epoch that no column holds is one that no operation has.
pub(crate) fn epoch(epoch: Epoch) -> i64 {
    clamp(epoch.as_u64())
}

fn clamp(number: u64) -> i64 {
    number.min(FAR_MS) as i64
}

/// A negative number was never written.
pub(crate) fn timestamp(ms: i64) -> Option<Timestamp> {
    u64::try_from(ms).ok().map(Timestamp::from_unix_ms)
}

/// `text` holds every character but NUL. It is written behind an escape character, which is itself written twice, so
/// that every text comes back as it was and no two become one.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', ESCAPE]) {
        text.replace(ESCAPE, "\u{1b}\u{1b}")
            .replace('\0', "\u{1b}0")
            .into()
    } else {
        text.into()
    }
}

/// `None` for what [`escape`] never wrote.
pub(crate) fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(ESCAPE) {
        return Some(text.into());
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            ESCAPE => match chars.next()? {
                ESCAPE => ESCAPE,
                '0' => '\0',
                _ => return None,
            },
            c => c,
        });
    }
    Some(plain.into())
}

const ESCAPE: char = '\u{1b}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_as_it_was() {
        for text in [
            "",
            "plain",
            "nul \0 inside",
            "\u{1b}",
            "\u{1b}0",
            "\u{1b}\0\u{1b}",
        ] {
            let escaped = escape(text);
            assert!(!escaped.contains('\0'));
            assert_eq!(unescape(&escaped).as_deref(), Some(text));
        }
        assert_ne!(escape("\0"), escape("\u{1b}0"));
        assert_eq!(unescape("\u{1b}x"), None);
        assert_eq!(unescape("\u{1b}"), None);
    }

    #[test]
    fn far_times_stay_in_a_bigint() {
        let far = ms(Timestamp::from_unix_ms(u64::MAX));
        let longest = duration_ms(Duration::MAX);
        assert!(far.checked_add(longest).is_some());
        assert_eq!(timestamp(-1), None);
    }
}
