//! SIGTERM and SIGINT: the first asks to stop, the second ends the process.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tracing::warn;

/// What a process exits with that a second signal ended.
const IMPATIENT: i32 = 1;

/// Listens from now on; what it returns ends with the first signal.
///
/// # Errors
///
/// If the system lets nobody listen.
pub(crate) fn first() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (tx, rx) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        // Nobody waits if the server has ended by itself.
        let _ = tx.send(());
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        warn!("a second signal: not waiting any longer");
        std::process::exit(IMPATIENT);
    });
    Ok(async move {
        // The task ends with the runtime only.
        let _ = rx.await;
    })
}
