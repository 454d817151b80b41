//! Channels between runs.

pub(crate) mod address;
pub(crate) mod mailbox;
pub(crate) mod post;
pub(crate) mod received;
pub(crate) mod request;
pub(crate) mod send;
pub(crate) mod send_error;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::current;
use crate::journal::CannotWait;
use crate::journal::calls::receive;
use address::{Address, encoded, send_from_anywhere};
use mailbox::Mailbox;
use received::Received;
use send_error::SendError;

/// The name of a channel between runs, and the type of its messages.
///
/// A flow [sends](crate::send()) messages to a channel and [waits](crate::Wait::for_message) for messages
/// from it. Each run gets its ends: [`open`](Channel::open) returns an [`Address`] for the run that
/// sends and a [`Mailbox`] for the one that receives. A run that waits for a message wakes up when
/// one arrives, and continues with [`Action::CLOSED`](crate::Action::CLOSED) when all senders are
/// gone.
///
/// ```
/// use cogwork_flow::{Action, Channel, Flow, Wait, from_fn, send};
///
/// const PINGS: Channel<u32> = Channel::new("pings");
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pinger = Flow::builder("pinger")
///     .node("count", from_fn(|n: &mut u32| *n += 1))
///     .node("ping", send(&PINGS, |n: &mut u32| *n))
///     .chain(["count", "ping"])
///     .end("ping", Action::CLOSED)
///     .build()?;
/// let listener = Flow::builder("listener")
///     .start("listen")
///     .wait("listen", Wait::for_message(&PINGS, |heard: &mut Vec<u32>, n| heard.push(n)))
///     .edge("listen", Action::DEFAULT, "listen")
///     .end("listen", Action::CLOSED)
///     .build()?;
///
/// let (address, mailbox) = PINGS.open(10);
/// let mut n = 6;
/// let mut heard = Vec::new();
/// let mut pinging = pinger.begin().with_address(address);
/// let mut listening = listener.begin().with_mailbox(mailbox);
/// tokio::try_join!(pinging.finish(&mut n), listening.finish(&mut heard))?;
/// assert_eq!(heard, [7]);
/// # Ok(())
/// # }
/// ```
///
/// # With a journal
///
/// A message is on record with the run that receives it before [`Address::send`] returns, and is
/// recorded as used before it is used. So a crash loses no message, and none is read twice:
///
/// - A message that was sent and not read is read when the receiving run is resumed.
/// - A step that sends a message and is interrupted by a crash sends it again when its run is
///   resumed. The receiving run knows the step and ignores the second message.
///
/// For this, both runs need a journal, and both have to be resumed with a new pair of ends after a
/// crash. The ids of runs must not be used for other runs while the receiving run exists.
///
/// The ends connect runs in one process. To send a message to a run in another process, deliver it
/// to the store of the run, as an answer to the event with the name of the channel.
pub struct Channel<M> {
    name: Cow<'static, str>,
    message: PhantomData<fn(M) -> M>,
}

impl<M> Channel<M> {
    /// The maximum capacity: 1,000 messages.
    pub const MAX_CAPACITY: usize = 1_000;

    /// Creates the name of a channel. It is also that of the event for which a receiving run waits.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            message: PhantomData,
        }
    }

    /// Creates a name that is only known at run time, for example with the number of a worker.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Cow::Owned(name.into()),
            message: PhantomData,
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates the two ends of the channel.
    ///
    /// The receiving run stores up to `capacity` messages that it hasn't used yet; a send then waits
    /// until it uses one. The capacity is at least 1 and at most
    /// [`MAX_CAPACITY`](Self::MAX_CAPACITY); other values are replaced by the nearest of these.
    pub fn open(&self, capacity: usize) -> (Address<M>, Mailbox<M>) {
        let capacity = capacity.clamp(1, Self::MAX_CAPACITY);
        let (requests, received) = mpsc::channel(capacity);
        let name: Arc<str> = self.name().into();

        let address = Address::new(Arc::clone(&name), requests);
        (address, Mailbox::new(name, received, capacity))
    }

    /// Waits for a message inside the `exec` of a [composite](crate::Node::is_composite) node. The
    /// result is recorded.
    ///
    /// The name of the channel is also the label of the call; see
    /// [Names](crate::journal::recorded#names). At places of a flow, use
    /// [`Wait::for_message`](crate::Wait::for_message).
    ///
    /// # Errors
    ///
    /// Returns an error outside of the `exec` of a composite node in a run with a journal.
    pub async fn receive(&self, timeout: Option<Duration>) -> Result<Received<M>, CannotWait>
    where
        M: DeserializeOwned,
    {
        receive(self.name(), timeout).await
    }

    /// Sends a message inside `exec`, to the [address](crate::Run::with_address) that the current
    /// run has for this channel. Otherwise like [`Address::send`].
    ///
    /// # Errors
    ///
    /// Returns an error if the run has no address for this channel, and otherwise the same errors as
    /// [`Address::send`].
    pub async fn send(&self, message: &M) -> Result<(), SendError>
    where
        M: Serialize + DeserializeOwned,
    {
        let post = current::address_of(self.name())?;
        let body = encoded(message).map_err(|kind| post.error(kind))?;
        send_from_anywhere(&post, body).await
    }
}

impl<M> Clone for Channel<M> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            message: PhantomData,
        }
    }
}

impl<M> fmt::Debug for Channel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Channel").field(&self.name).finish()
    }
}
