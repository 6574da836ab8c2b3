//! The gateway, and a ledger in a process of its own that takes no write but with the gateway's grant.

mod grants;
mod refused;
mod through;

use tests::{Gateway, GrantedLedger, Previewed, Scratch, transfer};

const GRANT_KEYS: &str = "g1=2222222222222222222222222222222222222222222222222222222222222222";

/// Both processes.
struct Both {
    gateway: Gateway,
    ledger: GrantedLedger,
    _file: Scratch,
}

impl Both {
    fn start() -> Self {
        let file = Scratch::new("granted.jsonl");
        let ledger = GrantedLedger::start(&file, GRANT_KEYS);
        let gateway = Gateway::start_with_ledger(ledger.address(), GRANT_KEYS, &[]);
        Self {
            gateway,
            ledger,
            _file: file,
        }
    }

    async fn preview(&self) -> Previewed {
        preview(&self.gateway).await
    }
}

async fn preview(gateway: &Gateway) -> Previewed {
    let agent = gateway.caller("acme/agent-7");
    agent.preview(&transfer("120.50")).await
}
