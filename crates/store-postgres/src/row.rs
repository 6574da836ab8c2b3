//! A row as a record.

use counterfoil_core::{
    Epoch, Owner, ParamHash, Scope, Subject, Timestamp,
    lifecycle::Life,
    store::{Identity, Record, StoreError, StoreErrorKind, StoredResult},
};
use tokio_postgres::{Row, types::FromSql};

use crate::{
    evidence,
    template::state_of,
    values::{Id, timestamp, unescape},
};

/// Id, owner, three times and one that may be missing, and the retention; see `machine`.
const COLUMNS_BEFORE_EPOCH: usize = 7;

/// Reads columns one after another.
pub(crate) struct Reader<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(row: &'a Row) -> Self {
        Self { row, next: 0 }
    }

    pub(crate) fn get<T: FromSql<'a>>(&mut self) -> Result<T, StoreError> {
        let column = self.next;
        self.next += 1;
        self.row
            .try_get(column)
            .map_err(|error| corrupt().with_source(error))
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        timestamp(self.get()?).ok_or_else(corrupt)
    }

    fn optional_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        self.get::<Option<i64>>()?
            .map(|ms| timestamp(ms).ok_or_else(corrupt))
            .transpose()
    }

    fn text(&mut self) -> Result<String, StoreError> {
        self.optional_text()?.ok_or_else(corrupt)
    }

    fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        self.get::<Option<&str>>()?
            .map(|text| unescape(text).map(Into::into).ok_or_else(corrupt))
            .transpose()
    }

    /// The record that stands, as it reads at `now`; `None` where there is none.
    pub(crate) fn record(&mut self, now: Timestamp) -> Result<Option<Record>, StoreError> {
        let Some(id) = self.get::<Option<Id>>()? else {
            return Ok(None);
        };
        let owner = self.get::<Option<Id>>()?;
        let created = self.time()?;
        let updated = self.time()?;
        let deadline = self.optional_time()?;
        let exp = self.optional_time()?;
        let retention = self.time()?.since(Timestamp::from_unix_ms(0));
        let epoch = u64::from(self.count()?);
        let attempts = self.count()?;
        let state = state_of(self.get()?).ok_or_else(corrupt)?;
        let in_doubt = self.get()?;
        let hash = ParamHash::from_bytes(self.get::<&[u8]>()?.try_into().map_err(|_| corrupt())?);
        let scope = Scope::parse(&self.text()?).map_err(|error| corrupt().with_source(error))?;
        let (tenant, principal) = (self.text()?, self.text()?);

        let mut life = Life::new(state);
        life.owner = owner.map(|Id(bytes)| Owner::from_bytes(bytes));
        life.epoch = Epoch::from_u64(epoch);
        life.deadline = deadline;
        life.in_doubt = in_doubt;
        // A record that is ever claimed was written by its first claim: nothing else that writes one can be claimed.
        life.first_claimed = (attempts > 0).then_some(created);

        let identity = Identity {
            subject: subject(&tenant, &principal)?,
            scope,
            hash,
        };
        let id = counterfoil_core::OperationId::from_bytes(id.0);
        let mut record = Record::new(id, identity, life.at(now), exp, retention, created);
        record.updated = updated;
        record.attempts = attempts;
        record.result_ref = self.optional_text()?;
        record.provider_ref = self.optional_text()?;
        record.reason = self.optional_text()?;
        record.settled_by = match (self.optional_text()?, self.optional_text()?) {
            (Some(tenant), Some(principal)) => Some(subject(&tenant, &principal)?),
            _ => None,
        };
        let format = self.optional_text()?;
        let result = self.get::<Option<&[u8]>>()?;
        record.result = result.zip(format).map(|(bytes, format)| StoredResult {
            format: format.into(),
            bytes: bytes.to_vec().into(),
        });
        record.evidence = self
            .get::<Option<Vec<&[u8]>>>()?
            .unwrap_or_default()
            .into_iter()
            .map(|entry| evidence::decode(entry).ok_or_else(corrupt))
            .collect::<Result<_, _>>()?;
        Ok(Some(record))
    }

    /// Passes over the columns of a record up to its epoch.
    pub(crate) fn epoch_and_attempts(&mut self) -> Result<(u64, u32), StoreError> {
        self.next += COLUMNS_BEFORE_EPOCH;
        Ok((u64::from(self.count()?), self.count()?))
    }

    pub(crate) fn count(&mut self) -> Result<u32, StoreError> {
        u32::try_from(self.get::<i32>()?).map_err(|_| corrupt())
    }
}

fn subject(tenant: &str, principal: &str) -> Result<Subject, StoreError> {
    Subject::new(tenant, principal).map_err(|error| corrupt().with_source(error))
}

pub(crate) fn corrupt() -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        "a record stands that this version can't read",
    )
}
