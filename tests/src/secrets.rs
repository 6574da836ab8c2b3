//! What must never stand in a log.

use std::sync::{Arc, Mutex, PoisonError};

/// Texts that a gateway was given or gave out in confidence. Shared by a gateway and all of its callers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    pub(crate) fn keep(&self, text: impl Into<String>) {
        self.lock().push(text.into());
    }

    /// The signed parts of a fingerprint: each alone is too much for a log. The prefix and the key id are no secret.
    pub(crate) fn keep_fingerprint(&self, fingerprint: &str) {
        for part in fingerprint.split('.').skip(2) {
            self.keep(part);
        }
    }

    /// The hex of `KID=HEX[,KID=HEX…]`.
    pub(crate) fn keep_keys(&self, keys: &str) {
        for key in keys.split(',') {
            if let Some((_, hex)) = key.split_once('=') {
                self.keep(hex);
            }
        }
    }

    /// The first secret that stands in `text`.
    pub(crate) fn found_in(&self, text: &str) -> Option<String> {
        self.lock()
            .iter()
            .find(|secret| text.contains(secret.as_str()))
            .cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
