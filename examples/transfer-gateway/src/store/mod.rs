//! The store that `--store` names.

mod place;

pub(crate) use place::Place;
