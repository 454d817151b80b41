use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Channel;
use super::address::encoded;
use super::post::is_delivered;
use super::send_error::SendError;
use crate::current::{self, Sender};
use crate::{Action, Node};

/// Creates a node that sends a message to a channel. The closure creates the message from the state.
///
/// The node uses the [address](crate::Run::with_address) of the run for this channel, and waits
/// until the message is stored; see [`Address::send`](crate::Address::send). Its actions are
/// [`Action::DEFAULT`], and [`Action::CLOSED`] if the receiver is gone. Which of them it took is
/// recorded. See [`Channel`] for an example.
pub fn send<S, M, F>(channel: &Channel<M>, message: F) -> SendMessage<S, M, F>
where
    F: Fn(&mut S) -> M + Send + Sync,
    M: Serialize + DeserializeOwned,
{
    SendMessage {
        channel: channel.clone(),
        message,
        state: PhantomData,
    }
}

/// A node that sends a message. Created by [`send`](send()).
pub struct SendMessage<S, M, F> {
    channel: Channel<M>,
    message: F,
    state: PhantomData<fn(&mut S)>,
}

impl<S, M, F> Node<S> for SendMessage<S, M, F>
where
    F: Fn(&mut S) -> M + Send + Sync,
    M: Serialize + DeserializeOwned,
{
    type Prep = Vec<u8>;
    type Exec = bool;
    type Error = SendError;

    fn actions(&self) -> Vec<Action> {
        vec![Action::DEFAULT, Action::CLOSED]
    }

    fn prep(&self, state: &mut S) -> Result<Vec<u8>, SendError> {
        let message = (self.message)(state);
        encoded(&message).map_err(|kind| SendError::new(self.channel.name(), kind))
    }

    async fn exec(&self, body: &Vec<u8>) -> Result<bool, SendError> {
        let post = current::address_of(self.channel.name())?;
        let from = match current::sender() {
            Sender::Step(from) => Some(from),
            Sender::Unrecorded | Sender::Composite => None,
        };

        is_delivered(post.request(body.clone(), from).await)
    }

    fn post(&self, _: &mut S, _: Vec<u8>, is_delivered: bool) -> Result<Action, SendError> {
        Ok(if is_delivered {
            Action::DEFAULT
        } else {
            Action::CLOSED
        })
    }
}

impl<S, M, F> fmt::Debug for SendMessage<S, M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendMessage")
            .field("channel", &self.channel.name())
            .finish_non_exhaustive()
    }
}
