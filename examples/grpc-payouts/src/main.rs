//! cargo run -p grpc-payouts                                       # serves on 127.0.0.1:50051, with a store in memory
//! cargo run -p grpc-payouts -- --store postgres://…
//! cargo run -p grpc-payouts -- pay http://127.0.0.1:50051 1050 EUR p-17

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that people watch"
)]

use std::{env, error::Error, process::ExitCode, time::Duration};

use counterfoil::{
    KeyId,
    engine::Counterfoil,
    fingerprint::{Key, Keyring},
};
use grpc_payouts::{Payouts, Place, Settings, pb, serve};
use tokio::net::TcpListener;
use tonic::{Request, metadata::MetadataValue};

const USAGE: &str = "usage: grpc-payouts [--listen ADDR] [--store URL [--accept-lost-writes]] [--ledger-takes MS]
       grpc-payouts pay URL CENTS CURRENCY PAYEE
PAYOUTS_KEY in the environment is the signing key, 64 hex digits: without it fingerprints die with the process";

/// Where the signing key is looked for: a command line is seen by everybody on the machine.
const KEY: &str = "PAYOUTS_KEY";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if arguments.contains(&"--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let ended = match arguments[..] {
        ["pay", url, cents, currency, payee] => {
            client(url.to_owned(), cents, currency, payee).await
        }
        _ => server(&arguments).await,
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}

/// What a library says of itself is often less than what the error below it says: `transport error: tcp connect error: …`.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        text = format!("{text}: {cause}");
        below = cause.source();
    }
    text
}

async fn server(arguments: &[&str]) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (mut listen, mut url, mut settings) = ("127.0.0.1:50051", None, Settings::default());
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let mut value = || rest.next().copied().ok_or(USAGE);
        match *option {
            "--listen" => listen = value()?,
            "--store" => url = Some(value()?),
            "--accept-lost-writes" => settings.accepts_lost_writes = true,
            "--ledger-takes" => {
                let millis = value()?.parse();
                let millis = millis.map_err(|error| format!("--ledger-takes MS: {error}"))?;
                settings.ledger_takes = Duration::from_millis(millis);
            }
            _ => return Err(USAGE.into()),
        }
    }
    let place = match url {
        Some(url) => Place::parse(url, settings.accepts_lost_writes)?,
        None => Place::Memory,
    };
    let id = KeyId::parse("k1")?;
    let keys = Keyring::new(match env::var(KEY) {
        Ok(hex) => Key::from_hex(id, &hex)?,
        Err(_) => Key::random(id),
    });
    let counterfoil = Counterfoil::new(place.open(&keys).await?, keys);
    let payouts = Payouts::new(&counterfoil, settings)?;
    let listener = TcpListener::bind(listen).await;
    let listener = listener.map_err(|error| format!("can't listen on {listen}: {error}"))?;
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
    cents: &str,
    currency: &str,
    payee: &str,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let cents: i64 = cents
        .parse()
        .map_err(|error| format!("CENTS is {cents}: {error}"))?;
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
