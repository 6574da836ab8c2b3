//! A process that is killed in the middle of a handler, and what is on record then.
//!
//! The test starts itself a second time: a test of it that is ignored otherwise is the process that dies. It runs a handler
//! under a real gate, and [`note_and_stall`] prints the operation's id once the store has acknowledged the reference.
//! [`kill_after_its_note`] reads that line and kills the process at once.

use std::{
    future::pending,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use counterfoil_core::{
    KeyId, OperationId, Scope, Subject,
    engine::{Counterfoil, Outcome},
    fingerprint::{Key, Keyring},
    store::Store,
};

/// The reference that [`note_and_stall`] puts on record.
pub const NOTED: &str = "po_2f7c";

const SAID: &str = "the reference is on record: ";

/// The part of the process that dies: claims an operation, puts [`NOTED`] on record, says so on stdout, and never ends.
/// The gate is marked as repeatable, so that it stands on every store.
///
/// # Panics
///
/// If the store does not take the claim or the reference.
pub async fn note_and_stall(store: impl Store) {
    let keys = Keyring::new(Key::random(KeyId::parse("k1").expect("a key id")));
    let counterfoil = Counterfoil::new(store, keys);
    let gate = counterfoil.raw_gate(Scope::new("payouts.create"));
    let gate = gate.repeatable().build().expect("a good gate");
    let agent = Subject::new("acme", "agent-7").expect("a subject");
    let params = gate.read(b"{}").expect("params");
    let preview = gate.preview(&agent, &params).await.expect("a preview");
    let handler = |attempt: counterfoil_core::engine::Attempt, _| async move {
        let noted = attempt.set_provider_ref(NOTED).await;
        noted.expect("the store takes the reference");
        say(attempt.operation_id());
        pending::<Outcome>().await
    };
    let answer = gate
        .run(&agent, preview.fingerprint.as_str(), params, handler)
        .await;
    panic!("the handler never ends, and yet: {answer:?}");
}

/// On a line of its own, whatever the test's harness has printed before.
fn say(id: OperationId) {
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "\n{SAID}{id}");
    said.and_then(|()| out.flush()).expect("somebody reads it");
}

/// Starts the ignored test of this name in the test program that is running, with these variables, waits for its word,
/// kills it as `kill -9` does, and gives the operation. It blocks.
///
/// # Panics
///
/// If the process ends without its word. It does so by itself if its store gives up, so the wait is bounded by the store.
#[must_use]
pub fn kill_after_its_note(test: &str, variables: &[(&str, &str)]) -> OperationId {
    let program = std::env::current_exe().expect("a test knows its own path");
    let mut child = Command::new(program)
        .args([test, "--exact", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts once more");
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    let said = out
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix(SAID)?.parse().ok());
    // It may have ended already, which the lack of a word shows.
    let _ = child.kill();
    let _ = child.wait();
    said.expect("the process said that the reference is on record")
}
