//! One connection: how it is opened, and who listens to it.

use std::{future::poll_fn, sync::Arc};

use deadpool_postgres::Connect;
use rustls::ClientConfig;
use tokio::task::JoinHandle;
use tokio_postgres::Socket;
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, NoTls,
    tls::{MakeTlsConnect, TlsConnect},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure::Warnings;

/// Opens connections.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) tls: Option<ClientConfig>,
    /// What each new session is told first; nothing behind a transaction pooler, whose sessions are shared.
    pub(crate) greeting: Option<String>,
    pub(crate) warnings: Arc<Warnings>,
}

impl Wire {
    pub(crate) async fn open(&self, config: &Config) -> Result<(Client, JoinHandle<()>), Error> {
        let (client, listening) = match &self.tls {
            Some(tls) => {
                self.open_with(config, MakeRustlsConnect::new(tls.clone()))
                    .await?
            }
            None => self.open_with(config, NoTls).await?,
        };
        if let Some(greeting) = &self.greeting {
            client.batch_execute(greeting).await?;
        }
        Ok((client, listening))
    }

    async fn open_with<T>(&self, config: &Config, tls: T) -> Result<(Client, JoinHandle<()>), Error>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let (client, connection) = config.connect(tls).await?;
        Ok((
            client,
            tokio::spawn(listen(connection, Arc::clone(&self.warnings))),
        ))
    }
}

/// Hears a warning before it hands on the end of the call that the warning belongs to.
async fn listen<S>(mut connection: Connection<Socket, S>, warnings: Arc<Warnings>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|cx| connection.poll_message(cx)).await {
            Some(Ok(AsyncMessage::Notice(notice))) => warnings.note(&notice),
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection to Postgres ended");
                return;
            }
            None => return,
        }
    }
}

type Opening<'a> =
    std::pin::Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + 'a>>;

impl Connect for Wire {
    fn connect(&self, config: &Config) -> Opening<'_> {
        let config = config.clone();
        Box::pin(async move { self.open(&config).await })
    }
}
