//! Executes queued runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{CancellationToken, Flow};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::claim::{Claimed, Wanted as WantedRuns};
use super::database::Database;
use super::lease::{LeaseWatch, Stopped};
use super::listen::listen;
use super::registered::{Registered, RunFlow};
use super::run::{HeldRun, shape_hash};
use super::settings::Reconnects;
use super::store::PostgresStore;
use crate::StoreError;
use crate::record::Wanted;

/// Takes runs from the queue of a [`PostgresStore`] and executes them.
///
/// Any number of workers, in any number of processes, can take runs from the queue. Each run is
/// executed by one of them. If that worker dies, another one continues the run after the lease has
/// expired. A run that pauses is continued once an answer arrives or its wait times out. A run that
/// fails is tried again after a [delay](PostgresStore::with_retries), and set aside after too many
/// failures without a new outcome in between. While the database is gone, the worker waits for it.
///
/// Runs of a flow that the worker doesn't have, or has in a changed form, are left for other workers.
///
/// ```no_run
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::{PostgresStore, Worker};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("add")
///     .start("one")
///     .node("one", from_fn(|n: &mut u32| *n += 1))
///     .end("one", "default")
///     .build()?;
/// let store = PostgresStore::new("postgresql://app@db.example/app")?;
/// store.enqueue("sum 1", &flow, &41).await?;
///
/// let shutdown = async { drop(tokio::signal::ctrl_c().await) };
/// Worker::new(store).with_flow(flow).with_concurrency(20).run(shutdown).await;
/// # Ok(())
/// # }
/// ```
pub struct Worker {
    store: PostgresStore,
    flows: BTreeMap<String, Arc<dyn RunFlow>>,
    wanted: WantedRuns,
    concurrency: usize,
    poll: Duration,
    grace: Duration,
    report: Arc<Report>,
}

type Report = dyn Fn(WorkerEvent<'_>) + Send + Sync;

/// What a worker reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkerEvent<'a> {
    /// A run was taken.
    Taken {
        /// The id of the run.
        run_id: &'a str,
    },
    /// A run ended.
    Ended {
        /// The id of the run.
        run_id: &'a str,
    },
    /// A run waits for an event.
    Paused {
        /// The id of the run.
        run_id: &'a str,
    },
    /// A run failed. It is tried again or set aside.
    Failed {
        /// The id of the run.
        run_id: &'a str,
        /// The error, in one line.
        error: &'a str,
    },
    /// A run was interrupted, because the worker shuts down, lost its lease or lost the database.
    /// It continues later, here or elsewhere.
    Interrupted {
        /// The id of the run.
        run_id: &'a str,
        /// The reason, in one line.
        reason: &'a str,
    },
    /// The database cannot be used. The worker tries again.
    DatabaseFailed {
        /// The error.
        error: &'a StoreError,
    },
}

impl Worker {
    /// The default maximum number of runs at the same time: 10.
    pub const DEFAULT_CONCURRENCY: usize = 10;

    /// Creates a worker without flows.
    pub fn new(store: PostgresStore) -> Self {
        Self {
            store,
            flows: BTreeMap::new(),
            wanted: WantedRuns::default(),
            concurrency: Self::DEFAULT_CONCURRENCY,
            poll: Duration::from_secs(5),
            grace: Duration::from_secs(10),
            report: Arc::new(|_| {}),
        }
    }

    /// Adds a flow. A flow with the same name is replaced.
    #[must_use]
    pub fn with_flow<S>(mut self, flow: impl Into<Arc<Flow<S>>>) -> Self
    where
        S: DeserializeOwned + Send + 'static,
    {
        let flow = flow.into();
        let name = flow.name().to_owned();
        self.flows.insert(name, Arc::new(Registered(flow)));
        self
    }

    /// Sets the maximum number of runs that this worker executes at the same time.
    ///
    /// # Default
    ///
    /// [`Worker::DEFAULT_CONCURRENCY`].
    #[must_use]
    pub fn with_concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs.max(1);
        self
    }

    /// Sets how long the worker waits for a notification before it looks for runs anyway.
    ///
    /// # Default
    ///
    /// 5 s.
    #[must_use]
    pub fn with_poll_interval(mut self, interval: Duration) -> Self {
        self.poll = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets how long runs may continue after a shutdown was requested. After that, they are
    /// interrupted, and their calls in progress are repeated elsewhere.
    ///
    /// # Default
    ///
    /// 10 s.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Calls a function with everything that happens, for instance to log it.
    ///
    /// # Default
    ///
    /// Nothing is reported.
    #[must_use]
    pub fn with_report(mut self, report: impl Fn(WorkerEvent<'_>) + Send + Sync + 'static) -> Self {
        self.report = Arc::new(report);
        self
    }

    /// Executes runs until `shutdown` is ready. Then the worker takes no more runs, waits for those
    /// that it executes for at most its [grace period](Worker::with_grace), and returns once they
    /// were given back.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        self.wanted = self.wanted_runs();

        let database = Arc::clone(&self.store.database);
        let woken = Arc::new(Notify::new());
        let listening = tokio::spawn(listen(database, Arc::clone(&woken)));
        let mut at_work = AtWork {
            worker: self,
            runs: JoinSet::new(),
            stop: CancellationToken::new(),
            woken,
            delays: None,
        };

        at_work.until(shutdown).await;
        listening.abort();
        at_work.drain().await;
    }

    fn wanted_runs(&self) -> WantedRuns {
        let flows = self.flows.iter();
        let mut wanted = WantedRuns::default();

        for (name, flow) in flows {
            wanted.flows.push(name.clone());
            wanted.shapes.push(shape_hash(&flow.graph()));
        }

        wanted
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("store", &self.store)
            .field("flows", &self.wanted.flows)
            .finish_non_exhaustive()
    }
}

/// A worker, and the runs that it executes.
struct AtWork {
    worker: Worker,
    runs: JoinSet<()>,
    /// Cancelled to interrupt all runs.
    stop: CancellationToken,
    woken: Arc<Notify>,
    /// The delays before further attempts, if the database failed. Notifications don't shorten them.
    delays: Option<Reconnects>,
}

impl AtWork {
    async fn until(&mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = std::pin::pin!(shutdown);

        loop {
            // Taking runs isn't interrupted, since a run that was taken has to be given back.
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                () = std::future::ready(()) => {}
            }
            let pause = self.take_runs().await;

            let woken = Arc::clone(&self.woken);
            let is_slow = self.delays.is_some();
            tokio::select! {
                () = &mut shutdown => return,
                () = tokio::time::sleep(pause) => {}
                () = woken.notified(), if !is_slow => {}
                Some(_) = self.runs.join_next(), if !is_slow => {}
            }
        }
    }

    /// Takes as many runs as there is room for. Returns how long to wait unless something happens.
    async fn take_runs(&mut self) -> Duration {
        while self.runs.try_join_next().is_some() {}

        let database = Arc::clone(&self.worker.store.database);
        let room = self.worker.concurrency.saturating_sub(self.runs.len());
        match database.claim(&self.worker.wanted, room).await {
            Ok((claimed, due)) => {
                self.delays = None;
                for claimed in claimed {
                    self.start(&database, claimed);
                }
                due.map_or(self.worker.poll, |due| due.min(self.worker.poll))
            }
            Err(failure) => {
                let error = &database.failed("runs cannot be taken", failure);
                (self.worker.report)(WorkerEvent::DatabaseFailed { error });
                let delays = self.delays.take();
                let mut delays = delays.unwrap_or_else(|| database.settings.reconnects());
                let pause = delays.next_delay();
                self.delays = Some(delays);
                pause
            }
        }
    }

    fn start(&mut self, database: &Arc<Database>, claimed: Claimed) {
        // The statement only takes runs of these flows.
        let Some(flow) = self.worker.flows.get(&claimed.flow) else {
            return;
        };

        let run_id = claimed.run_id.clone();
        (self.worker.report)(WorkerEvent::Taken { run_id: &run_id });
        let execution = Execution {
            store: self.worker.store.clone(),
            flow: Arc::clone(flow),
            run_id,
            stop: self.stop.clone(),
            report: self.worker.report.clone(),
        };
        let run = HeldRun::taken(database, claimed);
        self.runs.spawn(execution.run(run));
    }

    /// Waits for all runs, and interrupts those that take too long.
    async fn drain(&mut self) {
        let grace = self.worker.grace;
        let ended = async { while self.runs.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, ended).await.is_ok() {
            return;
        }

        self.stop.cancel();
        while self.runs.join_next().await.is_some() {}
    }
}

/// One run that is executed.
struct Execution {
    store: PostgresStore,
    flow: Arc<dyn RunFlow>,
    run_id: String,
    stop: CancellationToken,
    report: Arc<Report>,
}

impl Execution {
    async fn run(self, run: HeldRun) {
        let run_id = &self.run_id;
        let Some(lease) = run.lease() else {
            return;
        };
        let watch = lease.watch();
        let stopped = self.execute(run, &watch).await;

        // The run may be due again soon, which the database shows only now.
        watch.given_back.cancelled().await;

        match stopped {
            Stopped::Ended => (self.report)(WorkerEvent::Ended { run_id }),
            Stopped::Paused => (self.report)(WorkerEvent::Paused { run_id }),
            Stopped::Interrupted(reason) => {
                let reason = &reason;
                (self.report)(WorkerEvent::Interrupted { run_id, reason });
            }
            Stopped::Failed(error) => {
                let error = &error;
                (self.report)(WorkerEvent::Failed { run_id, error });
            }
        }
    }

    async fn execute(&self, run: HeldRun, lease: &LeaseWatch) -> Stopped {
        let wanted = Wanted::Same(self.flow.graph());
        let opener = self.store.opener(&self.run_id);
        let opened = async { opener.resume(run.with_lines().await?, wanted).await };
        let journal = match opened.await {
            Ok(journal) => journal,
            Err(error) => return Stopped::of_opening(&error),
        };

        let stop = CancellationToken::new();
        let interrupted = async {
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = lease.lost.cancelled() => {}
            }
            stop.cancel();
            std::future::pending().await
        };

        tokio::select! {
            stopped = self.flow.run(journal, stop.clone(), lease) => stopped,
            stopped = interrupted => stopped,
        }
    }
}
