//! The store's calls: what is asked, as parameters, and what came back, as core's words.

pub(crate) mod acquire;
pub(crate) mod acquire_batch;
pub(crate) mod batch;
pub(crate) mod complete_batch;
pub(crate) mod drop_days;
pub(crate) mod finish;
pub(crate) mod owner;
pub(crate) mod purge;
pub(crate) mod query;
pub(crate) mod settle;

use counterfoil_core::store::StoreError;
use tokio_postgres::Row;

use crate::{failure, row::Reader};

/// The one word that a transition answers with.
pub(crate) fn answer(rows: &[Row]) -> Result<&str, StoreError> {
    Reader::new(only(rows)?).get()
}

/// A transition gives exactly one row.
pub(crate) fn only(rows: &[Row]) -> Result<&Row, StoreError> {
    match rows {
        [row] => Ok(row),
        _ => Err(failure::unknown_answer()),
    }
}
