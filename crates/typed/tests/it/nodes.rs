//! A model as a node over any state.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::{Action, Backoff, Flow, Node, RunError};
use cogwork_journal::Store;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, Role, ScriptedClient, ScriptedReply,
    ToolCall, Usage,
};
use cogwork_tools::{Tools, function};
use cogwork_typed::ask::{Limits, Spent};
use cogwork_typed::{AskError, AskErrorKind, ChatMemory, Model, ModelNode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Invoice {
    vendor: String,
    total: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Inbox {
    mail: String,
    invoice: Option<Invoice>,
    problem: Option<String>,
    calls: u32,
}

const USABLE: &str = r#"{"vendor": "ACME", "total": 120}"#;

fn inbox() -> Inbox {
    Inbox {
        mail: "ACME, 120 €".to_owned(),
        ..Inbox::default()
    }
}

fn reader(client: impl LlmClient + 'static) -> ModelNode<Inbox, Invoice> {
    Model::<Invoice>::typed(client).node(
        |inbox: &Inbox| format!("Read: {}", inbox.mail),
        |inbox, invoice| inbox.invoice = Some(invoice),
    )
}

fn flow(node: ModelNode<Inbox, Invoice>) -> Flow<Inbox> {
    Flow::builder("inbox")
        .start("read")
        .node("read", node)
        .end("read", "default")
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_second_model_answers_when_the_first_one_fails() {
    let down = ScriptedClient::default().then(LlmError::new(LlmErrorKind::Transport, "no key"));
    let second = reader(ScriptedClient::new([USABLE]));
    let node = reader(down)
        .with_log(|inbox, log, _| inbox.calls = log.spent.calls)
        .fallback_with(Arc::new(second), |second, question, _error| async move {
            second.exec(&question).await
        });

    let mut inbox = inbox();
    let flow = Flow::from_node("read", node).unwrap();
    flow.run(&mut inbox).await.unwrap();
    assert_eq!(inbox.invoice.unwrap().vendor, "ACME");
    assert_eq!(inbox.calls, 2);
}

/// Each attempt makes two calls, and the second attempt is answered.
#[tokio::test(start_paused = true)]
async fn the_cost_includes_attempts_that_failed() {
    let slow = |text: &str| ScriptedReply::from(text).after(Duration::from_secs(7));
    let client = ScriptedClient::default()
        .then(slow("Hm."))
        .then(LlmError::new(LlmErrorKind::Transport, "no route"))
        .then(slow("Hm."))
        .then(USABLE);

    let spent = Arc::new(Mutex::new(Spent::default()));
    let observed = Arc::clone(&spent);
    let node = reader(client)
        .with_log(move |_, log, _| *observed.lock().unwrap() = log.spent)
        .retry(Backoff::fixed::<2>(Duration::from_secs(60)));

    let flow = Flow::from_node("read", node).unwrap();
    flow.run(&mut inbox()).await.unwrap();

    let spent = *spent.lock().unwrap();
    assert_eq!(spent.calls, 4);
    assert_eq!(spent.time, Duration::from_secs(14));
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_for_all_attempts() {
    let usage = Usage::new(1_000, 1_000);
    let useless = ChatResponse::new("Hm.").with_usage(usage);
    let client = Arc::new(ScriptedClient::new([
        useless.clone(),
        useless.clone(),
        useless,
    ]));

    let model = Model::<Invoice>::typed(Arc::clone(&client))
        .with_asks_again(0)
        .with_limits(Limits::default().with_tokens(4_000));
    let node = model
        .node(
            |_: &Inbox| "Read.",
            |inbox: &mut Inbox, invoice| inbox.invoice = Some(invoice),
        )
        .retry(Backoff::fixed::<3>(Duration::from_secs(1)));

    let flow = Flow::from_node("read", node).unwrap();
    let error = flow.run(&mut inbox()).await.unwrap_err();
    let error = error.downcast_ref::<AskError>().unwrap();

    assert_eq!(error.kind(), AskErrorKind::Limit);
    assert_eq!(error.log().spent.tokens(), 4_000);
    assert_eq!(client.requests().len(), 2);
}

#[tokio::test]
async fn a_failure_may_be_an_edge() {
    let node = reader(ScriptedClient::new(["No.", "No.", "No."])).with_failure(
        "unreadable",
        |inbox, error| {
            inbox.problem = Some(format!("{} tries", error.log().tries.len()));
        },
    );
    let flow = Flow::builder("inbox")
        .start("read")
        .node("read", node)
        .end("read", "default")
        .end("read", "unreadable")
        .build()
        .unwrap();
    let mut state = inbox();

    let ended = flow.run(&mut state).await.unwrap();

    assert_eq!(ended.action.as_str(), "unreadable");
    assert_eq!(state.problem.as_deref(), Some("3 tries"));
}

#[tokio::test]
async fn the_answer_may_choose_the_edge() {
    let node = Model::<Invoice>::typed(ScriptedClient::new([USABLE]))
        .node(
            |inbox: &Inbox| inbox.mail.clone(),
            |inbox, invoice: Invoice| {
                let size = if invoice.total > 100.0 {
                    "large"
                } else {
                    "small"
                };
                inbox.invoice = Some(invoice);
                size
            },
        )
        .with_actions(["large", "small"]);
    let flow = Flow::builder("inbox")
        .start("read")
        .node("read", node)
        .end("read", "large")
        .end("read", "small")
        .build()
        .unwrap();

    assert_eq!(
        flow.run(&mut inbox()).await.unwrap().action.as_str(),
        "large"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Rate {
    currency: String,
}

fn calls_rate() -> ChatResponse {
    let call = ToolCall::new("call_1", "rate", r#"{"currency": "euro"}"#);
    ChatResponse::new("").with_tool_calls([call])
}

fn with_tools() -> Capabilities {
    Capabilities::none().with(Capability::Tools)
}

async fn program(
    store: &Store,
    client: impl LlmClient + 'static,
    tools: Tools,
) -> Result<Inbox, RunError> {
    let node = Model::<Invoice>::typed(client).with_tools(tools).node(
        |inbox: &Inbox| inbox.mail.clone(),
        |inbox, invoice| inbox.invoice = Some(invoice),
    );
    let flow = flow(node);
    let journal = store.start_or_resume("r", &flow, &inbox()).await.unwrap();
    let mut state = journal.state().unwrap();

    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.map(|_| state)
}

#[tokio::test]
async fn a_run_that_crashed_repeats_no_call() {
    let made = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let tools = || {
        let made = Arc::clone(&made);
        let rate = function("rate", "A rate of exchange.", move |rate: Rate| {
            made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            async move { Ok(format!("1 {}", rate.currency)) }
        });
        Tools::new().with(rate).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());

    // The third reply never comes: there the process ends.
    let hung = ScriptedReply::from("").after(Duration::MAX);
    let first = ScriptedClient::new([calls_rate(), ChatResponse::new("Hm.")])
        .then(hung)
        .with_capabilities(with_tools());
    {
        let mut running = pin!(program(&store, first.clone(), tools()));
        while first.requests().len() < 3 {
            tokio::select! {
                biased;
                _ = &mut running => panic!("the last reply never comes"),
                () = tokio::task::yield_now() => {}
            }
        }
    }

    let second = ScriptedClient::new([USABLE]).with_capabilities(with_tools());
    let state = program(&store, second.clone(), tools()).await.unwrap();

    assert_eq!(state.invoice.unwrap().vendor, "ACME");
    assert_eq!(second.requests().len(), 1);
    assert_eq!(made.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(
        first.requests()[2].messages(),
        second.requests()[0].messages()
    );

    // A run that is over is read from the record alone.
    let none = ScriptedClient::new(Vec::<&str>::new());
    assert!(program(&store, none, tools()).await.is_ok());
}

#[derive(Debug, Default)]
struct Chat {
    question: String,
    answer: String,
    memory: ChatMemory,
}

fn chat(client: impl LlmClient + 'static) -> Flow<Chat> {
    let rate = function("rate", "A rate of exchange.", |rate: Rate| async move {
        Ok(format!("1 {}", rate.currency))
    });
    let node = Model::text(client)
        .with_system("Be brief.")
        .with_tools(Tools::new().with(rate).unwrap())
        .node(
            |chat: &Chat| chat.question.clone(),
            |chat, answer| chat.answer = answer,
        )
        .with_memory(|chat| &mut chat.memory);

    Flow::builder("chat")
        .start("reply")
        .node("reply", node)
        .end("reply", Action::DEFAULT)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_conversation_is_kept_in_the_state() {
    let replies = [
        ChatResponse::new("Hello Ann."),
        calls_rate(),
        ChatResponse::new("One euro."),
        ChatResponse::new("You are Ann."),
    ];
    let client = Arc::new(ScriptedClient::new(replies).with_capabilities(with_tools()));
    let flow = chat(Arc::clone(&client));
    let mut state = Chat::default();

    for question in ["I am Ann.", "How much is it?", "Who am I?"] {
        state.question = question.to_owned();
        flow.run(&mut state).await.unwrap();
    }

    assert_eq!(state.answer, "You are Ann.");
    let last = client.requests().pop().unwrap();
    let seen: Vec<String> = last
        .messages()
        .iter()
        .map(|message| format!("{}: {}", message.role(), message.text()))
        .collect();
    insta::assert_debug_snapshot!(seen);
    assert_eq!(state.memory.messages().len(), 8);
}

#[test]
fn a_memory_is_bounded_by_messages_and_tokens() {
    let exchange = |number: usize| {
        let call = ToolCall::new(format!("call_{number}"), "rate", "{}");
        [
            Message::user(format!("question {number}")),
            Message::assistant("").with_tool_calls([call.clone()]),
            Message::tool_result(&call, "1"),
            Message::assistant(format!("answer {number}")),
        ]
    };

    let mut by_count = ChatMemory::new().with_max_messages(10);
    let mut by_tokens = ChatMemory::new().with_max_tokens(40);
    for number in 0..20 {
        by_count.extend(exchange(number));
        by_tokens.extend(exchange(number));
        assert!(by_count.messages().len() <= 10);
    }

    for memory in [&by_count, &by_tokens] {
        let messages = memory.messages();
        assert_eq!(messages[0].role(), Role::User);
        assert_eq!(messages.len() % 4, 0);
        assert_eq!(messages.last().unwrap().text(), "answer 19");
    }
    assert_eq!(by_count.messages().len(), 8);
    assert!(by_tokens.messages().len() < 20);

    // The last exchange stays, however long it is.
    let mut tight = ChatMemory::new().with_max_messages(1);
    tight.extend(exchange(1));
    assert_eq!(tight.messages().len(), 4);
}
