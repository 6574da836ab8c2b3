//! Find and list.

use counterfoil_core::{
    OperationId,
    store::{Listing, Page, Record, Sighting, StoreError},
};

use super::only;
use crate::{
    database::Database,
    machine::{Machine, Machines},
    row::{Reader, corrupt},
    template::code_of,
    values::{Id, escape},
};

/// A page keeps a listing from reading all results into memory.
const MAX_PAGE: usize = 1_000;

pub(crate) async fn find(
    database: &Database,
    machine: &Machine,
    id: OperationId,
) -> Result<Sighting, StoreError> {
    let rows = database.call(&machine.find, &[&Id::from(id)]).await?;
    let mut reader = Reader::new(only(&rows)?);
    let now = reader.time()?;
    let record = reader.record(now)?;
    Ok(Sighting { record, now })
}

/// Reads a page of each table and keeps what comes first.
pub(crate) async fn list(
    database: &Database,
    machines: &Machines,
    listing: &Listing,
) -> Result<Page, StoreError> {
    let Some(from) = first_id_after(listing.after) else {
        return Ok(Page {
            records: Vec::new(),
            more: false,
        });
    };
    let limit = listing.limit.min(MAX_PAGE);
    let mut records = page(database, &machines.timed, listing, from, limit + 1).await?;
    records.extend(page(database, &machines.keyed, listing, from, limit + 1).await?);
    records.sort_by_key(|record| record.id);
    let more = records.len() > limit;
    records.truncate(limit);
    Ok(Page { records, more })
}

async fn page(
    database: &Database,
    machine: &Machine,
    listing: &Listing,
    from: Id,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let state = code_of(listing.state);
    let tenant = listing.tenant.as_deref().map(escape);
    let limit = i32::try_from(limit).unwrap_or(i32::MAX);
    let values = [&state as _, &tenant as _, &from as _, &limit as _];
    let scan = database.limits().scan;
    let rows = database.call_within(scan, &machine.list, &values).await?;
    rows.iter()
        .map(|row| {
            let mut reader = Reader::new(row);
            let now = reader.time()?;
            reader.record(now)?.ok_or_else(corrupt)
        })
        .collect()
}

/// `None` after the last id that there can be.
fn first_id_after(id: Option<OperationId>) -> Option<Id> {
    let first = match id {
        Some(id) => u128::from_be_bytes(*id.as_bytes()).checked_add(1)?,
        None => 0,
    };
    Some(Id(first.to_be_bytes()))
}
