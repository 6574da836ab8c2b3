//! Whatever a text holds comes back as it was, also what the server's own texts can't hold.

mod common;

use common::{Op, builder, claimed, done, found, fresh_schema, patient};
use counterfoil_core::{
    Owner, Subject,
    lifecycle::Verdict,
    store::{
        Acquired, Annotation, Completed, Completion, Lease, Resolution, Resolved, Store,
        StoredResult,
    },
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStore;

const ODD: &str = "a\0b \u{1b}0 \u{1b}\u{1b} ' \" \\ {schema} ü 漢 \u{10ffff}";

async fn store() -> PostgresStore {
    let builder = patient(builder(&shared(Shared::Postgres))).with_schema(fresh_schema());
    builder.migrate().await.expect("it can be migrated");
    builder.connect().await.expect("it is fit for it")
}

#[tokio::test]
async fn every_text_comes_back_as_it_was() {
    let store = store().await;
    for mut op in [Op::now(), Op::keyed()] {
        op.identity.subject = Subject::new(ODD, ODD).expect("short enough");
        let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
        let mut note = Annotation::default();
        note.provider_ref = Some(ODD.to_owned());
        store.annotate(&held, &note).await.expect("it is ours");
        let stranger = Lease {
            owner: Owner::mint(),
            ..held
        };
        let lost = Completion::Accepted {
            deadline: None,
            result: Some(StoredResult {
                format: "f\0".into(),
                bytes: ODD.into(),
            }),
            result_ref: Some(ODD.to_owned()),
        };
        let answer = store.complete(&stranger, &lost).await;
        assert_eq!(answer.expect("it answers"), Completed::NotOwner);
        let doubt = Completion::Unknown {
            reason: ODD.to_owned(),
        };
        let answer = store.complete(&held, &doubt).await;
        assert_eq!(answer.expect("it is ours"), Completed::Completed);

        let stands = found(store.acquire(&op.wish()).await.expect("it answers"));
        assert_eq!(stands.identity, op.identity);
        assert_eq!(stands.provider_ref.as_deref(), Some(ODD));
        assert_eq!(stands.reason.as_deref(), Some(ODD));
        assert_eq!(stands.evidence[0].completion, lost);

        let resolution = Resolution {
            id: op.id,
            owner: Owner::mint(),
            seen: held.epoch,
            verdict: Verdict::Done,
            vouched: false,
            result: Some(StoredResult {
                format: "f\0".into(),
                bytes: ODD.into(),
            }),
            result_ref: Some(ODD.to_owned()),
            by: Some(op.identity.subject.clone()),
            reason: ODD.to_owned(),
        };
        let record = match store.resolve(&resolution).await.expect("it answers") {
            Resolved::Resolved(record) => *record,
            other => panic!("{other:?}"),
        };
        assert_eq!(record.result, resolution.result);
        assert_eq!(record.result_ref, resolution.result_ref);
        assert_eq!(record.settled_by, resolution.by);
        assert_eq!(record.reason.as_deref(), Some(ODD));
    }
}

#[tokio::test]
async fn two_subjects_never_become_one() {
    let store = store().await;
    let names = ["\0", "\u{1b}0", "\u{1b}", "\u{1b}\u{1b}", "0", "A", "a"];
    for mine in names {
        let mut op = Op::now();
        op.identity.subject = Subject::new("t", mine).expect("short enough");
        let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
        store
            .complete(&held, &done("paid"))
            .await
            .expect("it is ours");
        for other in names {
            op.identity.subject = Subject::new("t", other).expect("short enough");
            let answer = store.acquire(&op.wish()).await.expect("it answers");
            match answer {
                Acquired::Found(_) if other == mine => {}
                Acquired::Foreign if other != mine => {}
                wrong => panic!("{mine:?} {other:?}: {wrong:?}"),
            }
        }
    }
}
