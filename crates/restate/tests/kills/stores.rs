//! Files, SQLite and PostgreSQL: the workers are processes that open the store.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cogwork_flow::engine::Entry;
use cogwork_flow::{Flow, Proceeded};
use cogwork_journal::{
    Fork, PostgresStore, RunJournal, RunQuery, RunStatus, Store, StoreError, StoreErrorKind, Worker,
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::Result;
use crate::flow::{ANSWER, Story, flow};
use crate::place::{ForkOf, Order, Place, Record};
use crate::postgres::{Server, store as postgres};
use crate::process::Process;
use crate::witness::{Made, Witness};

const WORKERS: usize = 3;

pub(crate) struct Stores {
    folder: PathBuf,
    store: Store,
    flow: Flow<Story>,
    workers: Vec<Process>,
    server: Option<Server>,
}

impl Stores {
    pub(crate) fn start(place: &str, folder: &Path) -> Result<Self> {
        let server = match place {
            "postgres" => Some(Server::start()?),
            _ => None,
        };
        let address = match &server {
            Some(server) => server.url.clone(),
            None => path(place, folder)?,
        };
        let store = match &server {
            Some(server) => postgres(&server.url)?.into(),
            None => Store::at(&address)?,
        };

        let folder = folder.to_owned();
        let arguments = [place, &address, &folder.to_string_lossy()].map(str::to_owned);
        let arguments = arguments.each_ref().map(String::as_str);
        let workers = (0..WORKERS).map(|_| Process::worker(&arguments));
        Ok(Self {
            flow: flow(&Witness::within(&folder))?,
            workers: workers.collect::<Result<_>>()?,
            folder,
            store,
            server,
        })
    }

    /// Replays a run that has ended. A call that is made here is one that isn't on record.
    async fn replay(&self, run: &str) -> Result<Story> {
        let journal = self.store.resume(run, &self.flow).await?;
        let mut story = journal.state()?;
        let mut execution = self.flow.begin().with_journal(journal);
        execution.finish(&mut story).await?;

        // A kill can leave a part of an event, with which they can still be read.
        self.store.events(run, 0).await?;
        Ok(story)
    }
}

fn path(place: &str, folder: &Path) -> Result<String> {
    let name = match place {
        "files" => "runs",
        "sqlite" => "runs.db",
        _ => {
            let problem = format!(
                "`{place}` isn't a store; expected `files`, `sqlite`, `postgres` or `restate`"
            );
            return Err(problem.into());
        }
    };
    Ok(folder.join(name).to_string_lossy().into_owned())
}

impl Place for Stores {
    const FORKS: bool = true;

    /// Adds the run to a file. The workers start it, so that this is also interrupted by kills.
    async fn order(&self, order: &Order) -> Result<()> {
        let line = serde_json::to_string(order)? + "\n";
        let path = orders_of(&self.folder);
        let mut orders = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(orders.write_all(line.as_bytes())?)
    }

    async fn tend(&self, run: &str) -> Result<Option<Story>> {
        match status(&self.store, run).await? {
            Some(RunStatus::Paused { waits }) => {
                for wait in waits.iter().filter(|wait| wait.until.is_none()) {
                    self.store.deliver(run, &wait.event, &ANSWER).await?;
                }
                Ok(None)
            }
            Some(RunStatus::Ended { .. }) => self.replay(run).await.map(Some),
            _ => Ok(None),
        }
    }

    async fn record(&self, run: &str) -> Result<Record> {
        let entries = match self.store.entries(run, 0..u64::MAX).await {
            Err(error) if error.kind() == StoreErrorKind::Missing => Vec::new(),
            entries => entries?,
        };

        let mut record = Record::new();
        for entry in entries {
            match entry.entry {
                Entry::Outcome { step, outcome } => {
                    let made = Made::find(&step, outcome.as_str());
                    record.extend(made.map(|made| (step, made)));
                }
                Entry::Snapshot(snapshot) => {
                    // The outcomes that it replaces are in the state.
                    let story: Story = snapshot.state.read()?;
                    let used = story.used.into_iter();
                    record.extend(used.map(|made| (made.step().to_owned(), made)));
                }
                _ => {}
            }
        }
        Ok(record)
    }

    fn workers(&mut self) -> &mut [Process] {
        &mut self.workers
    }

    async fn kill_server(&mut self) -> Result<bool> {
        match &self.server {
            Some(server) => server.kill().map(|()| true),
            None => Ok(false),
        }
    }
}

fn orders_of(folder: &Path) -> PathBuf {
    folder.join("orders.jsonl")
}

async fn status(store: &Store, run: &str) -> std::result::Result<Option<RunStatus>, StoreError> {
    let runs = store.query(RunQuery::new().run_id(run)).await?;
    Ok(runs.into_iter().next().map(|run| run.status))
}

/// The program of a worker. It executes all runs that are ordered, until it is killed.
pub(crate) async fn work(place: &str, address: &str, folder: &Path) -> Result<bool> {
    let flow = flow(&Witness::within(folder))?;
    let mut works = JoinSet::new();
    let queue = match place {
        "postgres" => {
            let queue = postgres(address)?;
            let worker = Worker::new(queue.clone()).with_flow(flow.clone());
            let worker = worker.with_poll_interval(Duration::from_millis(50));
            works.spawn(async move {
                worker.run(std::future::pending()).await;
                Ok(())
            });
            Some(queue)
        }
        _ => None,
    };
    let store = match &queue {
        Some(queue) => (**queue).clone(),
        None => Store::at(address)?,
    };

    let mut known = HashSet::new();
    loop {
        let orders = std::fs::read_to_string(orders_of(folder)).unwrap_or_default();
        for line in orders
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
        {
            let order: Order = serde_json::from_str(line)?;
            if known.insert(order.run.clone()) {
                let work = Work {
                    order,
                    flow: flow.clone(),
                    store: store.clone(),
                    queue: queue.clone(),
                };
                works.spawn(work.until_it_ends());
            }
        }

        tokio::select! {
            Some(done) = works.join_next() => done??,
            () = tokio::time::sleep(Duration::from_millis(10)) => {}
        }
    }
}

/// What a worker does for a run.
struct Work {
    order: Order,
    flow: Flow<Story>,
    store: Store,
    /// Where runs are queued, and executed by whoever takes them.
    queue: Option<PostgresStore>,
}

impl Work {
    /// Continues a run whenever it can be continued, and no other worker does.
    async fn until_it_ends(self) -> Result<()> {
        loop {
            match self.proceed().await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) if is_passing(&*error) => {}
                Err(error) => return Err(format!("{}: {error}", self.order.run).into()),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns whether nothing is left to do here.
    async fn proceed(&self) -> Result<bool> {
        let run = &self.order.run;
        match status(&self.store, run).await? {
            Some(RunStatus::Ended { .. }) => return Ok(true),
            Some(RunStatus::Paused { waits }) => {
                let now = SystemTime::now();
                let is_over = |until: SystemTime| until <= now;
                if !waits.iter().any(|wait| wait.until.is_some_and(is_over)) {
                    return Ok(false);
                }
            }
            _ => {}
        }

        if let (Some(queue), None) = (&self.queue, &self.order.fork) {
            return match queue.enqueue(run, &self.flow, &Story::default()).await {
                Err(error) if error.kind() != StoreErrorKind::AlreadyThere => Err(error.into()),
                _ => Ok(true),
            };
        }

        let journal = self.open().await?;
        journal.events().push(json!({"opened": run}).to_string());
        let mut story = journal.state()?;
        let mut execution = self.flow.begin().with_journal(journal);
        if let Some(steps) = NonZeroU64::new(3).filter(|_| self.order.folds) {
            execution = execution.with_fold_every(steps);
        }
        Ok(matches!(
            execution.proceed(&mut story).await?,
            Proceeded::Ended(_)
        ))
    }

    async fn open(&self) -> std::result::Result<RunJournal, StoreError> {
        let Order { run, fork, .. } = &self.order;
        let Some(ForkOf { run: origin, step }) = fork else {
            return self
                .store
                .start_or_resume(run, &self.flow, &Story::default())
                .await;
        };

        let fork = match step {
            Some(step) => Fork::at(*step),
            None => Fork::at_end(),
        };
        let forked = self
            .store
            .fork(origin, &self.flow, fork.with_run_id(run))
            .await;
        match forked {
            Err(error) if error.kind() == StoreErrorKind::AlreadyThere => {
                self.store.resume(run, &self.flow).await
            }
            forked => forked,
        }
    }
}

/// Whether the store cannot be reached, or another worker has the run. It may have died.
fn is_passing(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut sources = std::iter::successors(Some(error), |error| (*error).source());
    sources.any(|error| {
        let error = error.downcast_ref::<StoreError>();
        error.is_some_and(|error| {
            matches!(
                error.kind(),
                StoreErrorKind::InUse | StoreErrorKind::Unavailable | StoreErrorKind::Gone
            )
        })
    })
}
