//! Decides who writes: one of the waiting threads at a time, on behalf of all of them.
//!
//! A mutex around the connection would do, but then each thread that was served has to take the
//! mutex again to find out, and with hundreds of waiting threads the transactions become small.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use super::failure::Failure;
use crate::StoreError;
use crate::mutex::lock;

/// A part of a transaction. Returns the key of its run.
pub(super) type Part = Box<dyn FnOnce(&Connection) -> Result<i64, Failure> + Send>;

#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: Vec<Waiting>,
    /// Whether a thread is writing, or was asked to.
    busy: bool,
}

/// A part to write. Its thread is notified when this is dropped.
pub(super) struct Waiting {
    pub(super) part: Option<Part>,
    pub(super) outcome: Outcome,
    turn: Arc<Turn>,
}

/// The result of writing a part.
#[derive(Default)]
pub(super) enum Outcome {
    /// A panic or a shutdown came first.
    #[default]
    Interrupted,
    /// The key of the run.
    Written(i64),
    Failed(StoreError),
}

/// Passes messages to a waiting thread.
#[derive(Default)]
pub(super) struct Turn {
    message: Mutex<Option<Message>>,
    woken: Condvar,
}

pub(super) enum Message {
    /// Write the parts of all waiting threads.
    Write,
    /// The part is done.
    Done(Outcome),
}

impl Turn {
    pub(super) fn join(queue: &Mutex<Queue>, part: Part) -> Arc<Self> {
        let turn = Arc::new(Self::default());
        let mut queue = lock(queue);
        queue.waiting.push(Waiting {
            part: Some(part),
            outcome: Outcome::default(),
            turn: Arc::clone(&turn),
        });

        if !mem::replace(&mut queue.busy, true) {
            turn.send(Message::Write);
        }

        turn
    }

    /// Waits for the next message.
    pub(super) fn wait(&self) -> Message {
        let mut next = lock(&self.message);

        loop {
            if let Some(message) = next.take() {
                return message;
            }

            let woken = self.woken.wait(next);
            next = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn send(&self, message: Message) {
        *lock(&self.message) = Some(message);
        self.woken.notify_one();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let outcome = mem::take(&mut self.outcome);
        self.turn.send(Message::Done(outcome));
    }
}

/// Asks the next thread to write when this is dropped, even by a panic.
pub(super) struct HandOver<'a>(pub(super) &'a Mutex<Queue>);

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        let mut queue = lock(self.0);
        match queue.waiting.first() {
            Some(next) => next.turn.send(Message::Write),
            None => queue.busy = false,
        }
    }
}
