use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

use super::request::Request;
use super::send_error::{Kind, SendError};
use crate::current::{self, Sender};
use crate::execute::journaled::MAX_OUTCOME;
use crate::journal::{CallError, Origin, OutcomeProblemKind, decode, encode, recorded};

/// The sending end of a channel. Created by [`Channel::open`](crate::Channel::open).
///
/// Give it to a run with [`Run::with_address`](crate::Run::with_address), or send messages from any
/// other code with [`send`](Address::send). Clones send to the same mailbox. Once all of them are
/// dropped, the receiver has no more senders: it reads the messages that were sent, and then sees
/// that the channel is closed.
pub struct Address<M> {
    post: Post,
    message: PhantomData<fn(M)>,
}

impl<M> Address<M> {
    pub(crate) fn new(channel: Arc<str>, requests: mpsc::Sender<Request>) -> Self {
        Self {
            post: Post { channel, requests },
            message: PhantomData,
        }
    }

    pub(crate) fn into_post(self) -> Post {
        self.post
    }

    /// Sends a message. Returns once the receiving run has stored it, with a journal on record.
    ///
    /// The run stores messages while it executes, and waits if it has as many unused ones as the
    /// capacity of the channel allows. So it must execute at the same time as the sender, for
    /// example in a task or a `join!`. If the future is dropped, the message may have been sent.
    ///
    /// Inside `exec` of a run with a journal, a message is sent again if a crash interrupts the
    /// step. So this can only be called by the `exec` of a [composite](crate::Node::is_composite)
    /// node, where it is a [recorded call](crate::journal::recorded). Other nodes put the message
    /// into the state, for a [`send`](crate::send()) node.
    ///
    /// # Errors
    ///
    /// Returns an error if the receiver is [gone](SendError::is_closed), if the message cannot be
    /// written as JSON and read back, if it is larger than the [maximum
    /// size](crate::Run::with_max_outcome) of outcomes in the receiving run, or if the journal of
    /// that run fails.
    pub async fn send(&self, message: &M) -> Result<(), SendError>
    where
        M: Serialize + DeserializeOwned,
    {
        let body = encoded(message).map_err(|kind| self.post.error(kind))?;
        self.post.send(body).await
    }

    /// Waits until the receiver is gone.
    pub async fn closed(&self) {
        self.post.requests.closed().await;
    }

    /// Returns whether the receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.post.requests.is_closed()
    }
}

/// Serialises a message, and checks that it can be read back.
pub(crate) fn encoded<M: Serialize + DeserializeOwned>(message: &M) -> Result<Vec<u8>, Kind> {
    let body = encode(message, MAX_OUTCOME).map_err(Kind::Unsendable)?;
    decode::<M>(&body, OutcomeProblemKind::NotRecordable).map_err(Kind::Unsendable)?;

    Ok(body)
}

/// The sending end of a channel of any type.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) channel: Arc<str>,
    requests: mpsc::Sender<Request>,
}

impl Post {
    pub(crate) fn error(&self, kind: Kind) -> SendError {
        SendError::new(&self.channel, kind)
    }

    /// Sends a message from anywhere.
    pub(crate) async fn send(&self, body: Vec<u8>) -> Result<(), SendError> {
        match current::sender() {
            Sender::Unrecorded => self.request(body, None).await,
            Sender::Step(_) => Err(self.error(Kind::NotComposite)),
            Sender::Composite => self.send_recorded(body).await,
        }
    }

    async fn send_recorded(&self, body: Vec<u8>) -> Result<(), SendError> {
        let sent = recorded(&self.channel, || async {
            // Inside the call, the current step is the call itself.
            let from = match current::sender() {
                Sender::Step(from) => Some(from),
                Sender::Unrecorded | Sender::Composite => None,
            };

            is_delivered(self.request(body, from).await)
        });

        match sent.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.error(Kind::Closed)),
            Err(CallError::Failed(error)) => Err(error),
            Err(CallError::Recorded(text)) => Err(self.error(Kind::Refused(text))),
        }
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
}

/// Returns whether a message was delivered, or `false` if the receiver is gone.
pub(crate) fn is_delivered(sent: Result<(), SendError>) -> Result<bool, SendError> {
    match sent {
        Ok(()) => Ok(true),
        Err(error) if error.is_closed() => Ok(false),
        Err(error) => Err(error),
    }
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Self {
            post: self.post.clone(),
            message: PhantomData,
        }
    }
}

impl<M> fmt::Debug for Address<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address")
            .field("channel", &self.post.channel)
            .field("is_closed", &self.is_closed())
            .finish()
    }
}
