//! Rows, and the record in them.

use counterfoil_core::{
    Epoch, Owner, ParamHash, Scope, Subject, Timestamp,
    lifecycle::Life,
    store::{Identity, Record, StoreError, StoreErrorKind, StoredResult},
};
use tokio_postgres::{
    Row,
    types::{FromSql, Type},
};

use crate::{
    evidence,
    template::state_of,
    values::{Id, timestamp, unescape},
};

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

    /// Passes over columns that hold nothing.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        timestamp(self.get()?).ok_or_else(corrupt)
    }

    /// The record that stands, as it reads at `now`; `None` where there is none.
    pub(crate) fn record(&mut self, now: Timestamp) -> Result<Option<Record>, StoreError> {
        match self.get::<Option<&[u8]>>()? {
            Some(sent) => Fields::of(sent)?.record(now),
            None => Ok(None),
        }
    }

    pub(crate) fn count(&mut self) -> Result<u32, StoreError> {
        count(self.get()?)
    }
}

/// The fields of a record as the server sends a whole row in one column: their number, and of each its type, its length
/// and its bytes. One column costs the server less than two dozen, which nearly always are not needed.
struct Fields<'a> {
    left: &'a [u8],
}

/// How many columns a record has; see `tables.sql`.
const COLUMNS: i32 = 23;

impl<'a> Fields<'a> {
    fn of(sent: &'a [u8]) -> Result<Self, StoreError> {
        let mut fields = Self { left: sent };
        if fields.number()? == COLUMNS {
            Ok(fields)
        } else {
            Err(corrupt())
        }
    }

    fn number(&mut self) -> Result<i32, StoreError> {
        let (number, left) = self.left.split_first_chunk().ok_or_else(corrupt)?;
        self.left = left;
        Ok(i32::from_be_bytes(*number))
    }

    /// The next field, which is to be of this type.
    fn get<T: FromSql<'a>>(&mut self, ty: &Type) -> Result<T, StoreError> {
        if self.number()?.cast_unsigned() != ty.oid() || !T::accepts(ty) {
            return Err(corrupt());
        }
        let value = match self.number()? {
            -1 => None,
            length => {
                let length = usize::try_from(length).map_err(|_| corrupt())?;
                let (value, left) = self.left.split_at_checked(length).ok_or_else(corrupt)?;
                self.left = left;
                Some(value)
            }
        };
        T::from_sql_nullable(ty, value).map_err(|error| corrupt().with_source(error))
    }

    fn time(&mut self) -> Result<Timestamp, StoreError> {
        timestamp(self.get(&Type::INT8)?).ok_or_else(corrupt)
    }

    fn optional_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        self.get::<Option<i64>>(&Type::INT8)?
            .map(|ms| timestamp(ms).ok_or_else(corrupt))
            .transpose()
    }

    fn text(&mut self) -> Result<String, StoreError> {
        self.optional_text()?.ok_or_else(corrupt)
    }

    fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        self.get::<Option<&str>>(&Type::TEXT)?
            .map(|text| unescape(text).map(Into::into).ok_or_else(corrupt))
            .transpose()
    }

    fn count(&mut self) -> Result<u32, StoreError> {
        count(self.get(&Type::INT4)?)
    }

    fn record(mut self, now: Timestamp) -> Result<Option<Record>, StoreError> {
        let Some(id) = self.get::<Option<Id>>(&Type::UUID)? else {
            return Ok(None);
        };
        let owner = self.get::<Option<Id>>(&Type::UUID)?;
        let created = self.time()?;
        let updated = self.time()?;
        let deadline = self.optional_time()?;
        let exp = self.optional_time()?;
        let retention = self.time()?.since(Timestamp::from_unix_ms(0));
        let epoch = u64::from(self.count()?);
        let attempts = self.count()?;
        let state = state_of(self.get(&Type::INT2)?).ok_or_else(corrupt)?;
        let in_doubt = self.get(&Type::BOOL)?;
        let hash = ParamHash::from_bytes(
            self.get::<&[u8]>(&Type::BYTEA)?
                .try_into()
                .map_err(|_| corrupt())?,
        );
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
        let result = self.get::<Option<&[u8]>>(&Type::BYTEA)?;
        record.result = result.zip(format).map(|(bytes, format)| StoredResult {
            format: format.into(),
            bytes: bytes.to_vec().into(),
        });
        record.evidence = self
            .get::<Option<Vec<&[u8]>>>(&Type::BYTEA_ARRAY)?
            .unwrap_or_default()
            .into_iter()
            .map(|entry| evidence::decode(entry).ok_or_else(corrupt))
            .collect::<Result<_, _>>()?;
        Ok(Some(record))
    }
}

/// A count, which no column holds below zero.
pub(crate) fn count(stored: i32) -> Result<u32, StoreError> {
    u32::try_from(stored).map_err(|_| corrupt())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A claim as the server sends it: the types of the fields, and what is in those that are not null.
    fn sent() -> Vec<u8> {
        let fields: [(Type, Option<&[u8]>); 23] = [
            (Type::UUID, Some(&[7; 16])),
            (Type::UUID, Some(&[8; 16])),
            (Type::INT8, Some(&[0, 0, 0, 0, 0, 0, 0, 1])),
            (Type::INT8, Some(&[0, 0, 0, 0, 0, 0, 0, 2])),
            (Type::INT8, Some(&[0, 0, 0, 0, 0, 0, 0, 9])),
            (Type::INT8, None),
            (Type::INT8, Some(&[0, 0, 0, 0, 0, 0, 0, 3])),
            (Type::INT4, Some(&[0, 0, 0, 1])),
            (Type::INT4, Some(&[0, 0, 0, 1])),
            (Type::INT2, Some(&[0, 5])),
            (Type::BOOL, Some(&[0])),
            (Type::BYTEA, Some(&[9; 32])),
            (Type::TEXT, Some(b"payments.transfer")),
            (Type::TEXT, Some(b"acme")),
            (Type::TEXT, Some(b"agent-7")),
            (Type::TEXT, None),
            (Type::TEXT, None),
            (Type::TEXT, None),
            (Type::TEXT, None),
            (Type::TEXT, None),
            (Type::TEXT, None),
            (Type::BYTEA, None),
            (Type::BYTEA_ARRAY, None),
        ];
        let mut sent = 23_i32.to_be_bytes().to_vec();
        for (ty, content) in fields {
            sent.extend(ty.oid().to_be_bytes());
            match content {
                Some(content) => {
                    sent.extend(i32::try_from(content.len()).expect("short").to_be_bytes());
                    sent.extend(content);
                }
                None => sent.extend((-1_i32).to_be_bytes()),
            }
        }
        sent
    }

    fn read(sent: &[u8]) -> Result<Option<Record>, StoreError> {
        Fields::of(sent)?.record(Timestamp::from_unix_ms(5))
    }

    #[test]
    fn a_whole_row_is_a_record() {
        let record = read(&sent()).expect("it reads").expect("one stands");
        assert_eq!(record.identity.subject.tenant(), "acme");
        assert_eq!(record.life.epoch, Epoch::from_u64(1));
        assert_eq!(record.result, None);
    }

    #[test]
    fn a_row_that_is_cut_anywhere_is_corrupt() {
        let sent = sent();
        for end in 0..sent.len() {
            let told = read(&sent[..end]).expect_err("it is cut");
            assert_eq!(told.kind(), StoreErrorKind::Corrupt, "at {end}");
        }
    }

    #[test]
    fn a_row_of_other_columns_is_corrupt() {
        for (place, byte) in [(3, 22), (7, 25), (9, 0xFF)] {
            let mut sent = sent();
            sent[place] = byte;
            let told = read(&sent).expect_err("it is another table's");
            assert_eq!(told.kind(), StoreErrorKind::Corrupt, "at {place}");
        }
    }
}
