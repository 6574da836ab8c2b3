//! The helper inside a method.

use counterfoil_core::engine::Disposition;
use tonic::metadata::MetadataValue;

use super::*;

fn request(fingerprint: Option<&str>) -> tonic::Request<Order> {
    let mut request = tonic::Request::new(order());
    request.extensions_mut().insert(agent());
    if let Some(fingerprint) = fingerprint {
        let fingerprint = fingerprint.parse().unwrap();
        request
            .metadata_mut()
            .insert("counterfoil-fingerprint", fingerprint);
    }
    request
}

async fn fingerprint(gate: &GrpcGate<Order, Transfer>) -> String {
    let preview = gate.preview(request(None)).await.unwrap();
    preview.fingerprint.as_str().to_owned()
}

#[tokio::test]
async fn a_confirm_runs_once_and_a_retry_gets_the_first_reply() {
    let world = World::new();
    let gate = gate(&world);
    let runs = counter();
    let fingerprint = fingerprint(&gate).await;
    for word in ["completed", "already_completed", "already_completed"] {
        let runs = Arc::clone(&runs);
        let got = gate
            .confirm(request(Some(&fingerprint)), |_, transfer| async move {
                runs.fetch_add(1, Ordering::SeqCst);
                let mut response = tonic::Response::new(format!("paid {}", transfer.payee));
                let metadata = response.metadata_mut();
                metadata.insert("x-receipt", MetadataValue::from_static("r-1"));
                metadata.insert("counterfoil-status", MetadataValue::from_static("forged"));
                metadata.insert("idempotent-replayed", MetadataValue::from_static("true"));
                Ok(response)
            })
            .await
            .unwrap();
        assert_eq!(got.get_ref(), "paid bob");
        let metadata = got.metadata();
        assert_eq!(metadata.get_all("counterfoil-status").iter().count(), 1);
        assert_eq!(metadata.get("counterfoil-status").unwrap(), word);
        assert_eq!(metadata.get("x-receipt").unwrap(), "r-1");
        assert_eq!(
            metadata.contains_key("idempotent-replayed"),
            word == "already_completed"
        );
    }
    assert_eq!(count(&runs), 1);
}

/// What a method that returns this `Err` comes to: its caller's status, and that of a retry.
async fn twice(word: Option<Disposition>, panics: bool) -> (tonic::Status, tonic::Status, usize) {
    let world = World::new();
    let gate = gate(&world);
    let runs = counter();
    let fingerprint = fingerprint(&gate).await;
    let call = async || {
        let runs = Arc::clone(&runs);
        let got = gate.confirm(request(Some(&fingerprint)), move |attempt, _| async move {
            runs.fetch_add(1, Ordering::SeqCst);
            if let Some(word) = word {
                attempt.declare(word);
            }
            assert!(!panics, "the method panics");
            Err::<tonic::Response<String>, _>(tonic::Status::aborted("no"))
        });
        got.await.unwrap_err()
    };
    let (first, second) = (call().await, call().await);
    (first, second, count(&runs))
}

#[tokio::test]
async fn the_word_says_what_an_error_means() {
    let (first, second, runs) = twice(Some(Disposition::Failed), false).await;
    assert_eq!(
        (first.code(), second.code(), runs),
        (Code::Aborted, Code::Aborted, 1)
    );
    assert_eq!(second.message(), "no");
    assert_eq!(
        second.metadata().get("idempotent-replayed").unwrap(),
        "true"
    );

    let (first, second, runs) = twice(Some(Disposition::NotExecuted), false).await;
    assert_eq!(
        (first.code(), second.code(), runs),
        (Code::Aborted, Code::Aborted, 2)
    );
}

#[tokio::test]
async fn an_error_or_a_panic_without_a_word_is_unknown() {
    for panics in [false, true] {
        let (first, second, runs) = twice(None, panics).await;
        for status in [&first, &second] {
            assert_eq!(status.code(), Code::FailedPrecondition);
            assert_eq!(info(status).reason, "OUTCOME_UNKNOWN");
        }
        assert_eq!(runs, 1);
    }
}

#[tokio::test]
async fn without_a_subject_nothing_is_previewed_or_confirmed() {
    let world = World::new();
    let gate = gate(&world);
    let nobody = || tonic::Request::new(order());
    let preview = gate.preview(nobody()).await.unwrap_err();
    let confirm = gate.confirm(nobody(), |_, _| async {
        Ok(tonic::Response::new(String::new()))
    });
    let confirm = confirm.await.unwrap_err();
    assert_eq!(
        (preview.code(), confirm.code()),
        (Code::Unauthenticated, Code::Unauthenticated)
    );
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn a_reply_past_the_limit_reaches_its_first_caller_and_a_retry_is_told() {
    let world = World::new();
    let gate = gate(&world).with_max_result(16);
    let fingerprint = fingerprint(&gate).await;
    let call = async || {
        gate.confirm(request(Some(&fingerprint)), |_, _| async {
            Ok(tonic::Response::new(
                "a long receipt of many words".to_owned(),
            ))
        })
        .await
    };
    assert_eq!(
        call().await.unwrap().get_ref(),
        "a long receipt of many words"
    );
    let again = call().await.unwrap_err();
    assert_eq!(again.code(), Code::AlreadyExists);
    assert_eq!(info(&again).metadata["executed"], "yes");
}

#[tokio::test]
async fn what_ran_inside_a_method_is_replayed_by_the_layer_and_the_other_way_round() {
    let world = World::new();
    let gate = gate(&world);
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async {
        Ok(reply(&["paid by the layer"]))
    });

    let inside = fingerprint(&gate).await;
    let paid = async |fingerprint: &str| {
        let paid = gate.confirm(request(Some(fingerprint)), |_, _| async {
            Ok(tonic::Response::new("paid inside".to_owned()))
        });
        paid.await.unwrap()
    };
    paid(&inside).await;
    let replayed = send(service.clone(), super::confirm(&inside)).await;
    assert_eq!(
        (replayed.code(), replayed.word()),
        (Code::Ok, "already_completed")
    );
    assert_eq!(
        replayed.body,
        frame(0, &"paid inside".to_owned().encode_to_vec())
    );

    let layered = fingerprint(&gate).await;
    send(service, super::confirm(&layered)).await;
    let replayed = paid(&layered).await;
    assert_eq!(
        (replayed.get_ref().as_str(), count(&runs)),
        ("paid by the layer", 1)
    );
}

#[tokio::test]
async fn metadata_that_is_the_protocols_own_changes_no_replay() {
    let world = World::new();
    let gate = gate(&world);
    let fingerprint = fingerprint(&gate).await;
    let call = async || {
        let paid = gate.confirm(request(Some(&fingerprint)), |_, _| async {
            let mut response = tonic::Response::new("paid".to_owned());
            let metadata = response.metadata_mut();
            metadata.insert("grpc-status", MetadataValue::from_static("5"));
            metadata.insert("grpc-message", MetadataValue::from_static("not found"));
            metadata.append("x-part", MetadataValue::from_static("a"));
            metadata.append("x-part", MetadataValue::from_static("b"));
            metadata.insert_bin("x-part-bin", MetadataValue::from_bytes(&[0, 255]));
            Ok(response)
        });
        paid.await.unwrap()
    };
    call().await;
    let again = call().await;
    assert_eq!(again.get_ref(), "paid");
    assert!(!again.metadata().contains_key("grpc-status"));
    assert_eq!(again.metadata().get_all("x-part").iter().count(), 2);
    let part = again.metadata().get_bin("x-part-bin").unwrap();
    assert_eq!(part.to_bytes().unwrap(), Bytes::from_static(&[0, 255]));
    // As the layer replays it, frame by frame.
    let service = wrapped(&layer(&world), &counter(), |_, _| async {
        Ok(reply(&["paid by the layer"]))
    });
    let replayed = send(service, super::confirm(&fingerprint)).await;
    assert_eq!(
        (replayed.code(), replayed.word()),
        (Code::Ok, "already_completed")
    );
    assert!(!replayed.metadata.contains_key("grpc-status"));
}

#[tokio::test]
async fn a_caller_that_goes_away_inside_a_method_changes_nothing() {
    let world = World::new();
    let gate = gate(&world);
    let fingerprint = fingerprint(&gate).await;
    let (began, mut begun) = tokio::sync::mpsc::channel(1);
    let go = Arc::new(tokio::sync::Notify::new());
    let caller = tokio::spawn({
        let (gate, go, request) = (gate.clone(), Arc::clone(&go), request(Some(&fingerprint)));
        async move {
            let paid = gate.confirm(request, move |_, _| async move {
                began
                    .send(())
                    .await
                    .map_err(|_| tonic::Status::internal("gone"))?;
                go.notified().await;
                Ok(tonic::Response::new("paid".to_owned()))
            });
            paid.await
        }
    });
    let begins = tokio::time::timeout(std::time::Duration::from_secs(5), begun.recv());
    begins.await.expect("the method begins").unwrap();
    caller.abort();
    go.notify_one();
    let drained = world.counterfoil.drain(std::time::Duration::from_secs(5));
    drained.await.unwrap();
    assert_eq!(world.status(&fingerprint).await, "already_completed");
}
