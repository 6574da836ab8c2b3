//! Params: read strictly, brought into one canonical form, hashed.
//!
//! The hash decides whether a second call is the same operation. So two spellings are one value only if every reader
//! downstream executes the same value: a hash that is too fine costs one more confirmation, one that is too coarse
//! moves money.
//!
//! - The canonical text is RFC 8785 with exact decimals: members sorted by UTF-16 code units, numbers in ECMAScript's
//!   shape but with all of their digits, no white space. Where RFC 8785 loses nothing, the two are equal.
//! - JSON is read by the letter of RFC 8259: duplicate members, lone surrogates, bytes that are not UTF-8 and anything
//!   after the value are errors, also inside fields that the hash ignores.
//! - [`ParamsPolicy`] says what is bound; it is part of the hash.
//! - [`Canonicalizer`] takes JSON bytes or any `Serialize`, through one emitter, and keeps its buffers.
//! - [`Members`] is a body read whole, from which credentials are taken out and to which path and query are joined;
//!   [`decode`] makes the handler's type of it.
//!
//! Caveats: a number may be read whose canonical form is over the reader's own limits (128 bytes, exponent 9999), so
//! the canonical text of a number near the limits may not be readable again. Nothing is trimmed, case-folded or
//! normalised: a service that wants that does it before.
//!
//! `docs/spec/params.md` has the rules for other languages.

mod canonicalizer;
mod decode;
mod emitter;
mod error;
mod hash;
mod key_serializer;
mod lexer;
mod members;
mod number;
mod pointer;
mod policy;
mod reader;
mod reserved;
mod serializer;
mod text;
mod text_only;
mod tree;

pub use canonicalizer::Canonicalizer;
pub use decode::decode;
pub use error::{ParamsError, ParamsErrorKind};
pub use hash::Extra;
pub(crate) use hash::{number as hash_count, part as hash_part};
pub use members::{Members, Reading, Twice};
pub use number::{MAX_DECIMAL_CHARS, MAX_EXPONENT, MAX_NUMBER_BYTES};
pub use policy::{CompiledPolicy, Nulls, Numbers, ParamsPolicy, PolicyError};

/// The deepest nesting of arrays and objects.
pub const MAX_DEPTH: usize = 64;
