//! Executes queued runs.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cogwork_flow::draw::FlowGraph;
use cogwork_flow::{CancellationToken, Flow, Proceeded, RunError};
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_postgres::Row;
use tracing::{info, warn};

use super::backend::HeldRun;
use super::database::{Delays, Sql, reconnects};
use super::lease::{LeaseWatch, Stopped};
use super::statements::CLAIM;
use super::store::PostgresStore;
use crate::opener::Opener;
use crate::read::Wanted;
use crate::rows::count;
use crate::{RunJournal, StoreError, StoreErrorKind};

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
/// What happens is written with `tracing`: that a run was `taken`, has `ended` or is `paused` at the
/// level `INFO`, and that it `failed` or was `interrupted`, or that the database cannot be used, as a
/// warning.
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
    concurrency: usize,
    poll: Duration,
    grace: Duration,
}

impl Worker {
    /// Creates a worker without flows.
    pub fn new(store: PostgresStore) -> Self {
        Self {
            store,
            flows: BTreeMap::new(),
            concurrency: 10,
            poll: Duration::from_millis(500),
            grace: Duration::from_secs(10),
        }
    }

    /// Adds a flow. A flow with the same name is replaced.
    #[must_use]
    pub fn with_flow<S>(mut self, flow: impl Into<Arc<Flow<S>>>) -> Self
    where
        S: DeserializeOwned + Send + 'static,
    {
        let flow: Arc<Flow<S>> = flow.into();
        self.flows.insert(flow.name().to_owned(), flow);
        self
    }

    /// Sets the maximum number of runs that this worker executes at the same time.
    ///
    /// # Default
    ///
    /// 10.
    #[must_use]
    pub fn with_concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs.max(1);
        self
    }

    /// Sets how long the worker waits before it looks for runs again, if it has room for more. It
    /// also looks when a run ends, and when one is due.
    ///
    /// # Default
    ///
    /// 500 ms.
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

    /// Executes runs until `shutdown` is ready. Then the worker takes no more runs, waits for those
    /// that it executes for at most its [grace period](Worker::with_grace), and returns once they
    /// were given back.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let grace = self.grace;
        let mut at_work = AtWork {
            worker: self,
            runs: JoinSet::new(),
            stop: CancellationToken::new(),
            delays: None,
        };

        at_work.until(shutdown).await;

        let ended = async { while at_work.runs.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, ended).await.is_err() {
            at_work.stop.cancel();
            // Runs that were interrupted still have to give back their leases.
            while at_work.runs.join_next().await.is_some() {}
        }
    }
}

/// A worker, and the runs that it executes.
struct AtWork {
    worker: Worker,
    runs: JoinSet<()>,
    /// Cancelled to interrupt all runs.
    stop: CancellationToken,
    /// The delays before further attempts, if the database failed. Runs that end don't shorten them.
    delays: Option<Delays>,
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

            // While the server is gone, a run that ends must not cause an attempt before its time.
            let is_slow = self.delays.is_some();
            tokio::select! {
                () = &mut shutdown => return,
                () = tokio::time::sleep(pause) => {}
                Some(_) = self.runs.join_next(), if !is_slow => {}
            }
        }
    }

    /// Takes as many runs as there is room for. Returns how long to wait unless something happens.
    async fn take_runs(&mut self) -> Duration {
        // Runs that have ended make room for others.
        while self.runs.try_join_next().is_some() {}

        let asked = Instant::now();
        match self.claim().await {
            Ok((claimed, due)) => {
                self.delays = None;
                for row in claimed {
                    self.start(&row, asked);
                }
                due.map_or(self.worker.poll, |due| due.min(self.worker.poll))
            }
            Err(error) => {
                warn!(%error, "the database cannot be used");
                let delays = self.delays.get_or_insert_with(reconnects);
                delays.next().unwrap_or_default()
            }
        }
    }

    /// Takes runs that are ready. Also returns how long it takes until the next one is due.
    async fn claim(&self) -> Result<(Vec<Row>, Option<Duration>), StoreError> {
        let database = &self.worker.store.database;
        let what = "runs cannot be taken";
        // First, so that the runs that are due can be taken at once.
        let sql = "SELECT @.wake_due($1)";
        let delays = database.retry_seconds();
        let next = database.query_one(what, sql, &[&delays]).await?;
        let seconds: Option<f64> = next.get(0);
        // Negative while another worker wakes the run, which must not cause a busy loop.
        let due = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.001)).ok());

        let room = self.worker.concurrency.saturating_sub(self.runs.len());
        // Runs were woken all the same, since other workers may have room for them.
        if room == 0 {
            return Ok((Vec::new(), due));
        }
        let flows: Vec<_> = self.worker.flows.keys().collect();
        // A worker with an older or newer version of a flow leaves its runs to others.
        let shapes = self.worker.flows.values();
        let shapes: Vec<_> = shapes
            .map(|flow| flow.graph().digest().cast_signed())
            .collect();
        let (worker, seconds) = (&database.settings.worker, database.lease_seconds());
        let values: [Sql<'_>; 5] = [worker, &seconds, &flows, &shapes, &count(room)];
        Ok((database.query(what, CLAIM, &values).await?, due))
    }

    fn start(&mut self, row: &Row, asked: Instant) {
        // The statement only takes runs of these flows.
        let Some(flow) = self.worker.flows.get(row.get::<_, &str>("flow")) else {
            return;
        };

        // A child, so that losing one lease interrupts one run.
        let interrupt = self.stop.child_token();
        let run = HeldRun::taken(&self.worker.store.database, row, interrupt, asked);
        let opener = self.worker.store.opener(row.get("id"));
        self.runs.spawn(execute(opener, Arc::clone(flow), run));
    }
}

/// Executes a run that was taken, and returns once its lease was given back.
async fn execute(opener: Opener, flow: Arc<dyn RunFlow>, run: HeldRun) {
    let Some(watch) = run.lease.as_ref().map(|lease| lease.watch.clone()) else {
        return;
    };
    let run_id = &opener.run_id;
    info!(run_id, "taken");

    let wanted = Wanted::flow(flow.graph());
    let opened = async { opener.resume(run.with_lines().await?, wanted).await };
    let stopped = match opened.await {
        Ok(journal) => flow.run(journal, &watch).await,
        Err(error) => Stopped::by(&error),
    };

    // The run may be due again soon, which the database shows only now.
    watch.given_back.cancelled().await;
    match stopped {
        Stopped::Ended => info!(run_id, "ended"),
        Stopped::Paused => info!(run_id, "paused"),
        Stopped::Interrupted(reason) => warn!(run_id, reason, "interrupted"),
        Stopped::Failed(error) => warn!(run_id, error, "failed"),
    }
}

/// A flow whose state has any type.
#[async_trait]
trait RunFlow: Send + Sync {
    fn graph(&self) -> FlowGraph;

    /// Executes a run. How it stopped is set before the journal is dropped.
    async fn run(&self, journal: RunJournal, lease: &LeaseWatch) -> Stopped;
}

#[async_trait]
impl<S> RunFlow for Flow<S>
where
    S: DeserializeOwned + Send + 'static,
{
    fn graph(&self) -> FlowGraph {
        self.graph()
    }

    async fn run(&self, journal: RunJournal, lease: &LeaseWatch) -> Stopped {
        let mut state: S = match journal.state() {
            Ok(state) => state,
            Err(error) => {
                lease.set_stopped(Stopped::by(&error));
                return Stopped::by(&error);
            }
        };

        // The state is that of the record, whatever its digest is.
        let run = self.begin().with_journal_any_state(journal);
        let mut run = run.with_cancellation(lease.interrupt.clone());
        let stopped = match run.proceed(&mut state).await {
            Ok(Proceeded::Ended(_)) => Stopped::Ended,
            Ok(Proceeded::Paused(_)) => Stopped::Paused,
            // Not the fault of the run, so it isn't counted as a failed attempt.
            Err(error) if error.is_cancelled() && lease.interrupt.is_cancelled() => {
                Stopped::Interrupted(error.to_string())
            }
            Err(error) => Stopped::of(&error),
        };

        // Before the journal is dropped, with which the lease is given back.
        lease.set_stopped(stopped.clone());
        stopped
    }
}

impl Stopped {
    fn of(error: &RunError) -> Self {
        // Others may have wrapped the error of the store.
        let sources = std::iter::successors(error.source(), |cause| (*cause).source());
        let mut errors = sources.filter_map(|cause| cause.downcast_ref::<StoreError>());
        match errors.next().is_some_and(is_passing) {
            true => Self::Interrupted(error.to_string()),
            false => Self::Failed(error.to_string()),
        }
    }

    /// Returns how a run stopped that could not be opened.
    fn by(error: &StoreError) -> Self {
        match is_passing(error) {
            true => Self::Interrupted(error.to_string()),
            false => Self::Failed(error.to_string()),
        }
    }
}

fn is_passing(error: &StoreError) -> bool {
    matches!(
        error.kind(),
        StoreErrorKind::Unavailable | StoreErrorKind::Gone
    )
}
