//! Who, what, which params: whom a fingerprint serves, and what the others learn.

use counterfoil_core::{
    Scope, Subject,
    answer::{Answer, Executed, OperationState, Status},
    engine::{Counterfoil, Outcome, Verdict},
    fingerprint::{Keyring, SignedUntil},
    store::{Cancellation, Identity, Store, Tombstone},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Fault, Flaky, Method, TokioClock};
use std::time::Duration;

use crate::world::{TRANSFER, Transfer, World, key};

#[tokio::test(start_paused = true)]
async fn changed_params_are_told_in_every_state_before_anything_else() {
    let world = World::new();
    let changed = world.bind("9999.00");
    let cases = [
        (None, Executed::NotYet, None),
        (
            Some(Outcome::NotExecuted),
            Executed::NotYet,
            Some(OperationState::Queued),
        ),
        (
            Some(Outcome::done(&1)),
            Executed::Yes,
            Some(OperationState::Succeeded),
        ),
        (
            Some(Outcome::failed(&1)),
            Executed::No,
            Some(OperationState::Failed),
        ),
        (
            Some(Outcome::accepted(&1)),
            Executed::Pending,
            Some(OperationState::Running),
        ),
        (
            Some(Outcome::Unknown("?")),
            Executed::Unknown,
            Some(OperationState::Unknown),
        ),
    ];
    for (outcome, executed, state) in cases {
        let preview = world.preview().await;
        if let Some(outcome) = outcome {
            world.confirm_with(&preview, outcome).await;
        }
        let fingerprint = preview.fingerprint.as_str();
        let Verdict::Answer(answer) = world
            .gate
            .confirm(&world.agent, fingerprint, changed.clone())
            .await
        else {
            panic!("changed params never run");
        };
        assert_eq!(
            (answer.status, answer.executed, answer.state),
            (Status::ParamsChanged, executed, state)
        );
        assert_eq!(answer.operation_id, Some(preview.operation_id));
        assert_eq!(answer.result, None);
    }
}

#[tokio::test(start_paused = true)]
async fn changed_params_are_told_although_the_store_cannot_be_asked() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next(Method::Find, Fault::NotApplied);
    let Verdict::Answer(answer) = world
        .gate
        .confirm(
            &world.agent,
            preview.fingerprint.as_str(),
            world.bind("11.00"),
        )
        .await
    else {
        panic!("changed params never run");
    };
    assert_eq!(
        (answer.status, answer.executed),
        (Status::ParamsChanged, Executed::Unknown)
    );
}

#[tokio::test(start_paused = true)]
async fn another_subject_is_told_what_a_forger_is_told() {
    let world = World::new();
    let preview = world.preview().await;
    world.confirm(&preview).await;
    let calls = world.store.calls(Method::Acquire);
    for (tenant, principal) in [
        ("acme", "agent-8"),
        ("evil", "agent-7"),
        ("acm", "eagent-7"),
    ] {
        let other = Subject::new(tenant, principal).unwrap();
        let Verdict::Answer(answer) = world
            .gate
            .confirm(&other, preview.fingerprint.as_str(), world.params())
            .await
        else {
            panic!("never another's");
        };
        assert_eq!(answer.status, Status::FingerprintInvalid);
        assert_eq!(
            (answer.operation_id, answer.state, answer.result),
            (None, None, None)
        );
        let status = world
            .counterfoil
            .status_by_fingerprint(&other, preview.fingerprint.as_str().as_bytes())
            .await;
        assert_eq!(status.status, Status::FingerprintInvalid);
        let by_id = world
            .counterfoil
            .status_by_id(&other, preview.operation_id)
            .await;
        assert_eq!((by_id.status, by_id.operation_id), (Status::NotFound, None));
    }
    assert_eq!(world.store.calls(Method::Acquire), calls);
}

#[tokio::test(start_paused = true)]
async fn a_fingerprint_of_another_scope_is_told_what_a_forger_is_told() {
    let world = World::new();
    let refunds = world
        .counterfoil
        .gate::<Transfer>(Scope::new("payments.refund"))
        .build()
        .unwrap();
    let preview = world.preview().await;
    let Verdict::Answer(answer) = refunds
        .confirm(&world.agent, preview.fingerprint.as_str(), world.params())
        .await
    else {
        panic!("never another scope's");
    };
    assert_eq!(answer.status, Status::FingerprintInvalid);
}

#[tokio::test(start_paused = true)]
async fn after_a_rotation_the_same_fingerprint_finds_the_same_record() {
    let world = World::new();
    let preview = world.preview().await;
    world.confirm(&preview).await;
    let rotated = Keyring::new(key("m2"))
        .with_verifying(key("k1"), SignedUntil::Open)
        .unwrap();
    world.counterfoil.replace_keys(rotated);
    assert_eq!(
        world.confirm(&preview).await.status,
        Status::AlreadyCompleted
    );
    assert_eq!(world.preview().await.fingerprint.key_id().as_str(), "m2");
    world.counterfoil.replace_keys(Keyring::new(key("m2")));
    assert_eq!(
        world.confirm(&preview).await.status,
        Status::FingerprintInvalid
    );
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_status_says_not_started_before_and_the_result_after() {
    let world = World::new();
    let preview = world.preview().await;
    let text = preview.fingerprint.as_str().as_bytes();
    let before = world
        .counterfoil
        .status_by_fingerprint(&world.agent, text)
        .await;
    assert_eq!(
        (before.status, before.executed),
        (Status::NotStarted, Executed::NotYet)
    );
    let by_id = world
        .counterfoil
        .status_by_id(&world.agent, preview.operation_id)
        .await;
    assert_eq!(
        by_id.status,
        Status::NotFound,
        "an id alone proves nothing about a preview"
    );
    world.confirm(&preview).await;
    let after = world
        .counterfoil
        .status_by_fingerprint(&world.agent, text)
        .await;
    assert_eq!(
        (after.status, after.state),
        (Status::AlreadyCompleted, Some(OperationState::Succeeded))
    );
    assert_eq!(&after.result.unwrap().bytes[..], br#""paid""#);
    let by_id = world
        .counterfoil
        .status_by_id(&world.agent, preview.operation_id)
        .await;
    assert_eq!(by_id.status, Status::AlreadyCompleted);
}

#[tokio::test(start_paused = true)]
async fn what_is_cancelled_before_it_ran_never_runs() {
    let world = World::new();
    let preview = world.preview().await;
    let text = preview.fingerprint.as_str().as_bytes();
    let cancelled = world
        .counterfoil
        .cancel_by_fingerprint(&world.agent, text)
        .await;
    assert_eq!(
        (cancelled.status, cancelled.executed),
        (Status::Cancelled, Executed::No)
    );
    assert_eq!(world.confirm(&preview).await.status, Status::Cancelled);
    assert_eq!(world.effects(), 0);
    let again = world
        .counterfoil
        .cancel_by_id(&world.agent, preview.operation_id)
        .await;
    assert_eq!(again.status, Status::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn what_ran_is_too_late_to_cancel_and_says_how_it_stands() {
    let world = World::new();
    let preview = world.preview().await;
    world.confirm(&preview).await;
    let late = world
        .counterfoil
        .cancel_by_id(&world.agent, preview.operation_id)
        .await;
    assert_eq!(
        (late.status, late.executed),
        (Status::TooLate, Executed::Yes)
    );
    assert_eq!(late.state, Some(OperationState::Succeeded));
    let other = Subject::new("acme", "agent-8").unwrap();
    let foreign = world
        .counterfoil
        .cancel_by_id(&other, preview.operation_id)
        .await;
    assert_eq!(foreign.status, Status::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_does_not_know_the_gate_never_reads_a_missing_record_as_no() {
    let world = World::with(|gate| gate.with_retention(Duration::from_secs(900)));
    let preview = world.preview().await;
    world.confirm(&preview).await;
    // Long enough for the record to be dropped, by the retention of its own gate.
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(world.store.purge(10).await.unwrap(), 1);
    let elsewhere = Counterfoil::builder(world.store.clone(), Keyring::new(key("k1")))
        .with_clock(TokioClock::default())
        .build()
        .unwrap();
    let text = preview.fingerprint.as_str().as_bytes();
    for counterfoil in [&elsewhere, &world.counterfoil] {
        for answer in [
            counterfoil.status_by_fingerprint(&world.agent, text).await,
            counterfoil.cancel_by_fingerprint(&world.agent, text).await,
        ] {
            assert_eq!(
                (answer.status, answer.executed),
                (Status::FingerprintExpired, Executed::Unknown)
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_of_another_scope_under_the_same_id_is_not_told() {
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
    let text = preview.fingerprint.as_str().as_bytes();
    let status = world
        .counterfoil
        .status_by_fingerprint(&world.agent, text)
        .await;
    assert_eq!(status.status, Status::FingerprintInvalid);
    assert_eq!(
        world.confirm(&preview).await.status,
        Status::FingerprintInvalid
    );
}

#[tokio::test(start_paused = true)]
async fn a_restarted_memory_store_answers_an_older_fingerprint_as_unknown() {
    let clock = TokioClock::default();
    let start = |store| {
        let counterfoil = Counterfoil::builder(store, Keyring::new(key("k1")))
            .with_clock(clock)
            .build()
            .unwrap();
        let gate = counterfoil.gate::<Transfer>(TRANSFER).build().unwrap();
        (counterfoil, gate)
    };
    let agent = Subject::new("acme", "agent-7").unwrap();
    let (_, gate) = start(MemoryStore::with_clock(clock));
    let params = gate
        .bind(Transfer {
            amount: "1".into(),
            to: "a".into(),
        })
        .unwrap();
    let preview = gate.preview(&agent, &params).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;

    let (counterfoil, gate) = start(MemoryStore::with_clock(clock));
    let answer = gate
        .run(
            &agent,
            preview.fingerprint.as_str(),
            params.clone(),
            |_, _| async { panic!("never run: the store can't know") },
        )
        .await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::OutcomeUnknown, Executed::Unknown)
    );
    let status = counterfoil
        .status_by_fingerprint(&agent, preview.fingerprint.as_str().as_bytes())
        .await;
    assert_eq!(status.status, Status::OutcomeUnknown);
}

#[tokio::test(start_paused = true)]
async fn what_the_service_refuses_is_neither_signed_nor_claimed_and_what_ran_is_still_told() {
    let clock = TokioClock::default();
    let store = Flaky::new(MemoryStore::with_clock(clock));
    let keys = || Keyring::new(key("k1"));
    let lenient = Counterfoil::builder(store.clone(), keys())
        .with_clock(clock)
        .build()
        .unwrap();
    let lenient = lenient.gate::<Transfer>(TRANSFER).build().unwrap();
    let strict = Counterfoil::builder(store.clone(), keys())
        .with_clock(clock)
        .build()
        .unwrap();
    let strict = strict
        .gate::<Transfer>(TRANSFER)
        .with_check(|transfer| match transfer.amount.len() {
            0..5 => Ok(()),
            _ => Err(Answer::new(Status::NotImplemented).with_field("/amount")),
        })
        .build()
        .unwrap();
    let agent = Subject::new("acme", "agent-7").unwrap();
    let large = || {
        let large = Transfer {
            amount: "10000".into(),
            to: "a".into(),
        };
        lenient.bind(large).unwrap()
    };
    assert_eq!(
        strict.preview(&agent, &large()).await.unwrap_err().status,
        Status::NotImplemented
    );

    let (ran, fresh) = (
        lenient.preview(&agent, &large()).await.unwrap(),
        lenient.preview(&agent, &large()).await.unwrap(),
    );
    let pay = |_, _| async { Outcome::done("paid") };
    lenient
        .run(&agent, ran.fingerprint.as_str(), large(), pay)
        .await;
    let claims = store.calls(Method::Acquire);
    let told = strict
        .run(&agent, ran.fingerprint.as_str(), large(), pay)
        .await;
    assert_eq!(told.status, Status::AlreadyCompleted);
    let told = strict
        .run(&agent, fresh.fingerprint.as_str(), large(), pay)
        .await;
    assert_eq!(
        (told.status, told.field.as_deref()),
        (Status::NotImplemented, Some("/amount"))
    );
    assert_eq!(store.calls(Method::Acquire), claims, "nothing was claimed");
}
