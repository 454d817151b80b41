//! The cases for all engines. Each run is a workflow of its own, since the suite counts its
//! calls in its flow; `keys` has runs with hostile keys in one workflow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cogwork_flow::{BoxError, Flow};
use cogwork_journal::conformance::{Attempt, State, Stopped, TestedEngine, check_engine};
use cogwork_journal::{StoreError, StoreErrorKind};
use cogwork_restate::{Client, ClientError, RunProgress, Workflow};
use serde_json::value::RawValue;

use crate::support::server::{Server, server};
use crate::support::unique;
use crate::support::worker::{Worker, endpoint};

fn engine() -> Option<OnRestate> {
    let server = server()?;
    Some(OnRestate {
        server,
        runs: Mutex::default(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_promise_is_kept() {
    if engine().is_none() {
        return;
    }

    let report = check_engine(|| engine().unwrap()).await;
    println!("{report}");
    assert!(report.failed().is_empty(), "{report}");
}

const POLL: Duration = Duration::from_millis(20);

/// How long the progress of a run has to stay the same until the run counts as waiting. Some time
/// passes between the delivery of an answer and its use.
const SETTLED: Duration = Duration::from_millis(1_000);

struct OnRestate {
    server: Server,
    runs: Mutex<HashMap<String, Served>>,
}

/// A run, and the worker that serves its flow.
struct Served {
    name: String,
    client: Client,
    flow: Arc<Flow<State>>,
    port: u16,
    /// `None` after a crash.
    worker: Option<Worker>,
    /// The flow with which the run began.
    first: Arc<Flow<State>>,
}

impl Served {
    fn endpoint(&self) -> cogwork_restate::restate_sdk::endpoint::Endpoint {
        let workflow = Workflow::new(&self.name, Arc::clone(&self.flow)).unwrap();
        endpoint(workflow)
    }

    /// Starts a worker for this flow, unless it is running.
    fn serve(&mut self, flow: &Arc<Flow<State>>) {
        if !Arc::ptr_eq(&self.flow, flow) {
            self.crash();
            self.flow = Arc::clone(flow);
        }
        if self.worker.is_none() {
            self.worker = Some(Worker::start_at(self.port, self.endpoint()));
        }
    }

    fn crash(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.kill();
        }
    }
}

/// Kills the worker of a run unless the attempt stopped by itself.
struct Process<'e> {
    engine: &'e OnRestate,
    run_id: String,
    has_stopped: bool,
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        if self.has_stopped {
            return;
        }
        if let Some(run) = self.engine.runs.lock().unwrap().get_mut(&self.run_id) {
            run.crash();
        }
    }
}

fn refused(error: ClientError) -> StoreError {
    let kind = match &error {
        ClientError::Refused { status: 404, .. } => StoreErrorKind::UnknownEvent,
        ClientError::Refused { status: 410, .. } => StoreErrorKind::Ended,
        _ => StoreErrorKind::Other,
    };
    StoreError::new(kind, error)
}

impl OnRestate {
    /// Serves a run, and returns its client.
    fn serve(&self, run_id: &str, flow: Option<&Arc<Flow<State>>>) -> Option<Client> {
        let mut runs = self.runs.lock().unwrap();
        let run = runs.get_mut(run_id)?;
        let flow = flow.map_or_else(|| Arc::clone(&run.flow), Arc::clone);
        run.serve(&flow);
        Some(run.client.clone())
    }

    async fn start(&self, attempt: &Attempt) -> Result<(), StoreError> {
        let name = unique("Case");
        let mut run = Served {
            client: self.server.client(&name),
            name,
            flow: Arc::clone(&attempt.flow),
            port: 0,
            worker: None,
            first: Arc::clone(&attempt.flow),
        };

        let worker = Worker::start(run.endpoint());
        run.port = worker.port;
        self.server.register(run.port).await;
        let started = run.client.start(&attempt.run_id, &attempt.input).await;
        started.map_err(refused)?;

        run.worker = Some(worker);
        let run_id = attempt.run_id.clone();
        self.runs.lock().unwrap().insert(run_id, run);
        Ok(())
    }

    async fn until_stopped(&self, run_id: &str, client: &Client) -> Result<Stopped, StoreError> {
        let mut last = RunProgress::default();
        let mut since = Instant::now();

        loop {
            self.check_flow(run_id).await?;
            let progress = client.progress(run_id).await.map_err(refused)?;
            let progress = progress.unwrap_or_default();
            if progress != last {
                last = progress;
                since = Instant::now();
            }

            if last.is_over() {
                return Ok(end(client.attach(run_id).await, last.steps));
            }
            if let Some(waits_for) = &last.waits_for
                && since.elapsed() > SETTLED
            {
                return Ok(Stopped::Waiting {
                    event: waits_for.event.clone(),
                    until: None,
                });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Returns an error if Restate couldn't continue the run, because its flow has changed.
    async fn check_flow(&self, run_id: &str) -> Result<(), StoreError> {
        let name = {
            let runs = self.runs.lock().unwrap();
            let run = &runs[run_id];
            if Arc::ptr_eq(&run.flow, &run.first) {
                return Ok(());
            }
            run.name.clone()
        };

        let query = format!(
            "select last_failure from sys_invocation where target_service_name = '{name}' and target_handler_name = 'run'"
        );
        let rows = self.server.query(&query).await;
        let failure = rows.first().and_then(|row| row["last_failure"].as_str());
        match failure {
            Some(failure) if failure.contains("different flow") => {
                Err(StoreError::new(StoreErrorKind::AnotherFlow, failure))
            }
            _ => Ok(()),
        }
    }
}

fn end(attached: Result<State, ClientError>, steps: u64) -> Stopped {
    match attached {
        Ok(state) => Stopped::Ended { state, steps },
        Err(error) if error.is_cancelled() => Stopped::Cancelled,
        Err(error) => Stopped::Failed {
            error: error.to_string(),
        },
    }
}

#[async_trait]
impl TestedEngine for OnRestate {
    fn can_drop_anywhere(&self) -> bool {
        // The run isn't a future of this process.
        false
    }

    async fn proceed(&self, attempt: Attempt) -> Result<Stopped, StoreError> {
        let run_id = &attempt.run_id;
        let mut process = Process {
            engine: self,
            run_id: run_id.clone(),
            has_stopped: false,
        };

        let client = match self.serve(run_id, Some(&attempt.flow)) {
            Some(client) => client,
            None => {
                self.start(&attempt).await?;
                self.serve(run_id, None).unwrap()
            }
        };
        let stopped = self.until_stopped(run_id, &client).await;
        process.has_stopped = true;
        stopped
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), StoreError> {
        let missing = || StoreError::new(StoreErrorKind::Missing, "there is no such run");
        let client = self.serve(run_id, None).ok_or_else(missing)?;
        let answer = RawValue::from_string(answer.to_owned()).unwrap();
        let delivered = client.deliver(run_id, event, &answer).await;
        delivered.map_err(refused)
    }

    async fn cancel(&self, run_id: &str) -> Result<bool, BoxError> {
        let client = self.serve(run_id, None).ok_or("there is no such run")?;
        match client.cancel(run_id).await? {
            true => Ok(true),
            false => Err("the run has ended".into()),
        }
    }
}
