//! Tools in a run on record: no recorded call is repeated, and calls wait for a person.

use std::fs;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::{Flow, idempotency_key};
use cogwork_journal::Store;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Role, ScriptedClient,
    ScriptedReply, ToolCall, async_trait,
};
use cogwork_tools::{ToolApproval, Tools, function};
use cogwork_typed::ask::Limits;
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::node::support::{FIRST, LAST, SECOND, cot_error, failure, poll_times, reasoning, wait};
use crate::node::tools::shown;

/// The keys of all calls to the model and to tools, in order.
#[derive(Debug, Clone, Default)]
struct Made(Arc<Mutex<Vec<String>>>);

impl Made {
    fn add(&self) {
        let key = idempotency_key().unwrap_or_default();
        self.0.lock().unwrap().push(key);
    }

    fn keys(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Calls two tools in each turn, and then gives the reply of the turn. Waits in each call.
struct Model(Made);

#[async_trait]
impl LlmClient for Model {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.0.add();
        wait(2).await;

        let thoughts = request.messages().iter().filter(|message| {
            message.role() == Role::Assistant && message.text().starts_with("Thought ")
        });
        // The example contains an earlier thought, too.
        let turn = thoughts.count() - 1;
        let last = request.messages().last().unwrap();
        if last.role() == Role::Tool {
            return Ok(ChatResponse::new([FIRST, SECOND, LAST][turn]));
        }

        let calls =
            ["a", "b"].map(|id| ToolCall::new(id, "log", format!(r#"{{"text": "{id}{turn}"}}"#)));
        Ok(ChatResponse::new("").with_tool_calls(calls))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().with(Capability::Tools)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

/// `log` keeps the key of each call, waits, and returns its input.
fn tools(made: &Made) -> Tools {
    let made = made.clone();
    let log = function("log", "Keeps a text.", move |Text { text }| {
        made.add();
        async move {
            wait(3).await;
            Ok(format!("kept {text}"))
        }
    });

    Tools::new().with(log).unwrap()
}

fn flow(made: &Made) -> Flow<Reasoning> {
    ChainOfThought::new(Model(made.clone()))
        .with_tools(tools(made))
        .into_flow()
}

/// What a run leaves behind, apart from times.
fn thinking(reasoning: &Reasoning) -> Vec<String> {
    let lines = reasoning.thoughts().iter().map(|thought| {
        let trace = &thought.trace;
        let calls = trace.spent.calls + trace.spent.tool_calls;
        let used = shown(&trace.tool_calls);
        format!("{used}\n{}\n{calls} calls", thought.current_thinking)
    });
    lines.collect()
}

fn text_of(folder: &std::path::Path) -> String {
    let files = fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let files = paths.filter(|path| path.is_file());
    files
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

#[tokio::test]
async fn a_run_killed_anywhere_repeats_no_recorded_call() {
    let whole = Made::default();
    let mut expected = reasoning();
    flow(&whole).run(&mut expected).await.unwrap();
    assert_eq!(whole.keys().len(), 12);

    for polls in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::files(folder.path());
        let made = Made::default();
        let flow = flow(&made);

        let journal = store.start("r", &flow, &reasoning()).await.unwrap();
        let mut state: Reasoning = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        let mut ended = false;
        {
            let mut running = pin!(run.finish(&mut state));
            for _ in 0..polls {
                ended = ended || poll_times(running.as_mut(), 1).await.is_some();
                // The record is written on another thread.
                tokio::task::yield_now().await;
                std::thread::yield_now();
            }
        }

        drop(run);
        if ended {
            assert!(polls > 20, "it was dropped in the middle");
            break;
        }

        let journal = store.resume("r", &flow).await.unwrap();
        let on_record = text_of(folder.path());
        let before = made.keys().len();
        let mut state: Reasoning = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut state).await.unwrap();

        assert_eq!(thinking(&state), thinking(&expected));
        for key in &made.keys()[before..] {
            let step = format!("\"{}\"", key.strip_prefix("r:").unwrap());
            assert!(
                !on_record.contains(&step),
                "{key} was made again: {on_record}"
            );
        }

        let mut all = made.keys();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 12);
    }
}

/// A script of a model that wants to delete a file, and then concludes.
fn deleting() -> ScriptedClient {
    let delete =
        |id: &str, path: &str| ToolCall::new(id, "delete", format!(r#"{{"text": "{path}"}}"#));
    let both = [
        delete("a", "/tmp/x"),
        delete("b", "/tmp/y"),
        ToolCall::new("c", "log", r#"{"text": "z"}"#),
    ];
    let calls = ChatResponse::new("").with_tool_calls(both);

    ScriptedClient::new([calls, ChatResponse::new(LAST)])
        .with_capabilities(Capabilities::none().with(Capability::Tools))
}

fn guarded(client: &ScriptedClient, made: &Made) -> ChainOfThought {
    let deleted = made.clone();
    let delete = function("delete", "Deletes a file.", move |Text { text }| {
        deleted.add();
        async move { Ok(format!("deleted {text}")) }
    });
    let tools = tools(made).with(delete).unwrap();

    ChainOfThought::new(client.clone()).with_tools(tools.with_approval(["delete"]).unwrap())
}

/// Each decision may arrive after a restart.
#[tokio::test]
async fn a_call_waits_for_a_person_and_is_made_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let client = deleting();
    let made = Made::default();

    let refused = ToolApproval::refused().with_reason("not that one");
    let mut answers = [ToolApproval::approved(), refused].into_iter();
    let mut questions: Vec<String> = Vec::new();
    let mut event = String::new();

    let answered = loop {
        // Each round is a process of its own.
        let flow = guarded(&client, &made).into_flow();
        let journal = store.start_or_resume("r", &flow, &reasoning()).await;
        let journal = journal.unwrap();
        let mut state: Reasoning = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);

        if !event.is_empty() {
            run.deliver(&event, &answers.next().unwrap()).await.unwrap();
        }

        match run.finish(&mut state).await {
            Ok(_) => break state,
            Err(error) => {
                let paused = error.into_paused().unwrap();
                questions.push(format!("{}: {}", paused.event, paused.why));
                event = paused.event;
            }
        }
    };

    assert_snapshot!(questions.join("\n"), @r#"
    approve delete 1.1 at chain of thought/think#1.1: thought 1 wants to call the tool `delete` with {"text":"/tmp/x"}
    approve delete 1.2 at chain of thought/think#1.1: thought 1 wants to call the tool `delete` with {"text":"/tmp/y"}
    "#);
    let calls = &answered.thoughts()[0].trace.tool_calls;
    assert_snapshot!(shown(calls), @r#"
    delete {"text": "/tmp/x"} → deleted /tmp/x
    delete {"text": "/tmp/y"} ✗ refused by a person: not that one
    log {"text": "z"} → kept z
    "#);

    // The model was called once before and once after, and each tool once.
    assert_eq!((client.requests().len(), made.keys().len()), (2, 2));
}

#[tokio::test]
async fn a_run_that_cannot_wait_makes_no_call_that_needs_approval() {
    let client = deleting();
    let made = Made::default();
    let error = failure(guarded(&client, &made)).await;
    assert_snapshot!(cot_error(&error), @"thought 1: a tool call has to wait for approval: a wait inside `exec` needs a journal; give the run one with `Run::with_journal`, and don't wait in spawned tasks");
    assert!(made.keys().len() <= 1, "only `log` may have been called");
    assert_eq!(cot_error(&error).trace().tool_calls.len(), 3);
}

#[tokio::test]
async fn a_refused_form_is_part_of_the_record() {
    let refused = LlmError::new(LlmErrorKind::InvalidRequest, "no response_format");
    let calls = r#"{"tool_calls": [{"name": "delete", "input": {"text": "x"}}]}"#;
    let script = ScriptedClient::new([refused.with_status(400)]);
    let can = Capabilities::none().with(Capability::JsonMode);
    let client = script.then(calls).then(LAST).with_capabilities(can);
    let flow = guarded(&client, &Made::default()).into_flow();
    let mut reasoning = reasoning();
    let mut run = flow.begin().with_journal(MemoryJournal::new("r"));

    // The node has learnt meanwhile that the server refuses JSON, but the turn began with it.
    let error = run.finish(&mut reasoning).await.unwrap_err();
    let paused = error.into_paused().unwrap();
    run.deliver(&paused.event, &true).await.unwrap();
    run.finish(&mut reasoning).await.unwrap();

    assert_eq!(client.requests().len(), 3);
    let trace = &reasoning.thoughts()[0].trace;
    assert_eq!((trace.refusals.len(), trace.tool_calls.len()), (1, 1));
}

/// Each call takes 40 seconds.
fn slowly_deleting() -> ScriptedClient {
    let call = ToolCall::new("a", "delete", r#"{"text": "x"}"#);
    let calls = ChatResponse::new("").with_tool_calls([call]);
    let replies = [calls, ChatResponse::new(LAST)].map(ScriptedReply::from);
    ScriptedClient::new(replies.map(|reply| reply.after(Duration::from_secs(40))))
        .with_capabilities(Capabilities::none().with(Capability::Tools))
}

#[tokio::test(start_paused = true)]
async fn the_time_of_recorded_calls_counts_in_a_resumed_run() {
    for (seconds, is_enough) in [(81, true), (79, false)] {
        let limits = Limits::default().with_time(Duration::from_secs(seconds));
        let node = guarded(&slowly_deleting(), &Made::default());
        let flow = node.with_limits(limits.with_conclude(false)).into_flow();
        let mut reasoning = reasoning();
        let mut run = flow.begin().with_journal(MemoryJournal::new("r"));

        let error = run.finish(&mut reasoning).await.unwrap_err();
        let paused = error.into_paused().unwrap();
        tokio::time::sleep(Duration::from_secs(1_000)).await;
        run.deliver(&paused.event, &true).await.unwrap();

        let ended = run.finish(&mut reasoning).await;
        assert_eq!(ended.is_ok(), is_enough, "{ended:?}");
        if is_enough {
            assert_eq!(reasoning.spent().time, Duration::from_secs(80));
        }
    }
}
