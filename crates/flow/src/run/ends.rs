//! The ends of channels that a run has.

use std::pin::pin;
use std::sync::Arc;

use super::Run;
use super::mailboxes::{Arrival, Keeper};
use crate::error::{Kind, Stopped};
use crate::execute::journaled::MAX_OUTCOME;
use crate::execute::stop::unless_stopped;
use crate::journal::{ChannelMessage, Journal};
use crate::{Address, Mailbox, Paused, RunError};

impl<'f, S> Run<'f, S> {
    /// Lets the run receive the messages of a channel, at the places that
    /// [wait](crate::Wait::for_message) for them.
    ///
    /// At such a place, [`step`](Run::step) and [`finish`](Run::finish) wait for a message instead
    /// of returning a [pause](RunError::paused). Messages are stored while the run executes. If it
    /// has several mailboxes for one channel, it receives the messages of all. An answer that is
    /// delivered to the journal in a different way doesn't wake up the run.
    ///
    /// The mailbox is dropped with the run, and when the run ends: senders then see that the
    /// receiver is gone. After an error, the run keeps it, since it can be continued.
    ///
    /// # Default
    ///
    /// None.
    #[must_use]
    pub fn with_mailbox<M>(mut self, mailbox: Mailbox<M>) -> Self {
        let mailboxes = self.mailboxes.get_or_insert_default();
        mailboxes.add(mailbox.into_inbox());
        self
    }

    /// Lets the run send messages to a channel, in [`send`](crate::send()) nodes and with
    /// [`Channel::send`](crate::Channel::send). A later address for the same channel replaces this
    /// one.
    ///
    /// The address is dropped with the run, and when the run ends: the receiver then sees that this
    /// sender is gone. After an error, the run keeps it, since it can be continued.
    ///
    /// # Default
    ///
    /// None.
    #[must_use]
    pub fn with_address<M>(mut self, address: Address<M>) -> Self {
        let post = address.into_post();
        let addresses = &mut self.attached().addresses;

        let mut all = addresses.as_deref().cloned().unwrap_or_default();
        all.retain(|other| other.channel != post.channel);
        all.push(post);
        *addresses = Some(Arc::new(all));

        self
    }

    /// Waits until the run can continue after a pause. Returns the error if it cannot.
    pub(super) async fn wake_up(&mut self, error: RunError) -> Result<(), RunError> {
        let keeper = self.keeper();
        let can_wake = match (&mut self.mailboxes, error.paused()) {
            (Some(mailboxes), Some(paused)) => mailboxes.can_wake(paused, &keeper),
            _ => false,
        };

        match error.paused() {
            Some(paused) if can_wake => match self.arrival(paused, &keeper).await {
                Ok(()) => Ok(()),
                Err(error) => Err(self.stopped(error).await),
            },
            _ => Err(self.stopped(error).await),
        }
    }

    async fn arrival(&mut self, paused: &Paused, keeper: &Keeper<'f>) -> Result<(), RunError> {
        let Some(mailboxes) = &mut self.mailboxes else {
            return Ok(());
        };

        let arrival = mailboxes.arrival(paused, keeper);
        let arrival = async {
            match keeper.time_left(paused) {
                Some(left) => tokio::time::timeout(left, arrival).await.ok(),
                None => Some(arrival.await),
            }
        };

        let arrived = unless_stopped(self.stop.as_deref(), pin!(arrival)).await;
        let arrived = arrived.map_err(|stopped| self.stopped_by(stopped))?;

        let Some(Arrival::Closed(channel)) = arrived else {
            return Ok(());
        };
        let Some(journal) = &keeper.journal else {
            return Ok(());
        };

        let closed = journal
            .deliver_message(&channel, ChannelMessage::Closed)
            .await;
        closed.map_err(|error| RunError::new(self.cursor.location(), Kind::Journal(error)))
    }

    fn stopped_by(&self, stopped: Stopped) -> RunError {
        RunError::new(self.cursor.location(), Kind::Stopped(stopped))
    }

    /// Returns where arriving messages are stored.
    pub(super) fn keeper(&self) -> Keeper<'f> {
        let attached = self.context.attached.as_deref();
        let journal = attached.and_then(|attached| match (&attached.journal, &attached.answers) {
            (Some(journal), _) => Some(journal.shared()),
            (None, Some(answers)) => Some(Arc::clone(answers) as Arc<dyn Journal + 'f>),
            (None, None) => None,
        });

        let extra = self.extra.as_ref();
        Keeper {
            journal,
            max_message: extra.map_or(MAX_OUTCOME, |extra| extra.max_outcome),
        }
    }

    /// Drops the ends of channels after the end of the run.
    pub(super) fn drop_ends(&mut self) {
        self.mailboxes = None;
        if let Some(attached) = &mut self.context.attached {
            attached.addresses = None;
        }
    }
}
