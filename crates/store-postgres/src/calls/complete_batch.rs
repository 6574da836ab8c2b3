//! Many completions in one statement.

use std::borrow::Cow;

use counterfoil_core::store::{Completed, Completion, Lease, StoreError};
use tokio_postgres::{Row, types::ToSql};

use super::{batch::Order, finish, finish::Said, only};
use crate::{row::Reader, values::Id};

/// The parameters of `complete_batch.sql`, in their order. All lists are in the order of the ids.
pub(crate) struct Batch<'a> {
    order: Order,
    first: Vec<bool>,
    ids: Vec<Id>,
    owners: Vec<Id>,
    epochs: Vec<i64>,
    states: Vec<i16>,
    deadlines: Vec<Option<i64>>,
    formats: Vec<Option<Cow<'a, str>>>,
    results: Vec<Option<&'a [u8]>>,
    result_refs: Vec<Option<Cow<'a, str>>>,
    reasons: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(calls: &'a [(Lease, Completion)]) -> Result<Self, StoreError> {
        let order = Order::new(calls, |(held, _)| held.id);
        let sorted: Vec<_> = order.of(calls).collect();
        let mut batch = Self {
            first: Vec::new(),
            ids: Vec::new(),
            owners: Vec::new(),
            epochs: Vec::new(),
            states: Vec::new(),
            deadlines: Vec::new(),
            formats: Vec::new(),
            results: Vec::new(),
            result_refs: Vec::new(),
            reasons: Vec::new(),
            order,
        };
        for (held, completion) in sorted {
            let said = Said::new(held, completion)?;
            batch.first.push(batch.ids.last() != Some(&said.id));
            batch.ids.push(said.id);
            batch.owners.push(said.owner);
            batch.epochs.push(said.epoch);
            batch.states.push(said.state);
            batch.deadlines.push(said.deadline);
            batch.formats.push(said.format);
            batch.results.push(said.result);
            batch.result_refs.push(said.result_ref);
            batch.reasons.push(said.reason);
        }
        Ok(batch)
    }

    pub(crate) fn values(&self) -> [&(dyn ToSql + Sync); 10] {
        [
            &self.first,
            &self.ids,
            &self.owners,
            &self.epochs,
            &self.states,
            &self.deadlines,
            &self.formats,
            &self.results,
            &self.result_refs,
            &self.reasons,
        ]
    }

    /// The answers in the order of the calls, `None` for one that is to be made alone.
    pub(crate) fn read(
        &self,
        rows: &[Row],
    ) -> Result<Vec<Option<Result<Completed, StoreError>>>, StoreError> {
        let mut reader = Reader::new(only(rows)?);
        let (places, answers): (Vec<i64>, Vec<&str>) = (reader.get()?, reader.get()?);
        let mut told: Vec<_> = self.ids.iter().map(|_| None).collect();
        for (place, answer) in places.into_iter().zip(answers) {
            told[self.order.place(place)?] = Some(finish::completed(answer));
        }
        Ok(self.order.restore(told))
    }
}
