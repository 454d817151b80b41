//! A message on its way to a mailbox.

use tokio::sync::oneshot;

use crate::journal::Origin;

pub(crate) struct Request {
    /// The message as a JSON text.
    pub(crate) body: Vec<u8>,
    pub(crate) from: Option<Origin>,
    /// Receives whether the message was stored. Dropped if the receiver is gone.
    pub(crate) reply: oneshot::Sender<Result<(), String>>,
}

impl Request {
    /// Returns whether the sender still waits for the reply.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.reply.is_closed()
    }

    /// Replies to the sender, unless it has been dropped.
    pub(crate) fn reply(self, stored: Result<(), String>) {
        let _ = self.reply.send(stored);
    }
}
