//! Many claims in one statement.

use std::borrow::Cow;

use counterfoil_core::{
    Timestamp,
    store::{Acquire, Acquired, StoreError},
};
use tokio_postgres::{Row, types::ToSql};

use super::{acquire, acquire::Asked, batch::Order};
use crate::{failure::unknown_answer, row::Reader, values::Id};

/// The calls, and what they ask.
pub(crate) struct Batch<'a> {
    calls: &'a [Acquire],
    order: Order,
    columns: Columns<'a>,
}

/// The parameters of `acquire_batch.sql`, in their order. All lists are in the order of the ids.
#[derive(Default)]
struct Columns<'a> {
    fresh: Vec<bool>,
    ids: Vec<Id>,
    tenants: Vec<Cow<'a, str>>,
    principals: Vec<Cow<'a, str>>,
    scopes: Vec<Cow<'a, str>>,
    hashes: Vec<&'a [u8]>,
    owners: Vec<Id>,
    leases: Vec<i64>,
    exps: Vec<Option<i64>>,
    retentions: Vec<i64>,
    need_approval: Vec<bool>,
    seen_states: Vec<Option<i16>>,
    seen_epochs: Vec<Option<i64>>,
    takeovers_within: Vec<Option<i64>>,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(calls: &'a [Acquire]) -> Self {
        let order = Order::new(calls, |call| call.id);
        let mut columns = Columns::default();
        let mut last = None;
        for call in order.of(calls) {
            // Of several that would insert the same id the first does.
            let claim = &call.claim;
            let fresh = !claim.needs_approval && claim.seen.is_none() && last != Some(call.id);
            if fresh {
                last = Some(call.id);
            }
            columns.push(fresh, Asked::new(call));
        }
        Self {
            calls,
            order,
            columns,
        }
    }

    pub(crate) fn values(&self) -> [&(dyn ToSql + Sync); 14] {
        self.columns.values()
    }

    /// The answers in the order of the calls, `None` for one that is to be asked alone, and the store's clock.
    #[expect(clippy::type_complexity, reason = "it says what it is")]
    pub(crate) fn read(
        &self,
        rows: &[Row],
    ) -> Result<(Vec<Option<Result<Acquired, StoreError>>>, Timestamp), StoreError> {
        let (first, more) = rows.split_first().ok_or_else(unknown_answer)?;
        let mut reader = Reader::new(first);
        let mut claimed: Vec<Id> = reader.get()?;
        let (_, _) = (reader.get::<Option<i64>>()?, reader.get::<Option<&str>>()?);
        let now = reader.time()?;
        claimed.sort_unstable();

        // By their places. What is not told anything is known of nothing.
        let mut told: Vec<_> = (0..self.calls.len())
            .map(|_| Some(Err(unknown_answer())))
            .collect();
        for ((told, call), fresh) in told
            .iter_mut()
            .zip(self.order.of(self.calls))
            .zip(&self.columns.fresh)
        {
            if *fresh && claimed.binary_search(&call.id.into()).is_ok() {
                *told = Some(Ok(Acquired::Claimed(acquire::first_claim(call))));
            }
        }
        for row in more {
            let mut reader = Reader::new(row);
            reader.get::<Option<Vec<Id>>>()?;
            let place = self.order.place(reader.get()?)?;
            let call = &self.calls[self.order.call(place)];
            told[place] = acquire::read_answer(&mut reader, call)
                .map(|answer| answer.map(|(acquired, _)| acquired))
                .transpose();
        }
        Ok((self.order.restore(told), now))
    }
}

impl<'a> Columns<'a> {
    fn push(&mut self, fresh: bool, asked: Asked<'a>) {
        self.fresh.push(fresh);
        self.ids.push(asked.id);
        self.tenants.push(asked.tenant);
        self.principals.push(asked.principal);
        self.scopes.push(asked.scope);
        self.hashes.push(asked.hash);
        self.owners.push(asked.owner);
        self.leases.push(asked.lease);
        self.exps.push(asked.exp);
        self.retentions.push(asked.retention);
        self.need_approval.push(asked.needs_approval);
        self.seen_states.push(asked.seen_state);
        self.seen_epochs.push(asked.seen_epoch);
        self.takeovers_within.push(asked.takeover_within);
    }

    fn values(&self) -> [&(dyn ToSql + Sync); 14] {
        [
            &self.fresh,
            &self.ids,
            &self.tenants,
            &self.principals,
            &self.scopes,
            &self.hashes,
            &self.owners,
            &self.leases,
            &self.exps,
            &self.retentions,
            &self.need_approval,
            &self.seen_states,
            &self.seen_epochs,
            &self.takeovers_within,
        ]
    }
}
