//! What a sequence is made of: steps that name owners, epochs and identities by their part in the play, so that a step
//! still means something when others are taken out.

use counterfoil_core::lifecycle::{Ending, State, Verdict};

/// How many operations a sequence plays with.
pub(super) const OPERATIONS: usize = 3;

/// How many owners each of them knows.
pub(super) const OWNERS: usize = 4;

/// One step. Times are in the harness' units.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Wait(u32),
    Ask(usize, Ask),
    /// A copy of the call that came so many calls before, as a network delivers it late.
    Again(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Ask {
    Acquire {
        by: Who,
        identity: Whose,
        lease: u32,
        exp: Exp,
        seen: Option<Look>,
        takeover_within: Option<u32>,
        needs_approval: bool,
    },
    Renew(Held, u32),
    Complete(Held, Said),
    Release(Held),
    Annotate {
        held: Held,
        provider_ref: Option<u8>,
        result_ref: Option<u8>,
    },
    Receive {
        epoch: Which,
        ending: Ending,
        result: Option<Bytes>,
        result_ref: Option<u8>,
    },
    Fence {
        by: Who,
        seen: Which,
        hold: u32,
    },
    Resolve {
        by: Who,
        seen: Which,
        verdict: Verdict,
        vouched: bool,
        result: Option<Bytes>,
        result_ref: Option<u8>,
        by_a_person: bool,
    },
    Cancel {
        by: Whose,
        tombstone: Option<(Whose, Exp)>,
        with_reason: bool,
    },
    Find,
}

/// An owner: the one on record, or one of the operation's own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    Standing,
    Nth(usize),
}

/// An epoch, by the one on record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    Before,
    Standing,
    After,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) owner: Who,
    pub(super) epoch: Which,
}

/// What a claim says that it read; without a state, the one on record, if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) state: Option<State>,
    pub(super) epoch: Which,
}

/// In whose name, and on which params.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    Own,
    OtherHash,
    OtherPrincipal,
    OtherTenant,
    OtherScope,
    /// Another tenant's, on other params.
    Stranger,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Exp {
    /// The operation's own, which passes in the middle of a sequence.
    Own,
    Never,
    Now,
    /// After every sequence.
    Later,
}

#[derive(Clone, Debug)]
pub(super) enum Said {
    Ended {
        ending: Ending,
        result: Option<Bytes>,
        result_ref: Option<u8>,
    },
    Accepted {
        /// From now on; zero is overdue at once.
        deadline: Option<u32>,
        result: Option<Bytes>,
        result_ref: Option<u8>,
    },
    Unknown(u8),
}

/// A result. The empty one is one too.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bytes {
    Empty,
    Text,
    /// Bytes that are no text, in another format.
    Binary,
    /// Past what some keep in one piece.
    Large,
}
