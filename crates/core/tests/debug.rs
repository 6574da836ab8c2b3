//! `Debug` of what carries params, results or credentials: it goes to logs, and shows none of them.

use std::{fmt::Debug, time::Duration};

use bytes::Bytes;
use counterfoil_core::{
    KeyId, OperationId, ParamHash, Scope, Subject, Timestamp,
    answer::{Answer, Status},
    engine::{Counterfoil, Outcome, Verdict},
    fingerprint::{Key, Keyring},
    lifecycle::{Life, State},
    store::{
        Approval, Completion, Evidence, Fence, GuardClaim, Identity, Proposal, Record, StoredResult,
    },
};
use counterfoil_store_memory::MemoryStore;
use serde::{Deserialize, Serialize};

const CANARY: &str = "canary-4711";

fn silent(what: &impl Debug) {
    for text in [format!("{what:?}"), format!("{what:#?}")] {
        assert!(!text.contains(CANARY), "{text}");
    }
}

fn identity() -> Identity {
    Identity {
        subject: Subject::new("acme", "agent-7").unwrap(),
        scope: Scope::new("payments.transfer"),
        hash: ParamHash::from_bytes([7; 32]),
    }
}

#[test]
fn what_a_store_gets_and_gives_shows_no_params_and_no_results() {
    let now = Timestamp::from_unix_secs(1_700_000_000);
    let result = StoredResult::json(Bytes::from_static(CANARY.as_bytes()));
    let guards = vec![
        GuardClaim::Unique {
            name: "invoice".to_owned(),
            key: CANARY.to_owned(),
            keep: None,
        },
        GuardClaim::Exclusive {
            resource: CANARY.to_owned(),
            expected_version: Some(3),
        },
    ];
    silent(&guards);
    silent(&Fence {
        resource: CANARY.to_owned(),
        number: 1,
    });
    silent(&Proposal {
        id: OperationId::mint(now),
        identity: identity(),
        exp: now,
        retention: Duration::ZERO,
        approval_ends: now,
        view: CANARY.to_owned(),
    });
    let life = Life::new(State::Unknown);
    let mut record = Record::new(
        OperationId::mint(now),
        identity(),
        life,
        None,
        Duration::ZERO,
        now,
    );
    record.result = Some(result.clone());
    record.approval = Some(Approval::waiting(CANARY.to_owned()));
    record.guards = guards;
    record.evidence = vec![Evidence {
        owner: counterfoil_core::Owner::mint(),
        epoch: counterfoil_core::Epoch::FIRST,
        completion: Completion::Accepted {
            deadline: None,
            result: Some(result.clone()),
            result_ref: None,
        },
        at: now,
    }];
    silent(&record);
    silent(&Answer::new(Status::Completed).with_result(result.clone()));
    silent(&Outcome::Done(Some(result)));
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    text: String,
}

#[tokio::test]
async fn what_the_engine_hands_out_shows_no_params_and_no_credential() {
    let keys = Keyring::new(Key::random(KeyId::parse("k1").unwrap()));
    let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
    let gate = counterfoil
        .gate::<Note>(Scope::new("notes.add"))
        .build()
        .unwrap();
    let agent = Subject::new("acme", "agent-7").unwrap();
    let params = gate
        .bind(Note {
            text: CANARY.to_owned(),
        })
        .unwrap();
    silent(&params);
    let json = format!(r#"{{"text":"{CANARY}"}}"#);
    silent(&gate.incoming(json.as_bytes()).unwrap());
    let preview = gate.preview(&agent, &params).await.unwrap();
    let fingerprint = preview.fingerprint.as_str();
    let tag = fingerprint.rsplit('.').next().unwrap();
    assert!(!format!("{preview:?}{gate:?}{counterfoil:?}").contains(tag));
    let verdict = gate.confirm(&agent, fingerprint, params).await;
    silent(&verdict);
    let Verdict::Run(execution) = verdict else {
        panic!("nobody else claims it");
    };
    silent(&execution);
    let running = execution.start();
    silent(&running);
    silent(running.attempt());
    silent(&running.complete(Outcome::done(CANARY)).await);
}
