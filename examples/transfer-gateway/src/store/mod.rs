//! The store that `--store` names.

mod open;
mod place;

pub(crate) use open::open;
pub(crate) use place::Place;
