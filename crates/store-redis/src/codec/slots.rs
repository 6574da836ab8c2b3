//! What goes into the slots of a store's record, sealed.
//!
//! Each slot is sealed with the operation's id. The claim binds an owner, which is random and never used twice, to the
//! identity; what that owner says is sealed with the owner, and so belongs to that identity too.

use std::time::Duration;

use counterfoil_core::{Epoch, OperationId, Owner, Timestamp, store::Identity};

use super::{
    bytes::{Reader, Unreadable, Write, text},
    fields::{read_limits, read_who, who, write_limits},
    seal::{Kind, Seals},
    word::Word,
};

/// An owner's bytes where there is none: a record that was called off before its first claim.
pub(crate) const NOBODY: [u8; 16] = [0; 16];

/// Whoever has, or had, an epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Holder {
    pub(crate) id: OperationId,
    pub(crate) owner: Option<Owner>,
    pub(crate) epoch: Epoch,
}

impl Holder {
    pub(crate) fn owner_bytes(&self) -> [u8; 16] {
        self.owner.map_or(NOBODY, |owner| *owner.as_bytes())
    }

    /// Both, as they stand beside each other in a head.
    pub(crate) fn bytes(&self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..16].copy_from_slice(&self.owner_bytes());
        bytes[16..].copy_from_slice(&self.epoch_bytes());
        bytes
    }

    pub(crate) const fn epoch_bytes(&self) -> [u8; 8] {
        self.epoch.as_u64().to_be_bytes()
    }
}

impl Seals {
    pub(crate) fn identity(
        &self,
        id: OperationId,
        identity: &Identity,
        exp: Option<Timestamp>,
        retention: Duration,
    ) -> Vec<u8> {
        let mut content = Vec::with_capacity(128);
        write_limits(&mut content, exp, retention);
        content.bytes(&who(identity));
        self.seal(Kind::Identity, [id.as_bytes()], &content)
    }

    pub(crate) fn open_identity(
        &self,
        id: OperationId,
        sealed: &[u8],
    ) -> Result<(Identity, Option<Timestamp>, Duration), Unreadable> {
        let content = self.open(Kind::Identity, [id.as_bytes()], sealed)?;
        let mut reader = Reader::new(content);
        let (exp, retention) = read_limits(&mut reader)?;
        let identity = read_who(&mut reader)?;
        reader.end()?;
        Ok((identity, exp, retention))
    }

    /// `taken`: whether the epoch began by a takeover.
    pub(crate) fn claim(&self, identity: &Identity, holder: &Holder, taken: bool) -> Vec<u8> {
        let (owner, epoch) = (holder.owner_bytes(), holder.epoch_bytes());
        let about = [
            holder.id.as_bytes().as_slice(),
            &who(identity),
            &owner,
            &epoch,
            &[u8::from(taken)],
        ];
        self.seal(Kind::Claim, about, &[])
    }

    pub(crate) fn check_claim(
        &self,
        identity: &Identity,
        holder: &Holder,
        taken: bool,
        sealed: &[u8],
    ) -> Result<(), Unreadable> {
        let (owner, epoch) = (holder.owner_bytes(), holder.epoch_bytes());
        let about = [
            holder.id.as_bytes().as_slice(),
            &who(identity),
            &owner,
            &epoch,
            &[u8::from(taken)],
        ];
        Reader::new(self.open(Kind::Claim, about, sealed)?).end()
    }

    pub(crate) fn word(&self, holder: &Holder, word: &Word) -> Vec<u8> {
        let (owner, epoch) = (holder.owner_bytes(), holder.epoch_bytes());
        let about = [holder.id.as_bytes().as_slice(), &owner, &epoch];
        self.seal(Kind::Word, about, &word.encode())
    }

    pub(crate) fn open_word(&self, holder: &Holder, sealed: &[u8]) -> Result<Word, Unreadable> {
        let (owner, epoch) = (holder.owner_bytes(), holder.epoch_bytes());
        let about = [holder.id.as_bytes().as_slice(), &owner, &epoch];
        Word::decode(self.open(Kind::Word, about, sealed)?)
    }

    /// A reference, with the attempt that noted it: after a takeover it is an older one's.
    pub(crate) fn reference(&self, kind: Kind, holder: &Holder, reference: &str) -> Vec<u8> {
        let mut content = Vec::with_capacity(24 + reference.len());
        content.bytes(&holder.owner_bytes());
        content.bytes(&holder.epoch_bytes());
        content.bytes(reference.as_bytes());
        self.seal(kind, [holder.id.as_bytes()], &content)
    }

    pub(crate) fn open_reference(
        &self,
        kind: Kind,
        id: OperationId,
        sealed: &[u8],
    ) -> Result<String, Unreadable> {
        let mut reader = Reader::new(self.open(kind, [id.as_bytes()], sealed)?);
        reader.take(NOBODY.len() + 8)?;
        text(reader.rest()).map(str::to_owned)
    }
}
