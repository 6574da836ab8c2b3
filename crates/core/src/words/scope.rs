//! The static name of an action.

use std::{borrow::Cow, fmt};

/// The static name of an action, such as `payments.transfer`.
///
/// It is part of what a fingerprint binds, so it is written down once and never derived from a function, a module or
/// a route: a refactoring must not change what a credential means. 1 to 64 characters of `a-z 0-9 . _ -`.
///
/// ```
/// use counterfoil_core::Scope;
///
/// const TRANSFER: Scope = Scope::new("payments.transfer");
/// assert_eq!(TRANSFER.as_str(), "payments.transfer");
/// assert!(Scope::parse("Payments Transfer").is_err());
/// ```
///
/// A bad name in a `const` does not compile:
///
/// ```compile_fail
/// use counterfoil_core::Scope;
///
/// const BAD: Scope = Scope::new("");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(Cow<'static, str>);

impl Scope {
    /// The longest name, in bytes.
    pub const MAX_LEN: usize = 64;

    /// A scope known when the program is written.
    ///
    /// # Panics
    ///
    /// On a name that [`Scope::parse`] refuses; in a `const` that is a compile error.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        assert!(
            is_valid(name.as_bytes()),
            "a scope has 1 to 64 characters of a-z 0-9 . _ -"
        );
        Self(Cow::Borrowed(name))
    }

    /// A scope read back from a store.
    ///
    /// # Errors
    ///
    /// [`InvalidScope`] if the name is empty, too long, or has another character.
    pub fn parse(name: &str) -> Result<Self, InvalidScope> {
        if is_valid(name.as_bytes()) {
            Ok(Self(Cow::Owned(name.to_owned())))
        } else {
            Err(InvalidScope)
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_valid(name: &[u8]) -> bool {
    if name.is_empty() || name.len() > Scope::MAX_LEN {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        if !matches!(name[i], b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-') {
            return false;
        }
        i += 1;
    }
    true
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope has 1 to 64 characters of a-z 0-9 . _ -")]
pub struct InvalidScope;
