//! The name of the service that a grant is for.

use std::{borrow::Cow, fmt};

/// The name of the service that a grant is for, such as `ledger`: 1 to 64 characters of `a-z 0-9 . _ -`.
///
/// A service that gets another one's grant refuses it.
///
/// ```
/// use counterfoil_core::grant::Audience;
///
/// const LEDGER: Audience = Audience::new("ledger");
/// assert_eq!(LEDGER.as_str(), "ledger");
/// assert!(Audience::parse("The Ledger").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Audience(Cow<'static, str>);

impl Audience {
    /// The longest name, in bytes.
    pub const MAX_LEN: usize = 64;

    /// A name known when the program is written.
    ///
    /// # Panics
    ///
    /// On a name that [`Audience::parse`] refuses; in a `const` that is a compile error.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        assert!(
            is_valid(name.as_bytes()),
            "an audience has 1 to 64 characters of a-z 0-9 . _ -"
        );
        Self(Cow::Borrowed(name))
    }

    /// A name from a configuration.
    ///
    /// # Errors
    ///
    /// [`InvalidAudience`] if the name is empty, too long, or has another character.
    pub fn parse(name: &str) -> Result<Self, InvalidAudience> {
        if is_valid(name.as_bytes()) {
            Ok(Self(Cow::Owned(name.to_owned())))
        } else {
            Err(InvalidAudience)
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_valid(name: &[u8]) -> bool {
    if name.is_empty() || name.len() > Audience::MAX_LEN {
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

impl fmt::Debug for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not the name of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an audience has 1 to 64 characters of a-z 0-9 . _ -")]
pub struct InvalidAudience;
