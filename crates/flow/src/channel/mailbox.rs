use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::request::Request;
use crate::journal::{OutcomeProblemKind, decode};

/// The receiving end of a channel. Created by [`Channel::open`](crate::Channel::open).
///
/// Give it to a run with [`Run::with_mailbox`](crate::Run::with_mailbox), or read the messages in any
/// other code with [`receive`](Mailbox::receive). When it is dropped, senders see that the receiver
/// is gone.
pub struct Mailbox<M> {
    inbox: Inbox,
    message: PhantomData<fn() -> M>,
}

/// The receiving end of a channel of any type.
pub(crate) struct Inbox {
    pub(crate) channel: Arc<str>,
    pub(crate) requests: mpsc::Receiver<Request>,
    pub(crate) capacity: usize,
}

impl<M> Mailbox<M> {
    pub(crate) fn new(
        channel: Arc<str>,
        requests: mpsc::Receiver<Request>,
        capacity: usize,
    ) -> Self {
        Self {
            inbox: Inbox {
                channel,
                requests,
                capacity,
            },
            message: PhantomData,
        }
    }

    pub(crate) fn into_inbox(self) -> Inbox {
        self.inbox
    }

    /// Returns the next message, outside of a run. Returns `None` once all senders are gone and all
    /// messages were read.
    ///
    /// Nothing is recorded here: after a crash, a message that was read may be sent again.
    ///
    /// This method is cancel safe: if the future is dropped, no message is lost.
    pub async fn receive(&mut self) -> Option<M>
    where
        M: DeserializeOwned,
    {
        loop {
            let request = self.inbox.next().await?;
            match decode(&request.body, OutcomeProblemKind::Unreadable) {
                Ok(message) => {
                    request.reply(Ok(()));
                    return Some(message);
                }
                Err(problem) => request.reply(Err(problem.to_string())),
            }
        }
    }
}

impl Inbox {
    /// Returns the next message whose sender still waits.
    pub(crate) async fn next(&mut self) -> Option<Request> {
        loop {
            let request = self.requests.recv().await?;
            if request.is_wanted() {
                return Some(request);
            }
        }
    }
}

impl<M> fmt::Debug for Mailbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("channel", &self.inbox.channel)
            .field("capacity", &self.inbox.capacity)
            .finish_non_exhaustive()
    }
}
