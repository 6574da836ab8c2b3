//! What of the params is bound, and which spellings are one value.

use std::{fmt, sync::Arc};

use sha2::Sha256;

use super::{hash, pointer, text, tree::Tree};

/// What a gate binds of its params: all fields but some, or only some, and how numbers, nulls and decimals merge.
///
/// The default binds everything, so that a field added later is protected. Fields are named by JSON pointer
/// (RFC 6901), and [`ParamsPolicy::compile`] checks the names. Naming a field that never exists is fine.
///
/// Everything here but the size limit is part of every hash: a changed policy is a changed hash, never a silent merge.
///
/// ```
/// use counterfoil_core::params::{Canonicalizer, ParamsPolicy};
///
/// let policy = ParamsPolicy::all_but(["/note", "/ui"]).with_decimal("/amount").compile()?;
/// let mut canonicalizer = Canonicalizer::new(&policy);
/// let text = canonicalizer.canonical_json(br#"{"note":"asap","amount":10.00,"payee":"p1"}"#)?;
/// assert_eq!(text, r#"{"amount":"10","payee":"p1"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParamsPolicy {
    pub(super) fields: Fields,
    pub(super) decimals: Vec<String>,
    pub(super) numbers: Numbers,
    pub(super) nulls: Nulls,
    pub(super) max_bytes: usize,
}

/// Which fields are bound.
#[derive(Clone, Debug)]
pub(super) enum Fields {
    AllBut(Vec<String>),
    Only(Vec<String>),
}

/// Which numbers are taken. Either way they are compared as exact decimals of any size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numbers {
    /// A number is refused unless a reader with 64-bit integers and doubles executes the very same value: an integer
    /// literal within `i64` or `u64`, or the shortest decimal of a double in any spelling.
    #[default]
    Lossless,
    /// Every number is taken. Only for handlers whose every reader keeps all digits.
    Exact,
}

/// Which null members are as if absent. Nulls in arrays are always kept.
///
/// Dropping is right only where a null and an absent member mean the same to the handler. A type that holds an enum
/// whose variants carry nulls at the top level of the params (`{"refund":null}` or `{"cancel":null}`) needs
/// [`Nulls::Keep`] if raw JSON is hashed, or if serde flattens that enum; an enum as the params themselves is told
/// apart by the serializer, and its payload is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Nulls {
    /// Null members of the params object itself are dropped, deeper ones are kept.
    #[default]
    DropTopLevel,
    /// Null members are dropped at every depth.
    DropEverywhere,
    /// All nulls are kept.
    Keep,
}

/// A checked [`ParamsPolicy`]; a clone is one reference count.
#[derive(Clone)]
pub struct CompiledPolicy(Arc<Compiled>);

struct Compiled {
    policy: ParamsPolicy,
    tree: Tree,
    /// SHA-256 fed with everything that comes before the params.
    prefix: Sha256,
}

/// A [`ParamsPolicy`] that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The text is no JSON pointer to a field.
    #[error(
        "{0:?} is not a JSON pointer to a field: write \"/name\" or \"/outer/inner\", with ~0 for ~ and ~1 for /"
    )]
    Malformed(String),
    /// A list names a field twice.
    #[error("the field {0:?} is named twice in one list")]
    NamedTwice(String),
    /// Of two bound fields one lies inside the other.
    #[error("the bound field {inner:?} lies inside the bound field {outer:?}; name one of them")]
    Nested {
        /// The container.
        outer: String,
        /// The field in it.
        inner: String,
    },
    /// A decimal that is not bound.
    #[error("the decimal field {decimal:?} is not bound; take {other:?} out of the ignored fields")]
    IgnoredDecimal {
        /// The decimal.
        decimal: String,
        /// The ignored field that it is, or lies in.
        other: String,
    },
    /// A decimal that none of the bound fields is or contains.
    #[error("the decimal field {0:?} is not among the bound fields")]
    UnboundDecimal(String),
    /// A decimal is a single value, and yet a field inside it is named.
    #[error("{inner:?} lies inside {decimal:?}, which is a decimal and has no fields")]
    InsideDecimal {
        /// The decimal.
        decimal: String,
        /// The field inside it.
        inner: String,
    },
    /// No field is bound: every request would have one hash.
    #[error("no field is bound; name at least one, or bind all but the ignored ones")]
    NothingBound,
}

impl ParamsPolicy {
    /// The size limit where none is set: 1 MiB.
    pub const DEFAULT_MAX_BYTES: usize = 1 << 20;

    /// Binds all fields but those named.
    #[must_use]
    pub fn all_but<I>(ignored: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        Self::of(Fields::AllBut(collect(ignored)))
    }

    /// Binds only the fields named. A field added later is not protected: prefer [`ParamsPolicy::all_but`].
    #[must_use]
    pub fn only<I>(bound: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        Self::of(Fields::Only(collect(bound)))
    }

    /// Declares a field a decimal: `"10.00"`, `"10"`, `10.0` and `1e1` in it are one value, and what is no decimal is
    /// refused. Its canonical form is a string in plain notation.
    #[must_use]
    pub fn with_decimal(mut self, pointer: impl Into<String>) -> Self {
        self.decimals.push(pointer.into());
        self
    }

    /// Which numbers are taken; [`Numbers::Lossless`] if not said.
    #[must_use]
    pub fn with_numbers(mut self, numbers: Numbers) -> Self {
        self.numbers = numbers;
        self
    }

    /// Which null members are as if absent; [`Nulls::DropTopLevel`] if not said.
    #[must_use]
    pub fn with_nulls(mut self, nulls: Nulls) -> Self {
        self.nulls = nulls;
        self
    }

    /// The longest text that is read and the longest canonical text that is written, in bytes, ignored fields
    /// included; [`ParamsPolicy::DEFAULT_MAX_BYTES`] if not said. It changes no hash.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Checks the policy and makes it ready for use.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if a pointer is malformed, a field is named twice, or names contradict each other.
    pub fn compile(&self) -> Result<CompiledPolicy, PolicyError> {
        let mut policy = self.clone();
        let listed = match &mut policy.fields {
            Fields::AllBut(list) | Fields::Only(list) => list,
        };
        listed.sort_unstable_by(|a, b| text::utf16_order(a, b));
        policy
            .decimals
            .sort_unstable_by(|a, b| text::utf16_order(a, b));
        check_names(listed)?;
        check_names(&policy.decimals)?;
        match &policy.fields {
            Fields::AllBut(ignored) => check_ignored(ignored, &policy.decimals)?,
            Fields::Only(bound) => check_bound(bound, &policy.decimals)?,
        }
        check_decimals(&policy.decimals)?;
        let tree = Tree::of(&policy);
        let prefix = hash::prefix(&policy);
        Ok(CompiledPolicy(Arc::new(Compiled {
            policy,
            tree,
            prefix,
        })))
    }

    fn of(fields: Fields) -> Self {
        Self {
            fields,
            decimals: Vec::new(),
            numbers: Numbers::default(),
            nulls: Nulls::default(),
            max_bytes: Self::DEFAULT_MAX_BYTES,
        }
    }
}

/// Everything bound.
impl Default for ParamsPolicy {
    fn default() -> Self {
        Self::of(Fields::AllBut(Vec::new()))
    }
}

impl CompiledPolicy {
    /// The longest text that is read or written, in bytes.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.0.policy.max_bytes
    }

    pub(super) fn numbers(&self) -> Numbers {
        self.0.policy.numbers
    }

    pub(super) fn nulls(&self) -> Nulls {
        self.0.policy.nulls
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.0.tree
    }

    pub(super) fn prefix(&self) -> Sha256 {
        self.0.prefix.clone()
    }
}

impl fmt::Debug for CompiledPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CompiledPolicy")
            .field(&self.0.policy)
            .finish()
    }
}

fn collect(pointers: impl IntoIterator<Item: Into<String>>) -> Vec<String> {
    pointers.into_iter().map(Into::into).collect()
}

/// A pointer spells a field in one way only, so equal fields are equal texts.
fn check_names(sorted: &[String]) -> Result<(), PolicyError> {
    if let Some(bad) = sorted.iter().find(|p| pointer::tokens(p).is_none()) {
        return Err(PolicyError::Malformed(bad.clone()));
    }
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(PolicyError::NamedTwice(pair[0].clone())),
        None => Ok(()),
    }
}

fn check_bound(bound: &[String], decimals: &[String]) -> Result<(), PolicyError> {
    if bound.is_empty() {
        return Err(PolicyError::NothingBound);
    }
    for outer in bound {
        if let Some(inner) = bound.iter().find(|inner| is_inside(inner, outer)) {
            return Err(PolicyError::Nested {
                outer: outer.clone(),
                inner: inner.clone(),
            });
        }
    }
    let is_bound = |decimal: &String| bound.iter().any(|b| b == decimal || is_inside(decimal, b));
    for decimal in decimals {
        if let Some(inner) = bound.iter().find(|inner| is_inside(inner, decimal)) {
            return Err(inside_decimal(decimal, inner));
        }
        if !is_bound(decimal) {
            return Err(PolicyError::UnboundDecimal(decimal.clone()));
        }
    }
    Ok(())
}

fn check_ignored(ignored: &[String], decimals: &[String]) -> Result<(), PolicyError> {
    for decimal in decimals {
        if let Some(inner) = ignored.iter().find(|inner| is_inside(inner, decimal)) {
            return Err(inside_decimal(decimal, inner));
        }
        let covers = |other: &&String| *other == decimal || is_inside(decimal, other);
        if let Some(other) = ignored.iter().find(covers) {
            return Err(PolicyError::IgnoredDecimal {
                decimal: decimal.clone(),
                other: other.clone(),
            });
        }
    }
    Ok(())
}

fn check_decimals(decimals: &[String]) -> Result<(), PolicyError> {
    for decimal in decimals {
        if let Some(inner) = decimals.iter().find(|inner| is_inside(inner, decimal)) {
            return Err(inside_decimal(decimal, inner));
        }
    }
    Ok(())
}

fn inside_decimal(decimal: &str, inner: &str) -> PolicyError {
    PolicyError::InsideDecimal {
        decimal: decimal.to_owned(),
        inner: inner.to_owned(),
    }
}

fn is_inside(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.starts_with('/'))
}
