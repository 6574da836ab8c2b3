//! Renew, release and annotate.

use std::time::Duration;

use counterfoil_core::store::{Annotated, Annotation, Lease, Released, Renewed, StoreError};
use tokio_postgres::Row;

use super::answer;
use crate::{
    database::Database,
    failure::unknown_answer,
    machine::Machine,
    values::{Id, duration_ms, epoch, escape},
};

pub(crate) async fn renew(
    database: &Database,
    machine: &Machine,
    held: &Lease,
    lease: Duration,
) -> Result<Renewed, StoreError> {
    let (id, owner) = (Id::from(held.id), Id::from(held.owner));
    let (epoch, lease) = (epoch(held.epoch), duration_ms(lease));
    let values = [&id as _, &owner as _, &epoch as _, &lease as _];
    let rows = database.call(&machine.renew, &values).await?;
    Ok(match answer(&rows)? {
        "renewed" => Renewed::Renewed,
        "lapsed" => Renewed::Lapsed,
        "not_owner" => Renewed::NotOwner,
        _ => return Err(unknown_answer()),
    })
}

pub(crate) async fn release(
    database: &Database,
    machine: &Machine,
    held: &Lease,
) -> Result<Released, StoreError> {
    let (id, owner, epoch) = (Id::from(held.id), Id::from(held.owner), epoch(held.epoch));
    let values = [&id as _, &owner as _, &epoch as _];
    let rows: Vec<Row> = database.call(&machine.release, &values).await?;
    Ok(match answer(&rows)? {
        "released" => Released::Released,
        "in_doubt" => Released::InDoubt,
        "not_owner" => Released::NotOwner,
        _ => return Err(unknown_answer()),
    })
}

pub(crate) async fn annotate(
    database: &Database,
    machine: &Machine,
    held: &Lease,
    note: &Annotation,
) -> Result<Annotated, StoreError> {
    let (id, owner, epoch) = (Id::from(held.id), Id::from(held.owner), epoch(held.epoch));
    let provider_ref = note.provider_ref.as_deref().map(escape);
    let result_ref = note.result_ref.as_deref().map(escape);
    let values = [
        &id as _,
        &owner as _,
        &epoch as _,
        &provider_ref as _,
        &result_ref as _,
    ];
    let rows = database.call(&machine.annotate, &values).await?;
    Ok(match answer(&rows)? {
        "annotated" => Annotated::Annotated,
        "not_owner" => Annotated::NotOwner,
        _ => return Err(unknown_answer()),
    })
}
