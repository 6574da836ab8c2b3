//! Security events: each is raised, once, and none carries a credential or a param.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use counterfoil_core::{
    Scope, Subject,
    answer::Status,
    engine::{Outcome, Recovery, SECURITY_TARGET},
    idempotency::IdempotencyKey,
    store::{Cancellation, Identity, Store, Tombstone},
};
use counterfoil_testkit::{Fault, Gate, Method};
use tokio::{sync::oneshot, time::sleep};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

use crate::world::World;

/// Keeps the security events, and the text of all others, of the thread that it listens on.
#[derive(Clone, Default)]
struct Ear {
    security: Arc<Mutex<Vec<String>>>,
    all: Arc<Mutex<String>>,
}

impl Ear {
    fn listen(&self) -> DefaultGuard {
        tracing::subscriber::set_default(self.clone())
    }

    /// The names of the security events so far; the list starts anew.
    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.security.lock().unwrap())
    }

    fn text(&self) -> String {
        self.all.lock().unwrap().clone()
    }
}

#[derive(Default)]
struct Fields {
    event: Option<String>,
    text: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "event" {
            self.event = Some(value.to_owned());
        }
        self.record_debug(field, &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.text, "{}={value:?} ", field.name()).unwrap();
    }
}

impl Subscriber for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("counterfoil")
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        writeln!(self.all.lock().unwrap(), "{}", fields.text).unwrap();
        if event.metadata().target() == SECURITY_TARGET {
            let name = fields.event.expect("a security event has a name");
            self.security.lock().unwrap().push(name);
        }
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

fn other() -> Subject {
    Subject::new("acme", "agent-8").unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_fingerprint_that_is_not_good_for_its_caller() {
    let ear = Ear::default();
    let _listening = ear.listen();
    let world = World::new();
    let preview = world.preview().await;
    let good = preview.fingerprint.as_str();
    let confirm = async |subject: &Subject, text: &str| {
        world
            .gate
            .run(subject, text, world.params(), |_, _| async {
                Outcome::NotExecuted
            })
            .await
            .status
    };
    let mut forged = good.to_owned();
    let last = if forged.pop() == Some('A') { 'E' } else { 'A' };
    forged.push(last);
    assert_eq!(
        confirm(&world.agent, &forged).await,
        Status::FingerprintInvalid
    );
    assert_eq!(ear.heard(), ["forged_fingerprint"]);
    let unknown_key = good.replacen("fp1.k1.", "fp1.k2.", 1);
    assert_eq!(
        confirm(&world.agent, &unknown_key).await,
        Status::FingerprintInvalid
    );
    assert_eq!(ear.heard(), ["unknown_key"]);
    assert_eq!(confirm(&other(), good).await, Status::FingerprintInvalid);
    assert_eq!(ear.heard(), ["foreign_fingerprint"]);
    assert_eq!(
        confirm(&world.agent, "fp1.k1").await,
        Status::FingerprintMistyped
    );
    assert!(ear.heard().is_empty(), "a typing error is no attack");
    assert!(!ear.text().contains(good) && !ear.text().contains(&forged));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_comes_with_another_request() {
    const CANARY: &str = "canary-4711-canary-4711";
    let ear = Ear::default();
    let _listening = ear.listen();
    let world = World::new();
    let key = IdempotencyKey::from_text(CANARY).unwrap();
    for (amount, status, events) in [
        ("1.00", Status::Completed, &[][..]),
        ("1.00", Status::AlreadyCompleted, &[]),
        ("2.00", Status::KeyReused, &["key_reused"]),
    ] {
        let keyed = world.gate.keyed(&world.agent, &key).unwrap();
        assert!(!format!("{keyed:?}{key:?}").contains("canary"));
        let done = |_, _| async { Outcome::done("paid") };
        let told = world.gate.run_keyed(keyed, world.bind(amount), done).await;
        assert_eq!(told.status, status);
        assert_eq!(ear.heard(), events);
    }
    assert!(!ear.text().contains(CANARY));
}

#[tokio::test(start_paused = true)]
async fn changed_params_and_a_stranger_who_asks_by_id() {
    let ear = Ear::default();
    let _listening = ear.listen();
    let world = World::new();
    let preview = world.preview().await;
    let answer = world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.bind("987654.00"),
            |_, _| async { Outcome::NotExecuted },
        )
        .await;
    assert_eq!(answer.status, Status::ParamsChanged);
    assert_eq!(ear.heard(), ["params_changed"]);
    for named in ["key_id", "k1", "digest", &preview.operation_id.to_string()] {
        assert!(ear.text().contains(named), "{named}");
    }

    world.confirm(&preview).await;
    let id = preview.operation_id;
    let status = world.counterfoil.status_by_id(&other(), id).await;
    assert_eq!(status.status, Status::NotFound);
    assert_eq!(ear.heard(), ["foreign_record"]);
    let cancel = world.counterfoil.cancel_by_id(&other(), id).await;
    assert_eq!(cancel.status, Status::NotFound);
    assert_eq!(ear.heard(), ["foreign_record"]);
    for param in ["987654", "10.00", "acct-7", "paid"] {
        assert!(!ear.text().contains(param), "{param}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_not_the_fingerprints() {
    let ear = Ear::default();
    let _listening = ear.listen();
    let world = World::new();
    let preview = world.preview().await;
    let tombstone = Tombstone {
        identity: Identity {
            subject: world.agent.clone(),
            scope: Scope::new("payments.refund"),
            hash: world.params().hash(),
        },
        exp: preview.expires_at,
        retention: Duration::from_secs(3600),
    };
    let cancellation = Cancellation {
        id: preview.operation_id,
        subject: world.agent.clone(),
        tombstone: Some(tombstone),
        reason: None,
    };
    world.store.cancel(&cancellation).await.unwrap();
    world.confirm(&preview).await;
    assert_eq!(ear.heard(), ["foreign_record"]);
    let text = preview.fingerprint.as_str().as_bytes();
    for asked in [
        world
            .counterfoil
            .status_by_fingerprint(&world.agent, text)
            .await,
        world
            .counterfoil
            .cancel_by_fingerprint(&world.agent, text)
            .await,
    ] {
        assert_eq!(asked.status, Status::FingerprintInvalid);
    }
    assert_eq!(ear.heard(), ["foreign_record", "foreign_record"]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_lost_its_epoch() {
    let ear = Ear::default();
    let _listening = ear.listen();
    let world = World::with(|gate| {
        gate.with_recovery(Recovery::Takeover {
            window: Duration::from_secs(600),
        })
    });
    let preview = world.preview().await;
    let (go, wait) = oneshot::channel::<()>();
    let first = world.spawn(&preview, |_, _| async move {
        wait.await.unwrap();
        Outcome::done("late")
    });
    sleep(Duration::from_secs(61)).await;
    assert_eq!(world.confirm(&preview).await.status, Status::Completed);
    assert!(ear.heard().is_empty());
    go.send(()).unwrap();
    first.await.unwrap();
    assert_eq!(ear.heard(), ["stale_owner"]);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_its_own_end_overtakes_accuses_nobody() {
    let ear = Ear::default();
    let _listening = ear.listen();
    let world = World::new();
    let preview = world.preview().await;
    let slow = Gate::new();
    world.store.next_renew(Fault::HoldBefore(slow.clone()));
    let run = world.gate.run(
        &world.agent,
        preview.fingerprint.as_str(),
        world.params(),
        |_, _| async {
            sleep(Duration::from_secs(4)).await;
            Outcome::done(&1)
        },
    );
    assert_eq!(run.await.status, Status::Completed);
    slow.open();
    assert_eq!(
        world.counterfoil.drain(Duration::from_secs(1)).await,
        Ok(())
    );
    assert_eq!(world.store.calls(Method::Renew), 1);
    assert!(ear.heard().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_release_whose_reply_was_lost_accuses_nobody() {
    let ear = Ear::default();
    let _listening = ear.listen();
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_release(Fault::ReplyLost);
    let first = world.confirm_with(&preview, Outcome::NotExecuted);
    let second = async {
        while world.store.calls(Method::Release) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        world.confirm(&preview).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(second.status, Status::Completed);
    assert_eq!(first.status, Status::AlreadyCompleted, "as the record says");
    assert!(ear.heard().is_empty());
}
