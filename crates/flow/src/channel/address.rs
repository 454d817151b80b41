use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::post::{Post, is_delivered};
use super::request::Request;
use super::send_error::{Kind, SendError};
use crate::current::{self, Sender};
use crate::execute::journaled::MAX_OUTCOME;
use crate::journal::calls::recorded;
use crate::journal::{CallError, OutcomeProblemKind, decode, encode};

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
            post: Post::new(channel, requests),
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
        send_from_anywhere(&self.post, body).await
    }

    /// Waits until the receiver is gone.
    pub async fn closed(&self) {
        self.post.closed().await;
    }

    /// Returns whether the receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.post.is_closed()
    }
}

/// Serialises a message, and checks that it can be read back.
pub(crate) fn encoded<M: Serialize + DeserializeOwned>(message: &M) -> Result<Vec<u8>, Kind> {
    let body = encode(message, MAX_OUTCOME).map_err(Kind::Unsendable)?;
    decode::<M>(&body, OutcomeProblemKind::NotRecordable).map_err(Kind::Unsendable)?;

    Ok(body)
}

/// Sends a message from anywhere.
pub(crate) async fn send_from_anywhere(post: &Post, body: Vec<u8>) -> Result<(), SendError> {
    match current::sender() {
        Sender::Unrecorded => post.request(body, None).await,
        Sender::Step(_) => Err(post.error(Kind::NotComposite)),
        Sender::Composite => send_recorded(post, body).await,
    }
}

async fn send_recorded(post: &Post, body: Vec<u8>) -> Result<(), SendError> {
    let sent = recorded(&post.channel, || async {
        // Inside the call, the current step is the call itself.
        let from = match current::sender() {
            Sender::Step(from) => Some(from),
            Sender::Unrecorded | Sender::Composite => None,
        };

        is_delivered(post.request(body, from).await)
    });

    match sent.await {
        Ok(true) => Ok(()),
        Ok(false) => Err(post.error(Kind::Closed)),
        Err(CallError::Failed(error)) => Err(error),
        Err(CallError::Recorded(text)) => Err(post.error(Kind::Refused(text))),
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
