//! What is downstream: an HTTP/1.1 server that does what it is told to each request in turn.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

/// What becomes of a request that was read whole.
#[derive(Clone)]
pub(crate) enum Then {
    /// The status.
    Answer(u16),
    /// The connection ends without a word.
    Cut,
    /// The status, once this says so.
    AnswerWhen(u16, Arc<Notify>),
}

#[derive(Clone)]
pub(crate) struct Bank {
    pub(crate) address: SocketAddr,
    /// The head of each request.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Bank {
    pub(crate) async fn start(script: impl IntoIterator<Item = Then>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bank = Self {
            address: listener.local_addr().unwrap(),
            heads: Arc::default(),
        };
        let script = Arc::new(Mutex::new(script.into_iter().collect::<VecDeque<_>>()));
        let heads = Arc::clone(&bank.heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&script), Arc::clone(&heads)));
            }
        });
        bank
    }

    pub(crate) fn requests(&self) -> usize {
        self.heads.lock().unwrap().len()
    }

    /// The values of `Idempotency-Key` of each request.
    pub(crate) fn keys(&self) -> Vec<Vec<String>> {
        let heads = self.heads.lock().unwrap();
        let of_head = |head: &String| {
            let keys = head.lines().filter_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("idempotency-key")
                    .then(|| value.to_owned())
            });
            keys.collect()
        };
        heads.iter().map(of_head).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    script: Arc<Mutex<VecDeque<Then>>>,
    heads: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let announced = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let len: usize = announced.map_or(0, |len| len.parse().unwrap());
    while bytes.len() < end + len {
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    }
    heads.lock().unwrap().push(head);
    let then = script.lock().unwrap().pop_front();
    let status = match then.expect("a request that the test expects") {
        Then::Cut => return None,
        Then::Answer(status) => status,
        Then::AnswerWhen(status, now) => {
            now.notified().await;
            status
        }
    };
    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.ok()
}
