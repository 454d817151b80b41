use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::request::Request;
use super::send_error::{Kind, SendError};
use crate::journal::Origin;

/// The sending end of a channel of any type.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) channel: Arc<str>,
    requests: mpsc::Sender<Request>,
}

/// The addresses of a run, unless it has none.
pub(crate) type Addresses = Option<Arc<Vec<Post>>>;

impl Post {
    pub(crate) fn new(channel: Arc<str>, requests: mpsc::Sender<Request>) -> Self {
        Self { channel, requests }
    }

    pub(crate) fn error(&self, kind: Kind) -> SendError {
        SendError::new(&self.channel, kind)
    }

    /// Sends a message and waits until it is stored.
    pub(crate) async fn request(
        &self,
        body: Vec<u8>,
        from: Option<Origin>,
    ) -> Result<(), SendError> {
        let Ok(permit) = self.requests.reserve().await else {
            return Err(self.error(Kind::Closed));
        };

        let (reply, stored) = oneshot::channel();
        permit.send(Request { body, from, reply });

        match stored.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(text)) => Err(self.error(Kind::Refused(text))),
            Err(_) => Err(self.error(Kind::Closed)),
        }
    }

    pub(crate) async fn closed(&self) {
        self.requests.closed().await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }
}

/// Returns whether a message was delivered, or `false` if the receiver is gone.
pub(crate) fn is_delivered(sent: Result<(), SendError>) -> Result<bool, SendError> {
    match sent {
        Ok(()) => Ok(true),
        Err(error) if error.is_closed() => Ok(false),
        Err(error) => Err(error),
    }
}
