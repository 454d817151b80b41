//! Waits for notifications that there is something to do.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::database::Database;
use super::failure::Failure;

/// Notifies `woken` whenever a run becomes ready, until this is dropped. While the connection is
/// gone, the polls of the worker have to do.
pub(super) async fn listen(database: Arc<Database>, woken: Arc<Notify>) {
    let mut delays = database.settings.reconnects();

    loop {
        if let Ok(listener) = Listener::open(&database, &woken).await {
            delays = database.settings.reconnects();

            // Something may have become ready before.
            woken.notify_one();
            listener.closed().await;
        }

        tokio::time::sleep(delays.next_delay()).await;
    }
}

/// A connection that listens. It is closed when this is dropped.
struct Listener {
    _client: Client,
    connection: JoinHandle<()>,
}

impl Listener {
    async fn open(database: &Database, woken: &Arc<Notify>) -> Result<Self, Failure> {
        let (client, connection) = database.open_listener(Arc::clone(woken)).await?;
        let listen = format!("LISTEN {}", database.names.channel());
        database
            .timed(async { Ok(client.batch_execute(&listen).await?) })
            .await?;

        Ok(Self {
            _client: client,
            connection,
        })
    }

    async fn closed(mut self) {
        // Its result is of no interest.
        let _ = (&mut self.connection).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
