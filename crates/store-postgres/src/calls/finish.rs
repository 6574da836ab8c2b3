//! Complete and receive.

use std::borrow::Cow;

use counterfoil_core::{
    lifecycle::State,
    store::{Completed, Completion, Lease, Receipt, Received, StoreError, StoredResult},
};
use tokio_postgres::{Row, types::ToSql};

use super::answer;
use crate::{
    database::Database,
    failure::{misuse, unknown_answer},
    machine::Machine,
    template::code_of,
    transaction::wrong_isolation,
    values::{Id, epoch, escape, ms},
};

/// The parameters of `complete.sql`, in their order.
pub(crate) struct Said<'a> {
    pub(super) id: Id,
    pub(super) owner: Id,
    pub(super) epoch: i64,
    pub(super) state: i16,
    pub(super) deadline: Option<i64>,
    pub(super) format: Option<Cow<'a, str>>,
    pub(super) result: Option<&'a [u8]>,
    pub(super) result_ref: Option<Cow<'a, str>>,
    pub(super) reason: Option<Cow<'a, str>>,
}

impl<'a> Said<'a> {
    pub(crate) fn new(held: &Lease, completion: &'a Completion) -> Result<Self, StoreError> {
        let said = Self {
            id: held.id.into(),
            owner: held.owner.into(),
            epoch: epoch(held.epoch),
            state: code_of(State::Unknown),
            deadline: None,
            format: None,
            result: None,
            result_ref: None,
            reason: None,
        };
        Ok(match completion {
            Completion::Ended {
                ending,
                result,
                result_ref,
            } => Self {
                state: code_of(ending.state()),
                format: result.as_ref().map(format_of),
                result: result.as_ref().map(|result| &*result.bytes),
                result_ref: result_ref.as_deref().map(escape),
                ..said
            },
            Completion::Accepted {
                deadline,
                result,
                result_ref,
            } => Self {
                state: code_of(State::Accepted),
                deadline: deadline.map(ms),
                format: result.as_ref().map(format_of),
                result: result.as_ref().map(|result| &*result.bytes),
                result_ref: result_ref.as_deref().map(escape),
                ..said
            },
            Completion::Unknown { reason } => Self {
                reason: Some(escape(reason)),
                ..said
            },
            _ => return Err(misuse("the Postgres store does not know this way to end")),
        })
    }

    pub(crate) fn values(&self) -> [&(dyn ToSql + Sync); 9] {
        [
            &self.id,
            &self.owner,
            &self.epoch,
            &self.state,
            &self.deadline,
            &self.format,
            &self.result,
            &self.result_ref,
            &self.reason,
        ]
    }
}

pub(crate) fn read(rows: &[Row]) -> Result<Completed, StoreError> {
    completed(answer(rows)?)
}

pub(super) fn completed(answer: &str) -> Result<Completed, StoreError> {
    Ok(match answer {
        "completed" => Completed::Completed,
        "in_doubt" => Completed::InDoubt,
        "not_owner" => Completed::NotOwner,
        "isolation" => return Err(wrong_isolation()),
        _ => return Err(unknown_answer()),
    })
}

pub(crate) async fn receive(
    database: &Database,
    machine: &Machine,
    receipt: &Receipt,
) -> Result<Received, StoreError> {
    let (id, epoch) = (Id::from(receipt.id), epoch(receipt.epoch));
    let state = code_of(receipt.ending.state());
    let format = receipt.result.as_ref().map(format_of);
    let result = receipt.result.as_ref().map(|result| &*result.bytes);
    let result_ref = receipt.result_ref.as_deref().map(escape);
    let values = [
        &id as _,
        &epoch as _,
        &state as _,
        &format as _,
        &result as _,
        &result_ref as _,
    ];
    let rows = database.call(&machine.receive, &values).await?;
    Ok(match answer(&rows)? {
        "received" => Received::Received,
        "in_doubt" => Received::InDoubt,
        "not_owner" => Received::NotOwner,
        "absent" => Received::Absent,
        _ => return Err(unknown_answer()),
    })
}

pub(crate) fn format_of(result: &StoredResult) -> Cow<'_, str> {
    escape(&result.format)
}
