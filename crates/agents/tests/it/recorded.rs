//! Agents in runs with a journal: no recorded reply and no recorded result is asked for again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use cogwork_agents::{Agent, FlowState};
use cogwork_flow::watch::{Event, EventKind, Events, events};
use cogwork_flow::{Flow, idempotency_key};
use cogwork_journal::Store;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Role};
use cogwork_thinking::{Reflection, async_trait};
use cogwork_tools::{ToolError, Tools, function};

use crate::support::{City, calls, flow_of};

/// The keys of the calls that were made.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<Vec<String>>>);

impl Made {
    async fn call(&self) {
        self.0.lock().unwrap().push(idempotency_key().unwrap());
        tokio::task::yield_now().await;
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A model whose replies depend on nothing but the conversation.
struct Model {
    made: Made,
}

#[async_trait]
impl LlmClient for Model {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.made.call().await;
        let messages = request.messages();
        let last = messages.last().unwrap().text();
        let results = messages
            .iter()
            .filter(|message| message.role() == Role::Tool);
        let results = results.count();

        Ok(match results {
            _ if last.contains("ACTION: <label>") => ChatResponse::new("ACTION: go"),
            _ if last.contains("Be brief.") => ChatResponse::new("Umbrella."),
            0 => calls(&["Bergen", "Oslo"]),
            2 => calls(&["Rome"]),
            _ => ChatResponse::new("Take an umbrella."),
        })
    }
}

fn flow(made: &Made) -> Flow<FlowState> {
    let counted = made.clone();
    let weather = function("weather", "The weather.", move |City { city }| {
        let made = counted.clone();
        async move {
            made.call().await;
            match city.as_str() {
                "Oslo" => Err(ToolError::failed("no such city")),
                _ => Ok(format!("Rain in {city}.")),
            }
        }
    });

    let model = Model { made: made.clone() };
    let agent = Agent::new("a", model)
        .with_tools(Tools::new().with(weather).unwrap())
        .with_mode(Reflection::new("Be brief."))
        .with_actions(["go", "stay"]);

    flow_of(agent)
}

/// Runs until the future was polled so often. Returns the state if the run has ended.
async fn run(
    store: &Store,
    run_id: &str,
    flow: &Flow<FlowState>,
    mut polls: usize,
) -> (Option<FlowState>, Vec<String>) {
    let (sink, stream) = events(1_000);
    let input = FlowState::new("Umbrella?");
    let journal = store.start_or_resume(run_id, flow, &input).await.unwrap();
    let mut state: FlowState = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal).with_events(sink);

    let ended = {
        let mut running = std::pin::pin!(run.finish(&mut state));
        std::future::poll_fn(|context| {
            polls -= 1;
            match running.as_mut().poll(context) {
                Poll::Pending if polls == 0 => Poll::Ready(false),
                polled => polled.map(|ended| ended.is_ok()),
            }
        })
        .await
    };

    drop(run);
    (ended.then_some(state), replayed(stream).await)
}

/// The keys of the calls whose outcomes were taken from the record.
async fn replayed(mut stream: Events) -> Vec<String> {
    let mut keys = Vec::new();
    while let Some(event) = stream.next().await {
        if let Event {
            run,
            step: Some(step),
            kind: EventKind::Replayed,
            ..
        } = event
        {
            keys.push(format!("{run}:{step}"));
        }
    }

    keys
}

#[tokio::test]
async fn a_visit_dropped_anywhere_repeats_no_recorded_call() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let made = Made::default();
    let flow = flow(&made);
    let (undisturbed, _) = run(&store, "whole", &flow, usize::MAX).await;
    let undisturbed = undisturbed.unwrap();
    let all = made.take().len();
    assert_eq!(all, 8, "five replies and three results");
    assert_eq!(undisturbed.last().text, "Umbrella.");
    assert_eq!(undisturbed.last().tools.len(), 3);

    for polls in 1.. {
        let run_id = format!("run {polls}");
        let (ended, _) = run(&store, &run_id, &flow, polls).await;
        let before: BTreeSet<_> = made.take().into_iter().collect();
        if ended.is_some() {
            assert!(polls > 10, "it was dropped in the middle");
            return;
        }

        let (ended, replayed) = run(&store, &run_id, &flow, usize::MAX).await;
        let after = made.take();
        let ended = ended.unwrap();
        assert_eq!(ended.last().text, undisturbed.last().text);
        assert_eq!(ended.last().tools, undisturbed.last().tools);
        assert_eq!(ended.last().calls, undisturbed.last().calls);
        if replayed == [format!("{run_id}:flow/a#1")] {
            assert_eq!(after.len(), 0);
            continue;
        }

        assert_eq!(replayed.len() + after.len(), all);
        assert!(replayed.iter().all(|key| before.contains(key)));
        assert!(replayed.iter().all(|key| !after.contains(key)));

        let in_progress = before.len() - replayed.len();
        assert!(in_progress <= 2, "{in_progress} calls are repeated");
    }
}
