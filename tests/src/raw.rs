//! A bare connection, for bytes that no client would send and for hanging up.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::wait::PATIENCE;

/// A connection. Dropping it hangs up.
#[derive(Debug)]
pub struct Raw(TcpStream);

impl Raw {
    pub(crate) async fn connect(to: SocketAddr) -> Option<Self> {
        let connected = timeout(PATIENCE, TcpStream::connect(to)).await;
        connected
            .expect("a connection is taken or refused in time")
            .ok()
            .map(Self)
    }

    /// Sends bytes. The other side may have hung up meanwhile, which is no error here.
    ///
    /// # Panics
    ///
    /// If they are not taken in time.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let sent = timeout(PATIENCE, self.0.write_all(bytes.as_ref())).await;
        drop(sent.expect("bytes are taken in time"));
    }

    /// Says that no more bytes come.
    pub async fn finish(&mut self) {
        drop(self.0.shutdown().await);
    }

    /// Reads until the other side closes.
    ///
    /// # Panics
    ///
    /// If it doesn't in time.
    pub async fn rest(mut self) -> String {
        let mut bytes = Vec::new();
        let read = timeout(PATIENCE, self.0.read_to_end(&mut bytes)).await;
        // A reset ends it as well as a close.
        drop(read.expect("the other side closes in time"));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Reads until this text has come.
    ///
    /// # Panics
    ///
    /// If it doesn't come in time.
    pub async fn until(&mut self, text: &str) -> String {
        let mut bytes = Vec::new();
        while !String::from_utf8_lossy(&bytes).contains(text) {
            let read = timeout(PATIENCE, self.0.read_buf(&mut bytes)).await;
            let read = read.expect("bytes come in time").unwrap_or_default();
            assert!(
                read > 0,
                "closed before {text:?} came: {}",
                String::from_utf8_lossy(&bytes)
            );
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
