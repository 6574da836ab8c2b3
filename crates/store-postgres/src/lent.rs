//! A connection of the pool in a call's hands, and what becomes of it when the call is cut short.

use std::{
    pin::pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use deadpool_postgres::{ClientWrapper, Object};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout, timeout_at},
};
use tokio_postgres::SimpleQueryMessage;

/// For so long a connection that was given up keeps its place in the pool, if the server neither ends it nor answers.
/// Without an end, a proxy that keeps a dead connection open would cost a place for ever.
const GIVEN_UP: Duration = Duration::from_secs(600);

/// The pauses between two questions to a connection that was given up. The first of them, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// A connection that goes back to the pool only when it is known to be idle.
///
/// Dropped before that, because a deadline has passed or the caller went away, it may have a statement under way. Nothing
/// is cancelled: a claim or a completion on its way may well commit, and a commit that waits for a standby would be
/// acknowledged without it. Nor is the connection closed: the server would not notice before its statement ends, and the
/// next call would open one more session beside it, and so on until the server takes no more. So the connection keeps its
/// place in the pool, and is seen off in the background.
pub(crate) struct Lent {
    object: Option<Object>,
    given_up: bool,
    is_altered: bool,
}

impl Lent {
    pub(crate) fn new(object: Object) -> Self {
        Self {
            object: Some(object),
            given_up: false,
            is_altered: false,
        }
    }

    pub(crate) fn client(&self) -> &ClientWrapper {
        self.object
            .as_ref()
            .expect("it is taken only when it is given up")
    }

    /// Whether the session is for now not as the next call needs it.
    pub(crate) fn set_altered(&mut self, is_altered: bool) {
        self.is_altered = is_altered;
    }

    /// Hands it back to the pool, unless its session is altered: then it is closed.
    pub(crate) fn give_back(mut self) {
        let object = self.object.take();
        if self.is_altered {
            drop(object.map(Object::take));
        }
    }

    /// Whether anybody could still borrow it.
    fn has_a_pool(&self) -> bool {
        self.object
            .as_ref()
            .is_some_and(|object| Object::pool(object).is_some())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(object) = self.object.take() else {
            return;
        };
        if !self.given_up
            && !object.is_closed()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(see_off(Self {
                object: Some(object),
                given_up: true,
                is_altered: self.is_altered,
            }));
        } else {
            drop(Object::take(object));
        }
    }
}

/// Waits until the server has ended the statement, or the connection. It goes back to the pool if it is in step, and is
/// closed otherwise.
async fn see_off(lent: Lent) {
    if is_idle_again(&lent).await {
        lent.give_back();
    }
}

/// Asks behind the statement under way, for an echo: it comes when that one has ended. Any other answer is one to an earlier
/// question, whose own was lost on the way, and then the connection is out of step.
///
/// It is asked again now and then, so that there is something that a dead peer does not acknowledge, and so that an answer
/// comes where the first ones were lost.
async fn is_idle_again(lent: &Lent) -> bool {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let client = lent.client();
    let end = Instant::now() + GIVEN_UP;
    let word = format!("echo {}", NEXT.fetch_add(1, Ordering::Relaxed));
    let question = format!("SELECT '{word}'");
    let mut first = pin!(client.simple_query(&question));
    let mut asked_once = true;
    let (mut pause, longest) = PAUSES;
    loop {
        let next = (Instant::now() + pause).min(end);
        if let Ok(answer) = timeout_at(next, &mut first).await {
            return asked_once && answer.is_ok_and(|answer| is_echo(&answer, &word));
        }
        if Instant::now() >= end {
            tracing::warn!("a session was given up that the server has not ended for ten minutes");
            return false;
        }
        if !lent.has_a_pool() {
            return false;
        }
        asked_once = false;
        // It is sent with its first poll. Nobody waits for its own answer.
        let _ = timeout(Duration::ZERO, client.simple_query("SELECT 'still there'")).await;
        pause = (pause * 2).min(longest);
    }
}

fn is_echo(answer: &[SimpleQueryMessage], word: &str) -> bool {
    answer
        .iter()
        .any(|message| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some(word)))
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use deadpool_postgres::{Connect, Manager, ManagerConfig, Pool, Runtime};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, copy, duplex, sink},
        task::JoinHandle,
    };
    use tokio_postgres::{Client, Config, Error, NoTls};

    use super::*;

    /// Leads to a server that lets everybody in and then never says a word.
    struct Silent;

    type Opening<'a> =
        Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + 'a>>;

    impl Connect for Silent {
        fn connect(&self, config: &Config) -> Opening<'_> {
            let config = config.clone();
            Box::pin(async move {
                let (ours, mut theirs) = duplex(1 << 16);
                tokio::spawn(async move {
                    let length = theirs.read_i32().await.expect("it says who it is");
                    let mut rest = vec![0; usize::try_from(length).expect("a length") - 4];
                    theirs.read_exact(&mut rest).await.expect("all of it");
                    // Let in, and ready.
                    let welcome = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
                    theirs.write_all(welcome).await.expect("it listens");
                    copy(&mut theirs, &mut sink()).await
                });
                let (client, connection) = config.connect_raw(ours, NoTls).await?;
                let driving = tokio::spawn(async move { drop(connection.await) });
                Ok((client, driving))
            })
        }
    }

    fn pool() -> Pool {
        let mut config = Config::new();
        config.user("user");
        let manager = Manager::from_connect(config, Silent, ManagerConfig::default());
        Pool::builder(manager)
            .max_size(1)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(Duration::from_secs(1)))
            .build()
            .expect("there is a runtime")
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_never_answers_keeps_its_place_for_ten_minutes() {
        let pool = pool();
        let lent = Lent::new(pool.get().await.expect("there is a place"));
        let asked = timeout(
            Duration::from_secs(2),
            lent.client().simple_query("SELECT 1"),
        );
        assert!(asked.await.is_err());
        let since = Instant::now();
        drop(lent);
        let _other = loop {
            if let Ok(other) = pool.get().await {
                break other;
            }
        };
        let took = since.elapsed();
        assert!(took >= GIVEN_UP, "{took:?}");
        assert!(took <= GIVEN_UP + Duration::from_secs(1), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_pool_is_closed_soon() {
        let pool = pool();
        let lent = Lent::new(pool.get().await.expect("there is a place"));
        drop(pool);
        let since = Instant::now();
        assert!(!is_idle_again(&lent).await);
        assert!(since.elapsed() <= PAUSES.1, "{:?}", since.elapsed());
    }
}
