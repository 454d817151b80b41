//! The mailboxes of a run: they store arriving messages while the run executes, and wake it up.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::SystemTime;

use crate::Paused;
use crate::boxed::BoxFuture;
use crate::channel::mailbox::Inbox;
use crate::journal::{ChannelMessage, Journal};

/// Where the messages of a run are stored.
pub(super) struct Keeper<'f> {
    pub(super) journal: Option<Arc<dyn Journal + 'f>>,
    /// In bytes.
    pub(super) max_message: usize,
}

/// The mailboxes of a run.
#[derive(Default)]
pub(super) struct Mailboxes<'f>(Vec<Served<'f>>);

struct Served<'f> {
    channel: Arc<str>,
    /// In a mutex because a run is `Sync`. It is never locked twice at a time.
    work: Mutex<Work<'f>>,
}

enum Work<'f> {
    /// The run hasn't taken a step yet.
    New(Inbox),
    /// Ends when all senders are gone and all messages are stored.
    Storing(BoxFuture<'f, ()>),
    Closed,
}

/// Why a run that waits can continue.
pub(super) enum Arrival {
    Message,
    /// All senders of this channel are gone.
    Closed(String),
}

impl<'f> Mailboxes<'f> {
    pub(super) fn add(&mut self, inbox: Inbox) {
        self.0.push(Served {
            channel: Arc::clone(&inbox.channel),
            work: Mutex::new(Work::New(inbox)),
        });
    }

    /// Stores messages while `work` waits.
    pub(super) async fn during<T>(
        &mut self,
        keeper: &Keeper<'f>,
        mut work: Pin<&mut impl Future<Output = T>>,
    ) -> T {
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }

            self.store(context, keeper);
            Poll::Pending
        })
        .await
    }

    /// Returns whether a mailbox can wake up a run that paused here.
    pub(super) fn can_wake(&mut self, paused: &Paused, keeper: &Keeper<'_>) -> bool {
        waits(paused).any(|wait| {
            let is_kept = keeper.unused(&wait.event).is_some();
            is_kept
                && self.is_served(&wait.event)
                && (wait.takes_closed || self.is_open(&wait.event))
        })
    }

    /// Stores messages until the run can continue after it paused here.
    pub(super) async fn arrival(&mut self, paused: &Paused, keeper: &Keeper<'f>) -> Arrival {
        poll_fn(|context| {
            self.store(context, keeper);

            let mut waits_of_run = waits(paused);
            if waits_of_run.any(|wait| keeper.unused(&wait.event).is_some_and(|unused| unused > 0))
            {
                return Poll::Ready(Arrival::Message);
            }

            let closed = waits(paused).find(|wait| {
                wait.takes_closed && self.is_served(&wait.event) && !self.is_open(&wait.event)
            });
            match closed {
                Some(wait) => Poll::Ready(Arrival::Closed(wait.event.clone())),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// All mailboxes are polled each time, because one that is full isn't woken when a step uses a
    /// message: that only happens in this task, between two calls.
    fn store(&mut self, context: &mut Context<'_>, keeper: &Keeper<'f>) {
        for served in &mut self.0 {
            served.store(context, keeper);
        }
    }

    fn is_served(&self, channel: &str) -> bool {
        self.0.iter().any(|served| &*served.channel == channel)
    }

    fn is_open(&mut self, channel: &str) -> bool {
        let mut served = self.0.iter_mut();
        served.any(|served| &*served.channel == channel && served.is_open())
    }
}

impl<'f> Served<'f> {
    fn work(&mut self) -> &mut Work<'f> {
        self.work.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_open(&mut self) -> bool {
        !matches!(self.work(), Work::Closed)
    }

    fn store(&mut self, context: &mut Context<'_>, keeper: &Keeper<'f>) {
        let work = self.work();

        if let Work::New(_) = work
            && let Work::New(inbox) = std::mem::replace(work, Work::Closed)
        {
            let journal = keeper.journal.clone();
            *work = Work::Storing(Box::pin(store_all(inbox, journal, keeper.max_message)));
        }

        if let Work::Storing(storing) = work
            && storing.as_mut().poll(context).is_ready()
        {
            *work = Work::Closed;
        }
    }
}

/// Stores the messages of a mailbox one after the other, until all senders are gone.
async fn store_all(mut inbox: Inbox, journal: Option<Arc<dyn Journal + '_>>, max_message: usize) {
    let channel = Arc::clone(&inbox.channel);
    let capacity = inbox.capacity;

    loop {
        if let Some(journal) = &journal {
            has_room(&**journal, &channel, capacity).await;
        }

        let Some(mut request) = inbox.next().await else {
            return;
        };

        let Some(journal) = &journal else {
            request.reply(Err("no place of its flow waits for events".to_owned()));
            continue;
        };
        if request.body.len() > max_message {
            request.reply(Err(format!("it is larger than {max_message} bytes")));
            continue;
        }

        let message = ChannelMessage::Sent {
            body: std::mem::take(&mut request.body),
            from: request.from.take(),
        };
        let stored = journal.deliver_message(&channel, message).await;
        request.reply(stored.map_err(|error| error.to_string()));
    }
}

/// Waits until fewer messages are stored than the capacity. Whoever polls this polls it again after
/// each step, so it needs no waker.
async fn has_room(journal: &dyn Journal, channel: &str, capacity: usize) {
    poll_fn(|_| match journal.unused_answers(channel) {
        Some(unused) if unused >= capacity => Poll::Pending,
        _ => Poll::Ready(()),
    })
    .await;
}

/// Returns all waits of a pause.
fn waits(paused: &Paused) -> impl Iterator<Item = &Paused> {
    std::iter::once(paused).chain(&paused.also)
}

impl Keeper<'_> {
    fn unused(&self, event: &str) -> Option<usize> {
        self.journal.as_ref()?.unused_answers(event)
    }

    /// Returns the time left until the first of the waits times out.
    pub(super) fn time_left(&self, paused: &Paused) -> Option<std::time::Duration> {
        let until = waits(paused).filter_map(|wait| wait.until).min()?;
        let now = match &self.journal {
            Some(journal) => journal.now(),
            None => SystemTime::now(),
        };

        Some(until.duration_since(now).unwrap_or_default())
    }
}

impl fmt::Debug for Mailboxes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channels = self.0.iter().map(|served| &served.channel);
        f.debug_list().entries(channels).finish()
    }
}
