//! Jobs that wait for the database.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;

use super::chain::{Appended, Chain};
use super::outcome::Outcome;
use crate::store::StoreError;
use crate::store::position::{Addition, Position};

/// The maximum number of jobs in one transaction.
const MAX_JOBS: usize = 256;

/// The maximum number of jobs that wait. The number of concurrent requests is lower.
const MAX_WAITING: usize = 4_096;

pub(super) struct Job {
    pub(super) work: Work,
    /// Where the caller waits.
    pub(super) runtime: Option<Handle>,
}

impl Job {
    /// Returns whether the caller waits in this runtime.
    pub(super) fn is_from(&self, runtime: Option<Id>) -> bool {
        self.runtime.as_ref().map(Handle::id) == runtime
    }
}

pub(super) enum Work {
    /// Doesn't wait for other processes.
    Read(Box<Run>),
    Write(Box<Run>),
    Append(Chain),
}

/// Does work within a transaction, or gets the error for which there is no transaction.
pub(super) type Run = dyn FnOnce(Result<&Connection, StoreError>) -> Outcome + Send;

impl Work {
    /// Returns whether the transaction changes anything.
    pub(super) fn writes(&self) -> bool {
        !matches!(self, Self::Read(_))
    }

    pub(super) fn run(self, connection: Result<&Connection, StoreError>) -> Outcome {
        match self {
            Self::Read(run) | Self::Write(run) => run(connection),
            Self::Append(chain) => chain.run(connection),
        }
    }
}

#[derive(Default)]
pub(super) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// The runtime that is going to start them. Another one may not be running now.
    scheduled: Option<Id>,
}

/// What to do after adding a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    /// The job must be started, and what is added until then with it.
    Start,
    /// The job is started with others.
    Scheduled,
}

impl Queue {
    /// Adds a job.
    ///
    /// # Errors
    ///
    /// Returns an error if too many are waiting.
    pub(super) fn add(&self, work: Work) -> Result<Added, StoreError> {
        self.lock().add(work)
    }

    /// Adds entries to append, together with the ones before them.
    ///
    /// # Errors
    ///
    /// Returns an error if too many are waiting.
    pub(super) fn add_entries(
        &self,
        position: Position,
        additions: Vec<Addition>,
        caller: oneshot::Sender<Appended>,
    ) -> Result<Added, StoreError> {
        let mut waiting = self.lock();
        let here = Handle::try_current().ok().map(|runtime| runtime.id());
        if let Some(job) = waiting.jobs.back_mut()
            && job.is_from(here)
            && let Work::Append(chain) = &mut job.work
            && chain.goes_on_at(position, additions.len())
        {
            chain.push(additions, caller);
            return Ok(Added::Scheduled);
        }

        let mut chain = Chain::new(position);
        chain.push(additions, caller);
        waiting.add(Work::Append(chain))
    }

    /// Must be called before the jobs are started.
    pub(super) fn start(&self) {
        self.lock().scheduled = None;
    }

    /// Removes the jobs of the next transaction, as far as they may be done.
    pub(super) fn next(&self, may_do: impl Fn(&Work) -> bool) -> Vec<Job> {
        let mut waiting = self.lock();
        let Some(writes) = waiting.jobs.front().map(|job| job.work.writes()) else {
            return Vec::new();
        };

        let fits = |job: &&Job| job.work.writes() == writes && may_do(&job.work);
        let first = waiting.jobs.iter().take(MAX_JOBS);
        let count = first.take_while(fits).count();
        waiting.jobs.drain(..count).collect()
    }

    /// Adds jobs that [`next`](Self::next) returned before all others.
    pub(super) fn put_back(&self, jobs: Vec<Job>) {
        let mut waiting = self.lock();
        for job in jobs.into_iter().rev() {
            waiting.jobs.push_front(job);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    /// Drops all jobs. Their callers get an error.
    pub(super) fn clear(&self) {
        // Their destructors may do anything, so the queue isn't locked in the meantime.
        let jobs = std::mem::take(&mut self.lock().jobs);
        drop(jobs);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn add(&mut self, work: Work) -> Result<Added, StoreError> {
        if self.jobs.len() >= MAX_WAITING {
            return Err(StoreError::new(format_args!(
                "{MAX_WAITING} requests are waiting for the database of sessions; try again later"
            )));
        }

        let runtime = Handle::try_current().ok();
        let here = runtime.as_ref().map(Handle::id);
        self.jobs.push_back(Job { work, runtime });

        if here.is_some() && self.scheduled == here {
            return Ok(Added::Scheduled);
        }
        self.scheduled = here;
        Ok(Added::Start)
    }
}
