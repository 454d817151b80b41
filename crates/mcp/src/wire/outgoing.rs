//! Writes messages in a task, so that no message is written in part when a future is dropped.

use std::io;
use std::time::Duration;

use rmcp::model::ServerJsonRpcMessage;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::in_flight::Place;

/// The maximum number of messages that wait to be written.
const CAPACITY: usize = 64;

/// More than most messages have, in bytes.
const USUAL_BYTES: usize = 512;

/// How long to wait at the end for a client that doesn't read.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// Messages. The rest is dropped when they have been written.
#[derive(Debug, Default)]
struct Written {
    text: Vec<u8>,
    /// The places of the requests that they answer.
    _place: Option<Place>,
    _done: Option<oneshot::Sender<()>>,
}

/// Sends messages to the task that writes them.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing(mpsc::Sender<Written>);

/// Room for messages among those that wait to be written.
#[derive(Debug)]
pub(crate) struct Room<'a>(mpsc::Permit<'a, Written>);

/// The task that writes messages.
#[derive(Debug)]
pub(crate) struct Writing(JoinHandle<()>);

impl Outgoing {
    pub(crate) fn start(writer: impl AsyncWrite + Send + Unpin + 'static) -> (Self, Writing) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let task = tokio::spawn(write_all(writer, receiver));
        (Self(sender), Writing(task))
    }

    /// Waits until another message can be sent.
    pub(crate) async fn room(&self) -> io::Result<Room<'_>> {
        let permit = self.0.reserve().await;
        permit
            .map(Room)
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Waits until everything that was sent has been written, for a short time.
    pub(crate) async fn flush(&self) {
        let (sender, receiver) = oneshot::channel();
        let written = Written {
            _done: Some(sender),
            ..Written::default()
        };
        let flushed = async {
            if self.0.send(written).await.is_ok() {
                // The other half is dropped in any case.
                let _ = receiver.await;
            }
        };
        let _ = tokio::time::timeout(LAST_WRITE, flushed).await;
    }

    /// Waits until nothing can be written any more.
    pub(crate) async fn closed(&self) {
        self.0.closed().await;
    }
}

impl Room<'_> {
    /// Sends whole lines. Their place is given up when they have been written.
    pub(crate) fn send(self, text: Vec<u8>, place: Option<Place>) {
        self.0.send(Written {
            text,
            _place: place,
            _done: None,
        });
    }
}

/// Returns a message as a line.
pub(crate) fn text(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, message)?;
    text.push(b'\n');
    Ok(text)
}

impl Writing {
    /// Waits until everything has been written. All senders must have been dropped.
    pub(crate) async fn finish(&mut self) {
        if tokio::time::timeout(LAST_WRITE, &mut self.0).await.is_err() {
            self.0.abort();
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Writes all messages that are waiting at once.
async fn write_all(mut writer: impl AsyncWrite + Unpin, mut receiver: mpsc::Receiver<Written>) {
    let mut waiting = Vec::with_capacity(CAPACITY);
    let mut text = Vec::new();

    while receiver.recv_many(&mut waiting, CAPACITY).await > 0 {
        text.clear();
        for message in &waiting {
            text.extend_from_slice(&message.text);
        }

        let result = async {
            writer.write_all(&text).await?;
            writer.flush().await
        };
        if let Err(error) = result.await {
            tracing::info!(%error, "the client does not read any more");
            return;
        }
        waiting.clear();
    }
}
