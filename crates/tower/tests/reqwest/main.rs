//! The same over reqwest.

#[path = "../downstream/bank.rs"]
#[expect(dead_code, reason = "no answer is held back here")]
mod bank;
#[path = "../downstream/handler.rs"]
#[expect(dead_code, reason = "tower's policies are for the other client")]
mod handler;

use bank::{Bank, Then};
use counterfoil_tower::{
    NotSent,
    reqwest::{send, set_key},
};
use handler::{SHORT, run};
use reqwest::{Client, Method, Request};

fn client() -> Client {
    Client::builder().build().unwrap()
}

fn url(bank: &Bank) -> String {
    format!("http://{}/payments", bank.address)
}

#[tokio::test]
async fn each_call_brings_the_key_also_after_a_cut_connection() {
    let bank = Bank::start([Then::Cut, Then::Answer(503), Then::Answer(200)]).await;
    let to = bank.clone();
    let keys = run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = client();
        let post = || send(client.post(url(&to)).body("{}"), &key);
        let cut = post().await.unwrap_err();
        assert_eq!(cut.not_sent(), None, "it may be there: {cut:?}");
        assert_eq!(post().await.unwrap().status(), 503);
        let fee = key.step("fee").unwrap();
        let sent = send(client.post(url(&to)), &fee).await.unwrap();
        assert_eq!(sent.status(), 200);
        [key.to_string(), fee.to_string()]
    })
    .await;
    let [key, fee] = keys.map(|key| vec![key]);
    assert_eq!(bank.keys(), [key.clone(), key, fee]);
}

#[tokio::test]
async fn nothing_is_sent_beside_another_key_or_after_the_lapse() {
    let bank = Bank::start([]).await;
    let to = bank.clone();
    run(Some(SHORT), |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = client();
        for own in ["mine", &key.to_string()] {
            let with_own = client.post(url(&to)).header("Idempotency-Key", own);
            let refused = send(with_own, &key).await.unwrap_err().not_sent();
            assert_eq!(refused, Some(NotSent::HeaderPresent));
        }
        let mut request = Request::new(Method::POST, url(&to).parse().unwrap());
        set_key(&mut request, &key).unwrap();
        assert_eq!(request.headers()["idempotency-key"], key.to_string());
        assert_eq!(set_key(&mut request, &key), Err(NotSent::HeaderPresent));

        attempt.lease_lost().await;
        let late = send(client.post(url(&to)), &key).await;
        assert!(matches!(
            late.unwrap_err().not_sent(),
            Some(NotSent::LeaseLost(_))
        ));
        let mut request = Request::new(Method::POST, url(&to).parse().unwrap());
        assert!(matches!(
            set_key(&mut request, &key),
            Err(NotSent::LeaseLost(_))
        ));
        assert!(request.headers().is_empty());
    })
    .await;
    assert_eq!(bank.requests(), 0);
}

#[tokio::test]
async fn a_request_that_cannot_be_built_is_reqwests_error() {
    run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let refused = send(client().post("no url"), &key).await.unwrap_err();
        assert_eq!(refused.not_sent(), None);
    })
    .await;
}
