//! cargo run -p grpc-payouts                                       # serves on 127.0.0.1:50051
//! cargo run -p grpc-payouts -- pay http://127.0.0.1:50051 1050 EUR p-17

#![expect(clippy::print_stdout, reason = "a program that people watch")]

use std::{env, error::Error, time::Duration};

use counterfoil::{
    KeyId, MemoryStore,
    engine::Counterfoil,
    fingerprint::{Key, Keyring},
};
use grpc_payouts::{Payouts, pb, serve};
use tokio::net::TcpListener;
use tonic::{Request, metadata::MetadataValue};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => server("127.0.0.1:50051").await,
        ["--listen", address] => server(address).await,
        ["pay", url, cents, currency, payee] => {
            client(url.to_owned(), cents.parse()?, currency, payee).await
        }
        _ => Err("usage: grpc-payouts [--listen ADDR | pay URL CENTS CURRENCY PAYEE]".into()),
    }
}

async fn server(address: &str) -> Result<(), Box<dyn Error>> {
    // It forgets on restart, and so does the key: fingerprints die with the process.
    let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
    let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
    let payouts = Payouts::new(&counterfoil)?;
    let listener = TcpListener::bind(address).await?;
    let url = format!("http://{}", listener.local_addr()?);
    println!("listening on {url}");
    println!("try: cargo run -p grpc-payouts -- pay {url} 1050 EUR p-17");
    let end = async { drop(tokio::signal::ctrl_c().await) };
    serve(payouts, listener, end).await?;
    // The server is gone; what it began may not have ended.
    counterfoil.drain(Duration::from_secs(30)).await?;
    Ok(())
}

/// An agent that is not sure, and asks twice.
async fn client(
    url: String,
    cents: i64,
    currency: &str,
    payee: &str,
) -> Result<(), Box<dyn Error>> {
    let mut client = pb::payouts_client::PayoutsClient::connect(url).await?;
    let call = |note: &str| {
        let mut request = Request::new(pb::Payout {
            cents,
            currency: currency.to_owned(),
            payee_id: payee.to_owned(),
            note: note.to_owned(),
        });
        let token = MetadataValue::from_static("Bearer acme/agent-7");
        request.metadata_mut().insert("authorization", token);
        request
    };
    let preview = client.preview(call("as agreed")).await?.into_inner();
    println!("{}? {}", preview.summary, preview.fingerprint);
    for note in ["as agreed", "as agreed, sent again to be sure"] {
        let mut request = call(note);
        let fingerprint = preview.fingerprint.parse()?;
        request
            .metadata_mut()
            .insert("counterfoil-fingerprint", fingerprint);
        let response = client.confirm(request).await?;
        let status = response.metadata().get("counterfoil-status");
        let status = status
            .and_then(|status| status.to_str().ok())
            .unwrap_or_default();
        println!(
            "{status}: {} as {}",
            response.get_ref().amount,
            response.get_ref().payout_id
        );
    }
    Ok(())
}
