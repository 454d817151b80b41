//! Opens connections, and passes on their notifications.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use deadpool_postgres::Connect;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, NoTls};

/// How connections are encrypted.
#[derive(Clone)]
pub(super) enum Encryption {
    None,
    #[cfg(feature = "postgres-tls")]
    Rustls(tokio_postgres_rustls::MakeRustlsConnect),
}

/// An open connection, and the task that drives it.
pub(super) type Opened = (Client, JoinHandle<()>);

impl Encryption {
    /// Opens a connection. `notified` is notified with each notification that arrives.
    pub(super) async fn open(
        &self,
        config: &Config,
        notified: Option<Arc<Notify>>,
    ) -> Result<Opened, Error> {
        match self {
            Self::None => {
                let (client, connection) = config.connect(NoTls).await?;
                Ok((client, tokio::spawn(drive(connection, notified))))
            }
            #[cfg(feature = "postgres-tls")]
            Self::Rustls(tls) => {
                let (client, connection) = config.connect(tls.clone()).await?;
                Ok((client, tokio::spawn(drive(connection, notified))))
            }
        }
    }
}

/// Drives a connection until it is closed. Statements report how it ended.
async fn drive<S, T>(mut connection: Connection<S, T>, notified: Option<Arc<Notify>>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|context| {
        loop {
            match connection.poll_message(context) {
                Poll::Ready(Some(Ok(AsyncMessage::Notification(_)))) => {
                    if let Some(notified) = &notified {
                        notified.notify_one();
                    }
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Connect for Encryption {
    fn connect(&self, config: &Config) -> BoxFuture<'_, Result<Opened, Error>> {
        let config = config.clone();
        Box::pin(async move { self.open(&config, None).await })
    }
}
