//! Programs that nobody wrote for the gateway: the HTTP layers of two SDKs that send a request again by themselves, with an
//! `Idempotency-Key`. Each test counts the tries at a front before the gateway, and the tickets in the gateway's ledger.

mod bare;
mod control;
mod front;
mod once;
mod sdk;
mod without;

use front::{Attempt, Fault, Front};
use sdk::Given;
use tests::{Caller, Gateway};

/// A gateway, a front before it, and a caller that is the SDK's: it sees the ledger.
struct Scene {
    gateway: Gateway,
    front: Front,
    caller: Caller,
}

impl Scene {
    async fn of(gateway: Gateway, faults: &[Fault]) -> Self {
        let front = Front::start(gateway.address(), faults).await;
        let caller = gateway.caller("acme/billing");
        Self {
            gateway,
            front,
            caller,
        }
    }

    async fn start(faults: &[Fault]) -> Self {
        Self::of(Gateway::start(&[]), faults).await
    }

    /// Holds that all came to one ticket, that the SDK's user has it as the first answer was, and that every try was the
    /// same request under the same key. Gives the tries.
    async fn assert_one_ticket(&self, given: &Given) -> Vec<Attempt> {
        self.front.assert_all_placed();
        let attempts = self.front.attempts();
        let effects = self.caller.effects(None).await;
        assert_eq!(effects.len(), 1, "{effects:#?}\n{attempts:#?}");
        assert_eq!(given["status"], 201, "{given}");
        assert_eq!(
            given["body"]["ticket_id"], effects[0]["ticket_id"],
            "{given}"
        );
        let first = &attempts[0];
        assert_eq!(first.keys.len(), 1, "{first:#?}");
        for attempt in &attempts {
            assert_eq!(attempt.keys, first.keys);
            assert_eq!(attempt.body, first.body);
            assert_eq!(attempt.path, "/v1/tickets");
        }
        // Searched for when the gateway ends.
        self.gateway.must_not_log(&first.keys[0]);
        attempts
    }
}

/// The status and the word that a try was answered with by the gateway; nothing where it was not.
fn told(attempts: &[Attempt]) -> Vec<Option<(u16, &str)>> {
    let answers = attempts.iter().map(|attempt| attempt.answer.as_ref());
    answers
        .map(|answer| answer.map(|reply| (reply.status, reply.word())))
        .collect()
}
