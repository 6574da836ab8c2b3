//! The store that `--store` names, or else the environment.

mod clearing;
mod open;
mod place;

pub(crate) use clearing::Clearing;
pub(crate) use open::open;
pub(crate) use place::{Place, VARIABLE};
