//! Bytes, written and read piece by piece. A number is big-endian, and what varies has its length in front.

use counterfoil_core::Timestamp;

/// It is not what this crate writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unreadable;

/// What is left to read.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Unreadable)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        self.take(N)?.try_into().map_err(|_| Unreadable)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Unreadable> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Unreadable> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Unreadable> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Unreadable> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// A time that a server wrote, in six bytes: they last until the year 10,889.
    pub(crate) fn servers_time(&mut self) -> Result<Timestamp, Unreadable> {
        let mut bytes = [0; 8];
        bytes[2..].copy_from_slice(self.take(6)?);
        Ok(Timestamp::from_unix_ms(u64::from_be_bytes(bytes)))
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, Unreadable> {
        Ok(Timestamp::from_unix_ms(self.u64()?))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Unreadable> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Unreadable),
        }
    }

    pub(crate) fn bytes_u8(&mut self) -> Result<&'a [u8], Unreadable> {
        let len = self.u8()?;
        self.take(len.into())
    }

    pub(crate) fn bytes_u16(&mut self) -> Result<&'a [u8], Unreadable> {
        let len = self.u16()?;
        self.take(len.into())
    }

    pub(crate) fn bytes_u32(&mut self) -> Result<&'a [u8], Unreadable> {
        let len = self.u32()?;
        self.take(usize::try_from(len).map_err(|_| Unreadable)?)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Unreadable> {
        text(self.bytes_u32()?)
    }

    pub(crate) fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<Option<T>, Unreadable> {
        self.flag()?.then(|| read(self)).transpose()
    }

    pub(crate) const fn rest(self) -> &'a [u8] {
        self.0
    }

    /// Nothing may be left.
    pub(crate) const fn end(self) -> Result<(), Unreadable> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Unreadable)
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> Result<&str, Unreadable> {
    std::str::from_utf8(bytes).map_err(|_| Unreadable)
}

/// Writes to the end of a buffer.
pub(crate) trait Write {
    fn u8(&mut self, number: u8);
    fn bytes(&mut self, bytes: &[u8]);

    fn flag(&mut self, is: bool) {
        self.u8(is.into());
    }

    fn u32(&mut self, number: u32) {
        self.bytes(&number.to_be_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.bytes(&number.to_be_bytes());
    }

    fn time(&mut self, time: Timestamp) {
        self.u64(time.unix_ms());
    }

    /// Up to 255 bytes: more are cut off, which no caller lets happen.
    fn bytes_u8(&mut self, bytes: &[u8]) {
        let len = u8::try_from(bytes.len()).unwrap_or(u8::MAX);
        self.u8(len);
        self.bytes(&bytes[..len.into()]);
    }

    /// Up to 64 KiB: no identity has a hundredth of that.
    fn bytes_u16(&mut self, bytes: &[u8]) {
        let len = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.bytes(&len.to_be_bytes());
        self.bytes(&bytes[..len.into()]);
    }

    /// Up to 4 GiB: more than any server takes.
    fn bytes_u32(&mut self, bytes: &[u8]) {
        self.u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.bytes(bytes);
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }
}

impl Write for Vec<u8> {
    fn u8(&mut self, number: u8) {
        self.push(number);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}
