//! How a record is kept in Redis.
//!
//! Two forms. A store's record has a head that Lua writes, and slots that its callers sealed ([`value`]). A cache's copy
//! is one sealed text ([`copy`]).

mod bytes;
pub(crate) mod copy;
pub(crate) mod fields;
pub(crate) mod seal;
pub(crate) mod slots;
pub(crate) mod value;
pub(crate) mod word;
