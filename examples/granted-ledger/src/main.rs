//! ```text
//! COUNTERFOIL_GRANT_KEYS=g1=HEX cargo run -p granted-ledger     # serves on 127.0.0.1:8090
//! cargo run -p granted-ledger -- --help
//! ```
//!
//! A ledger that is a service of its own, and takes no write but with a grant of the gate: see [`service`]. What it holds,
//! once for each downstream key and fenced by the epoch, is in [`books`].

mod books;
mod options;
mod service;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use books::Books;
use options::{Command, Options};

/// What a wrong command line exits with, as is the custom.
const EXIT_MISUSE: u8 = 2;

fn main() -> ExitCode {
    let keys = std::env::var(options::KEYS).ok();
    match options::parse(std::env::args_os().skip(1), keys.as_deref()) {
        Ok(Command::Help) => {
            say(&options::help());
            ExitCode::SUCCESS
        }
        Ok(Command::Serve(options)) => match serve(*options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(1, &error.to_string()),
        },
        Err(misuse) => fail(EXIT_MISUSE, &misuse.to_string()),
    }
}

#[tokio::main]
async fn serve(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();
    let books = match &options.file {
        Some(path) => Books::open(path)?,
        None => Books::in_memory(),
    };
    // Before the first line: whoever reads it may send a signal at once.
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    let listener = TcpListener::bind(options.listen).await?;
    say(&format!("listening on http://{}\n", listener.local_addr()?));
    axum::serve(listener, service::router(books, options.keys))
        .with_graceful_shutdown(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
        .await?;
    Ok(())
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
