//! ```text
//! cargo run -p transfer-gateway                 # serves on 127.0.0.1:8080
//! cargo run -p transfer-gateway -- demo         # an unreliable agent, told step by step
//! cargo run -p transfer-gateway -- --help
//! ```
//!
//! A payment API for agents: a transfer is previewed, agreed to, and confirmed with the fingerprint that the preview
//! gave. However often and however oddly it is confirmed, it happens once, and every call is told what stands.
//!
//! Programs file tickets beside it, each under an idempotency key of their own.
//!
//! A request's way: [`server`], [`auth`], [`app`] (the routes), the layer of [`counterfoil::tower`], then
//! [`transfer`] or [`ticket`], whose handlers write to the [`books`] by [`carry_out`]: the [`ledger`] here, or the
//! [`granted_ledger`] of another process. [`chaos`] breaks that on request.

mod app;
mod auth;
mod books;
mod carry_out;
mod chaos;
mod demo;
mod granted_ledger;
mod greeting;
mod keys;
mod language;
mod later;
mod ledger;
mod operations;
mod options;
mod reply;
mod server;
mod signals;
mod store;
#[cfg(test)]
mod tests;
mod ticket;
mod transfer;

use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use tracing::{Level, warn};

use app::App;
use books::Books;
use granted_ledger::GrantedLedger;
use ledger::Ledger;
use options::{Command, Options};
use store::Clearing;

/// What a wrong command line exits with, as is the custom.
const EXIT_MISUSE: u8 = 2;

fn main() -> ExitCode {
    let store = std::env::var_os(store::VARIABLE);
    let command = match options::parse(std::env::args_os().skip(1), store) {
        Ok(command) => command,
        Err(misuse) => return fail(EXIT_MISUSE, &misuse.to_string()),
    };
    match command {
        Command::Help => say(&greeting::help()),
        Command::Version => say(concat!(
            "transfer-gateway ",
            env!("CARGO_PKG_VERSION"),
            "\n"
        )),
        Command::Demo(language) => return in_runtime(demo::play(language)),
        Command::Serve(options) => {
            log_to_stderr();
            return in_runtime(serve(*options));
        }
    }
    ExitCode::SUCCESS
}

fn in_runtime(task: impl Future<Output = ExitCode>) -> ExitCode {
    match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime.block_on(task),
        Err(error) => fail(1, &format!("no runtime: {error}")),
    }
}

async fn serve(options: Options) -> ExitCode {
    let assembled = match assemble(&options).await {
        Ok(assembled) => assembled,
        Err((code, sentence)) => return fail(code, &sentence),
    };
    let Assembled {
        app,
        clearing,
        keys_are_random,
    } = assembled;
    // Not before: an error of the options stands alone.
    if keys_are_random {
        keys::warn_of_random();
    }
    if options.chaos {
        warn!("--chaos: any caller can make this process misbehave, and end it");
    }
    // Before the first line: whoever reads it may send a signal at once.
    let stop = match signals::first() {
        Ok(stop) => stop,
        Err(error) => return fail(1, &format!("can't listen to signals: {error}")),
    };
    let listener = match server::bind(options.listen).await {
        Ok(listener) => listener,
        Err(sentence) => return fail(1, &sentence),
    };
    let address = listener.local_addr().unwrap_or(options.listen);
    tokio::spawn(clearing.run());
    say(&greeting::ready(address, &options.store));
    server::serve(
        listener,
        app.router(&options),
        app.counterfoil(),
        stop,
        time_to_stop(options.times.max_run),
    )
    .await;
    ExitCode::SUCCESS
}

/// How long what runs may take to end, once the process is told to stop.
fn time_to_stop(max_run: Duration) -> Duration {
    max_run.saturating_add(MARGIN).min(LONGEST_STOP)
}

/// For writing down how the last runs ended.
const MARGIN: Duration = Duration::from_secs(3);
/// What waits longer for a process to stop kills it.
const LONGEST_STOP: Duration = Duration::from_secs(30);

/// What a start makes of the options.
struct Assembled {
    app: App,
    clearing: Clearing,
    keys_are_random: bool,
}

async fn assemble(options: &Options) -> Result<Assembled, (u8, String)> {
    let misuse = |sentence| (EXIT_MISUSE, sentence);
    let named = keys::load(options.keys.as_ref()).map_err(|error| misuse(with_sources(&error)))?;
    let keys_are_random = named.is_none();
    let keys = named.unwrap_or_else(keys::random);
    let ledger = match &options.ledger {
        None => Ledger::in_memory(),
        Some(path) => Ledger::open(path).map_err(|error| (1, error.to_string()))?,
    };
    let mut books = Books::from(ledger);
    if let Some(at) = &options.ledger_at {
        let keys = keys::load_for_grants().map_err(|error| misuse(with_sources(&error)))?;
        books = books.with_granted(GrantedLedger::new(at.clone(), keys));
    }
    let (store, clearing) = store::open(&options.store, &keys)
        .await
        .map_err(|error| (1, with_sources(&error)))?;
    let app =
        App::new(options, store, keys, books).map_err(|error| misuse(options::refused(&error)))?;
    Ok(Assembled {
        app,
        clearing,
        keys_are_random,
    })
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

fn log_to_stderr() {
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_max_level(Level::INFO)
        .init();
}

/// Whoever started us may have read the first line and closed the pipe: that is no reason to end.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn fail(code: u8, sentence: &str) -> ExitCode {
    let _ = writeln!(io::stderr().lock(), "error: {sentence}");
    ExitCode::from(code)
}
