//! Runs of all workflows, one after the other, until the last kill.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cogwork::flow::Flow;
use cogwork::flow::engine::MemoryJournal;
use cogwork_restate::{Client, ClientError};
use futures_util::future::try_join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::Result;
use crate::calls;
use crate::cluster::Server;
use crate::record::{self, Record, Run};

pub(crate) struct Runs {
    lanes: Vec<Lane>,
    is_over: Arc<AtomicBool>,
    calls: PathBuf,
    /// The calls that are made in this process, for comparison.
    _folder: TempDir,
}

struct Lane {
    current: Arc<Mutex<Run>>,
    running: JoinHandle<Result<Finished>>,
}

/// The runs that have ended.
#[derive(Default)]
pub(crate) struct Finished {
    pub(crate) runs: usize,
    /// What is on record of them.
    pub(crate) record: Record,
}

impl Runs {
    pub(crate) fn start(server: &Server, calls: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let nowhere = &folder.path().to_owned();
        let solver = crate::flows::strategy(nowhere)?;

        let mut runs = Self {
            lanes: Vec::new(),
            is_over: Arc::default(),
            calls: calls.to_owned(),
            _folder: folder,
        };
        runs.lane(
            server,
            "Thought",
            crate::flows::thought(nowhere),
            crate::flows::problem,
        )?;
        let begin = solver.clone();
        runs.lane(server, "Strategy", solver.into_flow()?, move || {
            crate::flows::question(&begin)
        })?;
        runs.lane(
            server,
            "Agents",
            crate::flows::agents(nowhere)?,
            crate::flows::topic,
        )?;
        runs.lane(
            server,
            "Survey",
            crate::flows::survey(nowhere)?,
            Default::default,
        )?;
        Ok(runs)
    }

    fn lane<S>(
        &mut self,
        server: &Server,
        workflow: &'static str,
        flow: Flow<S>,
        begin: impl Fn() -> S + Send + Sync + 'static,
    ) -> Result<()>
    where
        S: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let client = Client::new(&server.ingress, workflow)?;
        let server = server.clone();
        let calls = self.calls.clone();
        let is_over = Arc::clone(&self.is_over);
        let current = Arc::<Mutex<Run>>::default();
        let shown = Arc::clone(&current);

        let running = tokio::spawn(async move {
            let mut finished = Finished::default();
            while !is_over.load(Ordering::Relaxed) {
                let key = format!("{workflow}-{}", finished.runs);
                let show = |run: &Run| {
                    let mut current = shown.lock().unwrap_or_else(PoisonError::into_inner);
                    current.clone_from(run);
                };

                let run = one(&client, &flow, key, &begin, show).await?;
                finished.runs += 1;
                finished
                    .record
                    .extend(record_of(&server, &run, &calls).await?);
            }
            Ok(finished)
        });

        self.lanes.push(Lane { current, running });
        Ok(())
    }

    /// Adds what is on record of the current runs, the first time that it is there.
    pub(crate) async fn look(&self, server: &Server, seen: &mut Record) -> Result<()> {
        let records = self.lanes.iter().map(|lane| async move {
            let current = lane.current.lock();
            let run = current.unwrap_or_else(PoisonError::into_inner).clone();
            record::of_run(server, &run).await
        });

        for (key, times) in try_join_all(records).await?.into_iter().flatten() {
            seen.entry(key).or_insert(times);
        }
        Ok(())
    }

    /// Lets the current runs end.
    pub(crate) async fn finish(self) -> Result<Finished> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Finished::default();
        for lane in self.lanes {
            let finished = lane.running.await??;
            all.runs += finished.runs;
            all.record.extend(finished.record);
        }

        Ok(all)
    }
}

/// Returns the record of a run that has ended. Just after a start of the server, its tables don't
/// contain everything yet.
async fn record_of(server: &Server, run: &Run, calls: &Path) -> Result<Record> {
    let prefix = format!("{}:", run.key);
    let mut record = Record::new();

    for _ in 0..100 {
        record = record::of_run(server, run).await?;
        let mut made = calls::read(calls, &prefix)?.into_keys();
        if made.all(|key| record.contains_key(&key)) {
            return Ok(record);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    eprintln!("calls of {} aren't on record after 10 seconds", run.key);
    Ok(record)
}

/// Runs a flow on Restate and in this process, and compares the ends.
async fn one<S>(
    client: &Client,
    flow: &Flow<S>,
    key: String,
    begin: impl Fn() -> S,
    show: impl Fn(&Run),
) -> Result<Run>
where
    S: Serialize + DeserializeOwned,
{
    let state = begin();
    let started = again(|| client.start(&key, &state)).await?;
    let run = Run {
        key,
        invocation_id: started.invocation_id,
    };
    show(&run);

    let key = run.key.as_str();
    let ended: S = again(|| client.attach(key)).await?;

    let mut undisturbed = begin();
    let here = flow.begin().with_journal(MemoryJournal::new(key));
    { here }.finish(&mut undisturbed).await?;

    let ended = comparable(serde_json::to_value(&ended)?);
    let undisturbed = comparable(serde_json::to_value(&undisturbed)?);
    if ended == undisturbed {
        return Ok(run);
    }

    eprintln!("{key} ended with {ended}, and without kills with {undisturbed}");
    Err(format!("{key} ended differently from a run that nobody killed").into())
}

/// Repeats a request while the server is down.
async fn again<T, F>(request: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = std::result::Result<T, ClientError>>,
{
    loop {
        match request().await {
            Ok(answer) => return Ok(answer),
            Err(ClientError::Refused { status, .. }) if status > 500 => {}
            Err(error) if error.is_unreachable() => {}
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Removes what depends on how long calls took and how often they were made.
fn comparable(state: Value) -> Value {
    let varies = ["seconds", "times", "usage", "bytes", "estimated_tokens"];

    match state {
        Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.filter(|(name, _)| !varies.contains(&name.as_str()));
            fields
                .map(|(name, value)| (name, comparable(value)))
                .collect()
        }
        Value::Array(values) => values.into_iter().map(comparable).collect(),

        // The result of a tool.
        Value::String(text) => text.split("\"times\":").next().unwrap_or_default().into(),
        value => value,
    }
}
