//! The flows that the studio starts and resumes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cogwork::agents::{FlowState, Loader};
use cogwork::async_trait;
use cogwork::cot::{ChainOfThought, Reasoning, ReasoningEvent};
use cogwork::flow::journal::Journal as _;
use cogwork::flow::{Action, EventKind, Events, Flow, Wait, events, from_fn};
use cogwork::journal::{RunJournal, Store};
use cogwork_quickstart::RuleBasedClient;
use cogwork_studio::{FlowError, Flows, ForkChoices, ForkRequest, Piece, Pieces};
use cogwork_trace::{RecorderSettings, RunRecorder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Result;

/// The name of the flow that answers a question by a chain of thought.
pub const TRAIN: &str = "chain of thought";

/// The name of the flow that asks whether to refund an order.
pub const REFUND: &str = "refund";

/// A flow in a file, with an agent and a question.
const REVIEW: &str = "
name: review
nodes:
  - id: writer
    type: agent
    config: {provider: rules, rules: [], else: The sea is a grey door that nobody closes., prompt: '{input}'}
  - id: review
    type: wait
    config: {reason: 'Publish this? {writer}', actions: [yes, no]}
edges:
  - {from: writer, to: review}
  - {from: review, action: yes, to: end}
  - {from: review, action: no, to: writer}
";

/// An order whose refund is decided by a person.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Refund {
    /// What was ordered.
    pub order: String,
    /// The decision.
    pub decision: Value,
}

/// Three flows, each of whose runs is recorded. Clones share their runs.
#[derive(Clone)]
pub struct OfferedFlows {
    train: Flow<Reasoning>,
    refund: Flow<Refund>,
    review: Flow<FlowState>,
    running: Arc<Mutex<HashMap<String, Pieces>>>,
}

impl OfferedFlows {
    /// Creates the flows.
    ///
    /// # Errors
    ///
    /// Returns an error if a flow is wrong.
    pub fn new() -> Result<Self> {
        let client = RuleBasedClient::new().with_delay(Duration::from_millis(400));
        Ok(Self {
            train: ChainOfThought::new(client).into_flow(),
            refund: refund()?,
            review: Loader::new().load_text("review.yaml", REVIEW)?.into_flow(),
            running: Arc::default(),
        })
    }

    /// Starts a run with an id, and returns when it has ended, failed or waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be started.
    pub async fn finish(&self, store: &Store, flow: &str, id: &str, input: &str) -> Result<()> {
        let running = self.begin(store, flow, id, input).await?;
        running.await?;
        Ok(())
    }

    /// Starts a run with an id, which continues in a task.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be started.
    pub async fn begin(
        &self,
        store: &Store,
        flow: &str,
        id: &str,
        input: &str,
    ) -> std::result::Result<tokio::task::JoinHandle<()>, FlowError> {
        match flow {
            TRAIN => {
                let state = Reasoning::new(input);
                let journal = store.start(id, &self.train, &state).await?;
                self.execute(&self.train, journal)
            }
            REFUND => {
                let state = Refund {
                    order: input.to_owned(),
                    decision: Value::Null,
                };
                let journal = store.start(id, &self.refund, &state).await?;
                self.execute(&self.refund, journal)
            }
            "review" => {
                let state = FlowState::new(input);
                let journal = store.start(id, &self.review, &state).await?;
                self.execute(&self.review, journal)
            }
            _ => Err(FlowError::Unknown),
        }
    }

    /// Executes a run in a task.
    fn execute<S>(
        &self,
        flow: &Flow<S>,
        journal: RunJournal,
    ) -> std::result::Result<tokio::task::JoinHandle<()>, FlowError>
    where
        S: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let run_id = journal.run_id().to_owned();
        let mut state: S = journal.state().map_err(failed)?;
        let recorder = RunRecorder::new(journal.events(), RecorderSettings::default());
        let pieces = Pieces::new();
        self.running().insert(run_id.clone(), pieces.clone());

        let flow = flow.clone();
        let flows = self.clone();
        Ok(tokio::spawn(async move {
            let (sink, told) = events(10_000);
            let mut run = flow.begin().with_journal(journal).with_events(&recorder);
            run = run.with_events(sink);

            let finished = async {
                // Whether it ended, failed or waits is on record.
                let _ = run.finish(&mut state).await;
                drop(run);
            };
            tokio::join!(finished, watch(told, &pieces));
            let _ = recorder.flush().await;
            flows.running().remove(&run_id);
        }))
    }

    async fn begin_fork<S>(
        &self,
        flow: &Flow<S>,
        store: &Store,
        run_id: &str,
        request: &ForkRequest,
    ) -> std::result::Result<String, FlowError>
    where
        S: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let journal = request.start(store, run_id, flow).await?;
        let fork = journal.run_id().to_owned();
        self.execute(flow, journal)?;
        Ok(fork)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Pieces>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Flows for OfferedFlows {
    fn names(&self) -> Vec<String> {
        [TRAIN, REFUND, "review"].map(str::to_owned).to_vec()
    }

    async fn start(
        &self,
        store: &Store,
        flow: &str,
        input: &str,
    ) -> std::result::Result<String, FlowError> {
        let id = format!("{flow} of a person");
        self.begin(store, flow, &id, input).await?;
        Ok(id)
    }

    async fn resume(
        &self,
        store: &Store,
        flow: &str,
        run_id: &str,
    ) -> std::result::Result<(), FlowError> {
        match flow {
            TRAIN => self.execute(&self.train, store.resume(run_id, &self.train).await?),
            REFUND => self.execute(&self.refund, store.resume(run_id, &self.refund).await?),
            "review" => self.execute(&self.review, store.resume(run_id, &self.review).await?),
            _ => Err(FlowError::Unknown),
        }
        .map(drop)
    }

    async fn fork(
        &self,
        store: &Store,
        flow: &str,
        run_id: &str,
        request: &ForkRequest,
    ) -> std::result::Result<String, FlowError> {
        match flow {
            TRAIN => self.begin_fork(&self.train, store, run_id, request).await,
            REFUND => self.begin_fork(&self.refund, store, run_id, request).await,
            "review" => self.begin_fork(&self.review, store, run_id, request).await,
            _ => Err(FlowError::Unknown),
        }
    }

    async fn fork_choices(
        &self,
        store: &Store,
        flow: &str,
        run_id: &str,
        at: u64,
    ) -> std::result::Result<ForkChoices, FlowError> {
        match flow {
            TRAIN => ForkChoices::of(store, run_id, &self.train, at).await,
            REFUND => ForkChoices::of(store, run_id, &self.refund, at).await,
            "review" => ForkChoices::of(store, run_id, &self.review, at).await,
            _ => Err(FlowError::Unknown),
        }
    }

    fn can_fork(&self) -> bool {
        true
    }

    fn pieces(&self, run_id: &str) -> Option<Pieces> {
        self.running().get(run_id).cloned()
    }
}

/// Returns the flow that asks, with a field of each kind.
fn refund() -> Result<Flow<Refund>> {
    let schema = json!({
        "type": "object",
        "title": "Decision",
        "required": ["granted", "amount", "reason"],
        "properties": {
            "granted": {"type": "boolean", "title": "Grant the refund?"},
            "amount": {"type": "integer", "minimum": 1, "maximum": 40, "title": "Amount in euros"},
            "reason": {"enum": ["damaged", "late", "other"], "title": "Reason"},
            "note": {"type": "string", "title": "Note", "description": "The customer reads this."},
            "items": {"type": "array", "items": {"type": "string", "maxLength": 40}, "title": "Items"},
        },
    });
    let wait = Wait::for_event("decision", |refund: &mut Refund, decision: Value| {
        refund.decision = decision;
    });
    let wait = wait
        .with_schema(schema)
        .with_reason(|refund| format!("A refund of {} needs a person.", refund.order));

    let flow = Flow::builder(REFUND)
        .start("check")
        .node("check", from_fn(|_: &mut Refund| ()))
        .wait("ask", wait)
        .edge("check", Action::DEFAULT, "ask")
        .end("ask", Action::DEFAULT)
        .build()?;
    Ok(flow)
}

/// Passes the growing thoughts on.
async fn watch(mut events: Events, pieces: &Pieces) {
    while let Some(event) = events.next().await {
        let EventKind::Reported { report } = &event.kind else {
            continue;
        };
        let Some(ReasoningEvent::Thinking { text, is_start, .. }) = report.downcast_ref() else {
            continue;
        };

        pieces.send(Piece {
            step: event
                .step
                .as_deref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            text: text.to_string(),
            is_start: *is_start,
        });
    }
}

fn failed(error: impl std::fmt::Display) -> FlowError {
    FlowError::Failed(error.to_string())
}
