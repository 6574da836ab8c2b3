//! What owners said after they had lost the epoch, as `reading.sql` packs it.

use counterfoil_core::{
    Epoch, Owner,
    lifecycle::{Ending, State},
    store::{Completion, Evidence, StoredResult},
};

use crate::{
    template::state_of,
    values::{timestamp, unescape},
};

/// `None` for bytes that were not packed so.
pub(crate) fn decode(entry: &[u8]) -> Option<Evidence> {
    let mut rest = Rest(entry);
    let at = timestamp(i64::from_be_bytes(rest.take()?))?;
    let owner = Owner::from_bytes(rest.take()?);
    let epoch = Epoch::from_u64(u64::from_be_bytes(rest.take()?));
    let state = state_of(i16::from_be_bytes(rest.take()?))?;
    let deadline = match rest.field()? {
        Some(ms) => Some(timestamp(i64::from_be_bytes(ms.try_into().ok()?))?),
        None => None,
    };
    let format = rest.text()?;
    let bytes = rest.field()?;
    let result = bytes.zip(format).map(|(bytes, format)| StoredResult {
        format: format.into(),
        bytes: bytes.to_vec().into(),
    });
    let result_ref = rest.text()?;
    let reason = rest.text()?;
    if !rest.0.is_empty() {
        return None;
    }
    let ended = |ending, result, result_ref| Completion::Ended {
        ending,
        result,
        result_ref,
    };
    let completion = match state {
        State::Done => ended(Ending::Done, result, result_ref),
        State::Failed => ended(Ending::Failed, result, result_ref),
        State::Accepted => Completion::Accepted {
            deadline,
            result,
            result_ref,
        },
        State::Unknown => Completion::Unknown { reason: reason? },
        _ => return None,
    };
    Some(Evidence {
        owner,
        epoch,
        completion,
        at,
    })
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    /// `Some(None)` for a field that is not there.
    fn field(&mut self) -> Option<Option<&'a [u8]>> {
        let length = i32::from_be_bytes(self.take()?);
        if length == -1 {
            return Some(None);
        }
        let (field, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(Some(field))
    }

    fn text(&mut self) -> Option<Option<String>> {
        match self.field()? {
            Some(bytes) => Some(Some(unescape(std::str::from_utf8(bytes).ok()?)?.into())),
            None => Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_what_was_packed_is_read() {
        let mut entry = Vec::new();
        entry.extend(5_i64.to_be_bytes());
        entry.extend([7; 16]);
        entry.extend(2_u64.to_be_bytes());
        entry.extend(7_i16.to_be_bytes());
        for field in [None, None, None, None, Some(b"why")] {
            entry.extend(field.map_or(-1_i32, |f| f.len() as i32).to_be_bytes());
            entry.extend(field.into_iter().flatten());
        }
        let read = decode(&entry).expect("it is packed so");
        assert_eq!(read.owner, Owner::from_bytes([7; 16]));
        assert_eq!(read.epoch, Epoch::from_u64(2));
        let reason = "why".to_owned();
        assert_eq!(read.completion, Completion::Unknown { reason });
        for end in 0..entry.len() {
            assert!(decode(&entry[..end]).is_none(), "cut at {end}");
        }
        entry.push(0);
        assert!(decode(&entry).is_none(), "with something behind it");
    }
}
