//! Waits for notifications that there is something to do.

use std::sync::Arc;

use tokio::sync::Notify;

use super::connect::Opened;
use super::database::Database;
use super::failure::Failure;

/// Notifies `woken` whenever a run becomes ready, until this is dropped. While the connection is
/// gone, the polls of the worker have to do.
pub(super) async fn listen(database: Arc<Database>, woken: Arc<Notify>) {
    let mut delays = database.settings.reconnects();

    loop {
        // The connection is closed when the client is dropped.
        if let Ok((_client, connection)) = open(&database, &woken).await {
            delays = database.settings.reconnects();

            // Something may have become ready before. How the connection ends is of no interest.
            woken.notify_one();
            let _ = connection.await;
        }

        tokio::time::sleep(delays.next_delay()).await;
    }
}

/// Opens a connection that listens.
async fn open(database: &Database, woken: &Arc<Notify>) -> Result<Opened, Failure> {
    let (client, connection) = database.open_listener(Arc::clone(woken)).await?;
    let listen = format!("LISTEN {}", database.names.channel());
    let listening = async { Ok(client.batch_execute(&listen).await?) };
    database.timed(listening).await?;
    Ok((client, connection))
}
