//! Scripts: what they are made of, how they are called, and whether a reply is the call's.

use std::fmt::{self, Write as _};

use bytes::Bytes;
use counterfoil_core::{Epoch, OperationId, Timestamp, store::StoreError};
use fred::{error::Error, types::Value, util::redis_keyslot};
use sha1::{Digest, Sha1};
use tokio::time::Instant;

use crate::{
    failure::{is_unknown_script, out_of_step, store_error},
    link::{Link, Place},
};

/// A transition in Lua.
#[derive(Debug)]
pub(crate) struct Script {
    text: Bytes,
    hash: Value,
}

impl Script {
    /// Made of these parts, in this order.
    pub(crate) fn new(parts: &[&str]) -> Self {
        let text = parts.concat();
        Self {
            hash: digest(text.as_bytes()).into(),
            text: text.into(),
        }
    }
}

/// SHA-1 in hex: what Redis names scripts by, and what its Lua can make. It tells two values apart, and vouches for none.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(40);
    for byte in Sha1::digest(bytes) {
        // A string takes all that is written to it.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// What a script answered, for the call that asked.
///
/// `Debug` shows which answer, and nothing of a record.
pub(crate) struct Reply {
    /// Which of its answers.
    pub(crate) what: String,
    /// The store's clock.
    pub(crate) now: Timestamp,
    more: Option<Value>,
}

impl Reply {
    /// The record that came with it.
    pub(crate) fn value(self) -> Result<Bytes, StoreError> {
        self.more.and_then(into_bytes).ok_or_else(out_of_step)
    }

    pub(crate) const fn has_value(&self) -> bool {
        self.more.is_some()
    }

    /// What came with a claim.
    pub(crate) fn epoch_and_attempt(self) -> Result<(Epoch, u32), StoreError> {
        let value = self.value()?;
        let (epoch, attempt) = value.split_first_chunk().ok_or_else(out_of_step)?;
        let attempt = attempt.try_into().map_err(|_| out_of_step())?;
        let epoch = Epoch::from_u64(u64::from_be_bytes(*epoch));
        Ok((epoch, u32::from_be_bytes(attempt)))
    }

    /// The number that came with it.
    pub(crate) fn number(&self) -> Result<u32, StoreError> {
        let number = self.more.as_ref().and_then(Value::as_u64);
        number
            .and_then(|number| number.try_into().ok())
            .ok_or_else(out_of_step)
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("what", &self.what)
            .field("now", &self.now)
            .field("has_value", &self.has_value())
            .finish_non_exhaustive()
    }
}

impl Link {
    /// Calls a script on an operation's key: by its hash, and by its text where the server has not seen it yet, which is
    /// so after a restart, a failover or SCRIPT FLUSH. A server that doesn't know a script has done nothing.
    ///
    /// # Errors
    ///
    /// As [`failure`](crate::failure) reads them; `Indeterminate` for a reply that is not this call's.
    pub(crate) async fn call(
        &self,
        script: &Script,
        id: OperationId,
        key: String,
        args: Vec<Value>,
        until: Instant,
    ) -> Result<Reply, StoreError> {
        let place = Place::Slot(redis_keyslot(key.as_bytes()));
        self.call_at(script, id, place, vec![key.into()], args, until)
            .await
    }

    /// Calls a script on keys that are in one place; `id` is any of theirs.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub(crate) async fn call_at(
        &self,
        script: &Script,
        id: OperationId,
        place: Place,
        keys: Vec<Value>,
        args: Vec<Value>,
        until: Instant,
    ) -> Result<Reply, StoreError> {
        let mut echo = [0; 24];
        echo[..16].copy_from_slice(id.as_bytes());
        echo[16..].copy_from_slice(&self.nonce());
        let echo = Bytes::copy_from_slice(&echo);

        let sent = |name: Value| {
            let mut all = Vec::with_capacity(keys.len() + args.len() + 3);
            all.push(name);
            all.push(Value::Integer(keys.len() as i64));
            all.extend(keys.iter().cloned());
            all.push(Value::Bytes(echo.clone()));
            all.extend(args.iter().cloned());
            all
        };
        let connection = self.connection();
        let by_hash = sent(script.hash.clone());
        let answer = match self.send("EVALSHA", place.clone(), by_hash, until).await {
            Err(error) if is_unknown_script(&error) => {
                let by_text = sent(Value::Bytes(script.text.clone()));
                // Boxed, since it is rare: room for it in every call's future would cost every call.
                Box::pin(self.send("EVAL", place, by_text, until)).await
            }
            answer => answer,
        };
        match self.read(answer, &echo)? {
            Some(reply) if reply.what == "corrupt" => Err(crate::failure::corrupt()),
            Some(reply) => Ok(reply),
            None => {
                // Whatever else is on its way on this connection may be another's too.
                self.drop_connection(connection);
                Err(out_of_step())
            }
        }
    }

    fn read(
        &self,
        answer: Result<Value, Error>,
        echo: &Bytes,
    ) -> Result<Option<Reply>, StoreError> {
        let Value::Array(parts) = answer.map_err(store_error)? else {
            return Ok(None);
        };
        let mut parts = parts.into_iter();
        let mut next = || parts.next();
        let its_echo = next().and_then(into_bytes);
        let what = next().and_then(Value::into_string);
        let now = next().and_then(|now| now.as_u64());
        Ok(match (its_echo, what, now) {
            (Some(its_echo), Some(what), Some(now)) if its_echo == *echo => Some(Reply {
                what,
                now: Timestamp::from_unix_ms(now),
                more: next(),
            }),
            _ => None,
        })
    }
}

fn into_bytes(value: Value) -> Option<Bytes> {
    match value {
        Value::Bytes(bytes) => Some(bytes),
        Value::String(text) => Some(text.into_inner()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_of_a_reply_shows_which_it_is_and_nothing_of_a_record() {
        let reply = Reply {
            what: "found".to_owned(),
            now: Timestamp::from_unix_ms(7),
            more: Some(Value::Bytes(Bytes::from_static(b"acme pays"))),
        };
        let shown = format!("{reply:?}");
        assert!(shown.contains("found") && shown.contains("has_value: true"));
        assert!(!shown.contains("acme"), "{shown}");
        // Nor as numbers.
        assert!(!shown.contains("97"), "{shown}");
    }
}
