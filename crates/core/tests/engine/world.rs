//! What every test starts from: one gate, one agent, a ledger that counts effects.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use counterfoil_core::{
    KeyId, OperationId, Scope, Subject,
    answer::Answer,
    engine::{
        Attempt, Bound, Counterfoil, CounterfoilBuilder, Gate, GateBuilder, LeaseTime, Outcome,
        Preview,
    },
    fingerprint::{Key, Keyring},
    lifecycle::State,
    store::{Record, Store},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Flaky, TokioClock};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

pub(crate) const TRANSFER: Scope = Scope::new("payments.transfer");

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Transfer {
    pub(crate) amount: String,
    pub(crate) to: String,
}

pub(crate) struct World {
    pub(crate) store: Flaky,
    pub(crate) counterfoil: Counterfoil,
    pub(crate) gate: Gate<Transfer>,
    pub(crate) agent: Subject,
    effects: Arc<AtomicUsize>,
}

pub(crate) fn key(id: &str) -> Key {
    Key::new(KeyId::parse(id).unwrap(), &[id.as_bytes()[0]; 32]).unwrap()
}

/// Times that a test can follow: leases of 9 s, runs of 60 s at most.
pub(crate) fn lease_time() -> LeaseTime {
    LeaseTime::for_downstream(
        Duration::from_secs(40),
        Duration::from_secs(5),
        Duration::from_secs(3),
    )
    .with_lease(Duration::from_secs(9))
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|gate| gate)
    }

    pub(crate) fn with(
        configure: impl FnOnce(GateBuilder<Transfer>) -> GateBuilder<Transfer>,
    ) -> Self {
        Self::built(|counterfoil| counterfoil, configure)
    }

    pub(crate) fn built(
        process: impl FnOnce(CounterfoilBuilder) -> CounterfoilBuilder,
        configure: impl FnOnce(GateBuilder<Transfer>) -> GateBuilder<Transfer>,
    ) -> Self {
        let clock = TokioClock::default();
        let store = Flaky::new(MemoryStore::with_clock(clock));
        let builder = Counterfoil::builder(store.clone(), Keyring::new(key("k1")));
        let counterfoil = process(builder.with_clock(clock)).build().unwrap();
        let gate = configure(counterfoil.gate(TRANSFER).with_lease_time(lease_time()))
            .build()
            .unwrap();
        Self {
            store,
            counterfoil,
            gate,
            agent: Subject::new("acme", "agent-7").unwrap(),
            effects: Arc::default(),
        }
    }

    pub(crate) fn params(&self) -> Bound<Transfer> {
        self.bind("10.00")
    }

    pub(crate) fn bind(&self, amount: &str) -> Bound<Transfer> {
        self.gate
            .bind(Transfer {
                amount: amount.to_owned(),
                to: "acct-7".to_owned(),
            })
            .unwrap()
    }

    pub(crate) async fn preview(&self) -> Preview {
        self.gate
            .preview(&self.agent, &self.params())
            .await
            .unwrap()
    }

    /// Confirms with a handler that has one effect and says so.
    pub(crate) async fn confirm(&self, preview: &Preview) -> Answer {
        self.confirm_with(preview, Outcome::done("paid")).await
    }

    /// Confirms with a handler that has one effect and says something else.
    pub(crate) async fn confirm_with(&self, preview: &Preview, outcome: Outcome) -> Answer {
        let effects = Arc::clone(&self.effects);
        self.gate
            .run(
                &self.agent,
                preview.fingerprint.as_str(),
                self.params(),
                move |_, _| async move {
                    effects.fetch_add(1, Ordering::SeqCst);
                    outcome
                },
            )
            .await
    }

    /// Confirms with a handler, in a task of its own.
    pub(crate) fn spawn<F, Fut>(&self, preview: &Preview, handler: F) -> JoinHandle<Answer>
    where
        F: FnOnce(Attempt, Arc<Transfer>) -> Fut + Send + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let (gate, agent, params) = (self.gate.clone(), self.agent.clone(), self.params());
        let fingerprint = preview.fingerprint.clone();
        tokio::spawn(async move {
            gate.run(&agent, fingerprint.as_str(), params, handler)
                .await
        })
    }

    pub(crate) fn effect(&self) -> impl FnOnce() + Send + 'static {
        let effects = Arc::clone(&self.effects);
        move || {
            effects.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(crate) fn effects(&self) -> usize {
        self.effects.load(Ordering::SeqCst)
    }

    pub(crate) async fn record(&self, id: OperationId) -> Record {
        self.store
            .inner()
            .find(id)
            .await
            .unwrap()
            .record
            .expect("a record stands")
    }

    pub(crate) async fn state(&self, id: OperationId) -> State {
        self.record(id).await.life.state
    }

    /// Waits, in moved time, until nothing runs any more.
    pub(crate) async fn idle(&self) {
        let idle = async {
            while self.counterfoil.running() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(600), idle)
            .await
            .expect("everything ends");
    }
}
