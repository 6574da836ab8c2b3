//! An SDK that sends no key.

use crate::{Scene, front::Fault, sdk::Sdk, told};

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn an_sdk_that_sends_no_key_is_refused_at_once_and_files_nothing() {
    let scene = Scene::start(&[]).await;
    let given = Sdk::OpenAi
        .file(scene.front.address(), &["--as-it-comes"])
        .await;
    let attempts = scene.front.attempts();
    assert_eq!(told(&attempts), [Some((400, "key_required"))]);
    assert!(attempts[0].keys.is_empty(), "{attempts:#?}");
    assert_eq!(given["raised"], "BadRequestError", "{given}");
    assert_eq!(given["body"]["code"], "key_required", "{given}");
    assert_eq!(scene.caller.effects(None).await.len(), 0);
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn a_key_of_the_users_own_needs_nothing_of_the_sdk() {
    let key = ["--key", "01ARZ3NDEKTSV4RRFFQ69G5FAV"];
    let scene = Scene::start(&[Fault::AnswerLost]).await;
    let given = Sdk::OpenAi.file(scene.front.address(), &key).await;
    let attempts = scene.assert_one_ticket(&given).await;
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0].keys, [key[1]]);
}
