//! What a run means, whatever goes wrong in it: each value of `X-Chaos`, the first caller's answer, what stands, what the
//! ledger holds, and what a retry is told.

mod faults;
mod leases;
mod responses;
mod said;

use tests::{Gateway, Previewed, transfer};

/// Where it stands afterwards.
struct Stands {
    state: &'static str,
    word: &'static str,
    executed: &'static str,
    effects: usize,
}

impl Stands {
    async fn hold(&self, previewed: &Previewed, chaos: &str) {
        let status = previewed.status().await;
        status.assert_answer(200, self.word, self.executed);
        assert_eq!(status.text("state"), self.state, "{chaos}");
        assert_eq!(previewed.effects().await, self.effects, "{chaos}");
    }
}

const DONE: Stands = Stands {
    state: "succeeded",
    word: "already_completed",
    executed: "yes",
    effects: 1,
};

const FAILED: Stands = Stands {
    state: "failed",
    word: "already_failed",
    executed: "no",
    effects: 0,
};

const RELEASED: Stands = Stands {
    state: "queued",
    word: "not_executed",
    executed: "not_yet",
    effects: 0,
};

/// There is an effect, and nobody knows.
const UNKNOWN: Stands = Stands {
    state: "unknown",
    word: "outcome_unknown",
    executed: "unknown",
    effects: 1,
};

/// There is none, and nobody knows.
const UNKNOWN_BEFORE: Stands = Stands {
    effects: 0,
    ..UNKNOWN
};

async fn previewed(gateway: &Gateway) -> Previewed {
    gateway
        .caller("acme/agent-7")
        .preview(&transfer("120.50"))
        .await
}
