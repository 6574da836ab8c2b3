//! Find and list.

use counterfoil_core::{
    OperationId,
    store::{Listing, Page, Record, Sighting, StoreError},
};

use super::only;
use crate::{
    database::Database,
    machine::{Machine, Machines},
    row::Reader,
    template::code_of,
    values::{Id, escape},
};

/// A page keeps a listing from reading all records into memory. It ends sooner where results are large: see `list.sql`.
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
    let timed = part(database, &machines.timed, listing, from, limit + 1).await?;
    let keyed = part(database, &machines.keyed, listing, from, limit + 1).await?;
    Ok(merge(timed, keyed, limit))
}

/// What one table has of a page.
struct Part {
    records: Vec<Record>,
    /// Whether it ended early, because of how much there was.
    is_cut: bool,
}

/// Both parts in one order, up to where the first of them was cut: behind that there may be records that nobody has read.
fn merge(one: Part, other: Part, limit: usize) -> Page {
    let ends = [&one, &other].map(|part| {
        let last = part.records.last().filter(|_| part.is_cut);
        last.map(|record| record.id)
    });
    let mut records = one.records;
    records.extend(other.records);
    records.sort_by_key(|record| record.id);
    let mut more = records.len() > limit;
    records.truncate(limit);
    if let Some(end) = ends.into_iter().flatten().min() {
        records.retain(|record| record.id <= end);
        more = true;
    }
    Page { records, more }
}

async fn part(
    database: &Database,
    machine: &Machine,
    listing: &Listing,
    from: Id,
    limit: usize,
) -> Result<Part, StoreError> {
    let state = code_of(listing.state);
    let tenant = listing.tenant.as_deref().map(escape);
    let limit = i32::try_from(limit).unwrap_or(i32::MAX);
    let values = [&state as _, &tenant as _, &from as _, &limit as _];
    let scan = database.limits().scan;
    let rows = database.call_within(scan, &machine.list, &values).await?;
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut reader = Reader::new(row);
        let now = reader.time()?;
        match reader.record(now)? {
            Some(record) => records.push(record),
            None => {
                return Ok(Part {
                    records,
                    is_cut: true,
                });
            }
        }
    }
    Ok(Part {
        records,
        is_cut: false,
    })
}

/// `None` after the last id that there can be.
fn first_id_after(id: Option<OperationId>) -> Option<Id> {
    let first = match id {
        Some(id) => u128::from_be_bytes(*id.as_bytes()).checked_add(1)?,
        None => 0,
    };
    Some(Id(first.to_be_bytes()))
}
