//! Who writes: of all that wait, one at a time, for all of them.
//!
//! A mutex around the connection alone would do the same, but whoever has been served must then take
//! it once more to see that, and with hundreds who wait the transactions become small.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use cogwork_files::FileId;

use super::database::{Open, lock};
use crate::StoreError;

/// A part of a transaction, which answers where the row of its run is.
pub(super) type Part = Box<dyn FnOnce(&Open) -> Result<Row, Refused> + Send>;

/// The row of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) key: i64,
    /// The file it is in.
    pub(super) database: Option<FileId>,
}

/// Why a part is not written.
pub(super) enum Refused {
    BySqlite(rusqlite::Error),
    /// The run is not as it should be.
    ByRun(StoreError),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Self::BySqlite(error)
    }
}

#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: Vec<Waiting>,
    /// Whether somebody writes, or was told to.
    busy: bool,
}

/// A part that is to be written. Whoever waits for it hears when this is dropped.
pub(super) struct Waiting {
    /// Whether the run is not in the database yet.
    pub(super) is_new: bool,
    pub(super) part: Option<Part>,
    pub(super) written: Option<Result<Row, StoreError>>,
    turn: Arc<Turn>,
}

/// Where one who waits is told something.
#[derive(Default)]
pub(super) struct Turn {
    told: Mutex<Option<Told>>,
    woken: Condvar,
}

pub(super) enum Told {
    /// To write all that wait.
    Write,
    /// What became of its part; `None` where that was broken off.
    Written(Option<Result<Row, StoreError>>),
}

impl Turn {
    pub(super) fn join(queue: &Mutex<Queue>, is_new: bool, part: Part) -> Arc<Self> {
        let turn = Arc::new(Self::default());
        let mut queue = lock(queue);
        queue.waiting.push(Waiting {
            is_new,
            part: Some(part),
            written: None,
            turn: Arc::clone(&turn),
        });

        if !std::mem::replace(&mut queue.busy, true) {
            turn.tell(Told::Write);
        }

        turn
    }

    /// Waits until something is told.
    pub(super) fn wait(&self) -> Told {
        let mut told = lock(&self.told);
        loop {
            match told.take() {
                Some(told) => return told,
                None => {
                    told = self
                        .woken
                        .wait(told)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }

    fn tell(&self, what: Told) {
        *lock(&self.told) = Some(what);
        self.woken.notify_one();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.turn.tell(Told::Written(self.written.take()));
    }
}

/// Tells the next one to write when it is dropped, in a panic too.
pub(super) struct HandOver<'a>(pub(super) &'a Mutex<Queue>);

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        let mut queue = lock(self.0);
        match queue.waiting.first() {
            Some(next) => next.turn.tell(Told::Write),
            None => queue.busy = false,
        }
    }
}
