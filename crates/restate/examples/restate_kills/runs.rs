//! Runs of all workflows, one after the other, until the last kill.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cogwork::flow::Flow;
use cogwork::flow::journal::MemoryJournal;
use cogwork_restate::{Client, ClientError};
use futures_util::future::try_join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::Result;
use crate::cluster::Server;
use crate::record::{self, Record};

pub(crate) struct Runs {
    lanes: Vec<Lane>,
    is_over: Arc<AtomicBool>,
    /// The calls that are made in this process, for comparison.
    _folder: TempDir,
}

struct Lane {
    workflow: &'static str,
    /// The key of the current run.
    current: Arc<Mutex<String>>,
    running: JoinHandle<Result<Vec<String>>>,
}

impl Runs {
    pub(crate) fn start(server: &Server) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let nowhere = &folder.path().to_owned();
        let solver = crate::flows::strategy(nowhere)?;

        let mut runs = Self {
            lanes: Vec::new(),
            is_over: Arc::default(),
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
        let is_over = Arc::clone(&self.is_over);
        let current = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&current);

        let running = tokio::spawn(async move {
            let mut finished = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let key = format!("{workflow}-{}", finished.len());
                key.clone_into(&mut shown.lock().unwrap_or_else(PoisonError::into_inner));
                one(&client, &flow, &key, &begin).await?;
                finished.push(key);
            }
            Ok(finished)
        });

        self.lanes.push(Lane {
            workflow,
            current,
            running,
        });
        Ok(())
    }

    /// Adds what is on record of the current runs, the first time that it is there.
    pub(crate) async fn look(&self, server: &Server, seen: &mut Record) -> Result<()> {
        let records = self.lanes.iter().map(|lane| async move {
            let key = lane
                .current
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            record::of_run(server, lane.workflow, &key).await
        });

        for (key, times) in try_join_all(records).await?.into_iter().flatten() {
            seen.entry(key).or_insert(times);
        }
        Ok(())
    }

    /// Lets the current runs end. Returns all runs, with their workflows.
    pub(crate) async fn finish(self) -> Result<Vec<(&'static str, String)>> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for lane in self.lanes {
            let keys = lane.running.await??;
            all.extend(keys.into_iter().map(|key| (lane.workflow, key)));
        }

        Ok(all)
    }
}

/// Runs a flow on Restate and in this process, and compares the ends.
async fn one<S>(client: &Client, flow: &Flow<S>, key: &str, begin: impl Fn() -> S) -> Result<()>
where
    S: Serialize + DeserializeOwned,
{
    let state = begin();
    again(|| client.start(key, &state)).await?;
    let ended: S = again(|| client.attach(key)).await?;

    let mut undisturbed = begin();
    let run = flow.begin().with_journal(MemoryJournal::new(key));
    { run }.finish(&mut undisturbed).await?;

    let ended = comparable(serde_json::to_value(&ended)?);
    let undisturbed = comparable(serde_json::to_value(&undisturbed)?);
    if ended == undisturbed {
        return Ok(());
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
