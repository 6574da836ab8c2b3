//! Where things are kept: the names of keys and channels.

use counterfoil_core::OperationId;

/// A prefix, and what is named under it.
///
/// An operation has one key, `PREFIX{ID}`: its id in 32 hex digits between braces, which Redis Cluster places it by. Ids
/// are ours or digests, so that nobody's text steers a key to a slot.
#[derive(Clone, Debug)]
pub(crate) struct KeySpace {
    prefix: String,
}

impl KeySpace {
    pub(crate) const fn new(prefix: String) -> Self {
        Self { prefix }
    }

    pub(crate) fn key(&self, id: OperationId) -> String {
        format!("{}{{{}}}", self.prefix, id.simple())
    }

    /// Where changes of an operation are told. In a cluster it is on the node that has the key.
    pub(crate) fn channel(&self, id: OperationId) -> String {
        format!("{}changed:{{{}}}", self.prefix, id.simple())
    }

    /// What a scan asks for: every key of an operation.
    pub(crate) fn pattern(&self) -> String {
        let mut pattern = String::with_capacity(self.prefix.len() + 3);
        for letter in self.prefix.chars() {
            if matches!(letter, '*' | '?' | '[' | ']' | '\\' | '^') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern.push_str("{*}");
        pattern
    }

    /// The operation whose key this is.
    pub(crate) fn id_of(&self, key: &[u8]) -> Option<OperationId> {
        let id = std::str::from_utf8(key)
            .ok()?
            .strip_prefix(&self.prefix)?
            .strip_prefix('{')?
            .strip_suffix('}')?;
        (id.len() == 32).then(|| id.parse().ok()).flatten()
    }
}
