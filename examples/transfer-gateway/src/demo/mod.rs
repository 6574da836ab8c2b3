//! An unreliable agent, told step by step: what it does to a service behind Counterfoil, and to a bare one.
//!
//! Both run in this process and are called over HTTP on loopback. It ends with the two ledgers side by side, and with
//! success only if ours is right.

mod bare;
pub(crate) mod client;
mod page;
mod story;
mod texts;

use std::{future::pending, net::SocketAddr, panic, process::ExitCode, sync::Arc, time::Duration};

use axum::Router;
use counterfoil::{MemoryStore, engine::Counterfoil};
use tokio::net::TcpListener;

use crate::{app::App, chaos, keys, language::Language, ledger::Ledger, options::Options, server};
use bare::BareLedger;
use client::{Call, Caller};
use page::Page;
use story::Story;
use texts::Texts;

/// The payees, each of one payment that was asked for.
const INTENTS: [(&str, &str); 3] = [
    ("payee-7", "120.50 EUR  payee-7"),
    ("payee-8", "40.00 EUR   payee-8"),
    ("payee-9", "75.00 EUR   payee-9"),
];

const AGENT: &str = "acme/agent-7";
const STRANGER: &str = "acme/agent-8";

/// Plays it, and says whether our ledger is right.
pub(crate) async fn play(language: Language) -> ExitCode {
    keep_asked_panics_off_the_screen();
    match tell(language).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => crate::fail(1, &format!("the demo could not be played: {error}")),
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn tell(language: Language) -> Result<bool, BoxError> {
    let options = Options {
        language,
        chaos: true,
        ..Options::default()
    };
    let app = App::new(
        &options,
        Arc::new(MemoryStore::new()),
        keys::random(),
        Ledger::in_memory(),
    )?;
    let ours = start(app.router(&options), app.counterfoil().clone()).await?;
    let bare_ledger = BareLedger::default();
    let bare = start(bare::router(bare_ledger.clone()), app.counterfoil().clone()).await?;

    let texts = Texts::of(language);
    let caller = |service, name| Caller { service, name };
    let mut story = Story {
        page: Page::new(anstream::stdout(), texts),
        texts,
        agent: caller(ours, AGENT),
        stranger: caller(ours, STRANGER),
        at_bare: caller(bare, AGENT),
    };
    story.tell().await;
    app.counterfoil().drain(LONGEST_RUN).await?;

    let mut rows = Vec::new();
    for (payee, intent) in INTENTS {
        let our = count(&story.agent, payee)
            .await
            .ok_or("our ledger can't be read")?;
        rows.push((intent, our, bare_ledger.count(payee)));
    }
    Ok(story.page.ledgers(&rows))
}

/// Longer than anything in the story takes.
const LONGEST_RUN: Duration = Duration::from_secs(10);

async fn start(router: Router, counterfoil: Counterfoil) -> Result<SocketAddr, BoxError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        server::serve(listener, router, &counterfoil, pending(), LONGEST_RUN).await;
    });
    Ok(address)
}

/// How often our service paid somebody, by what its ledger tells.
async fn count(agent: &Caller, payee: &str) -> Option<usize> {
    let client::Heard::Answer { body, .. } = agent.call(Call::get("/ledger")).await else {
        return None;
    };
    let effects = body.get("effects")?.as_array()?;
    let paid = effects.iter().filter(|effect| effect["payee_id"] == payee);
    Some(paid.count())
}

/// The story tells of the crash; a backtrace in the middle of it would not help.
fn keep_asked_panics_off_the_screen() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref() != Some(&chaos::PANIC) {
            usual(info);
        }
    }));
}
