//! The authenticated caller.

use std::{fmt, sync::Arc};

/// The authenticated caller: a tenant, and a principal in it.
///
/// An operation belongs to one subject. There is no anonymous subject: a caller without one is refused, since a shared
/// one would hand the results of one caller to the next. A part holds any characters, and is compared byte for byte. It
/// is not empty and, percent-encoded, has at most 192 bytes, so that a fingerprint has room for it.
///
/// ```
/// use counterfoil_core::Subject;
///
/// let subject = Subject::new("acme", "agent-7")?;
/// assert_eq!(subject.tenant(), "acme");
/// assert!(Subject::new("acme", "").is_err());
/// # Ok::<(), counterfoil_core::InvalidSubject>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    tenant: Arc<str>,
    principal: Arc<str>,
}

impl Subject {
    /// The longest tenant and the longest principal, in bytes after percent-encoding: a byte that is not of
    /// `A-Z a-z 0-9 - . _ ~` counts three times.
    pub const MAX_ENCODED_PART_LEN: usize = 192;

    /// A subject from its parts.
    ///
    /// # Errors
    ///
    /// [`InvalidSubject`] names the part that is empty or too long.
    pub fn new(tenant: &str, principal: &str) -> Result<Self, InvalidSubject> {
        check("tenant", tenant)?;
        check("principal", principal)?;
        Ok(Self {
            tenant: tenant.into(),
            principal: principal.into(),
        })
    }

    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The principal in the tenant.
    #[must_use]
    pub fn principal(&self) -> &str {
        &self.principal
    }
}

fn check(part: &'static str, text: &str) -> Result<(), InvalidSubject> {
    let encoded_len: usize = text
        .bytes()
        .map(|b| if is_unreserved(b) { 1 } else { 3 })
        .sum();
    match encoded_len {
        0 => Err(InvalidSubject {
            part,
            problem: "is empty",
        }),
        n if n > Subject::MAX_ENCODED_PART_LEN => Err(InvalidSubject {
            part,
            problem: "is longer than 192 bytes when percent-encoded",
        }),
        _ => Ok(()),
    }
}

/// RFC 3986, section 2.3.
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subject({:?}/{:?})", self.tenant, self.principal)
    }
}

/// A part of a subject is empty or too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the subject's {part} {problem}")]
pub struct InvalidSubject {
    part: &'static str,
    problem: &'static str,
}
