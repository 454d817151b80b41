//! A model as a node over any state.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, Flow, RunError};
use cogwork_journal::{FileStore, Store};
use cogwork_llm::{
    Capabilities, Capability, ChatResponse, LlmClient, Message, Role, ScriptedClient,
    ScriptedReply, ToolCall,
};
use cogwork_tools::{Tools, function};
use cogwork_typed::{ChatMemory, Model, ModelNode};
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
async fn the_answer_is_stored_in_the_state() {
    let client = Arc::new(ScriptedClient::new(["Hm.", USABLE]));
    let node = reader(Arc::clone(&client)).with_log(|inbox, log, _| inbox.calls = log.spent.calls);
    let mut state = inbox();

    flow(node).run(&mut state).await.unwrap();

    assert_eq!(state.invoice.unwrap().vendor, "ACME");
    assert_eq!(state.calls, 2);
    let requests = client.requests();
    assert!(
        requests[0]
            .messages()
            .last()
            .unwrap()
            .text()
            .starts_with("Read: ACME")
    );
}

#[tokio::test]
async fn an_error_stops_the_run_and_names_the_node() {
    let node = reader(ScriptedClient::new(["No.", "No.", "No."]));
    let error = flow(node).run(&mut inbox()).await.unwrap_err();

    insta::assert_snapshot!(error, @"flow `inbox`, node `read`: exec failed: no usable answer after 3 replies: line 1: the reply has no JSON object; expected a JSON object with `vendor`, `total`");
}

#[tokio::test]
async fn a_failure_may_be_an_edge() {
    let node = reader(ScriptedClient::new(["No.", "No.", "No."])).with_failure(
        "unreadable",
        |inbox, error| {
            inbox.problem = Some(format!("{} tries", error.tries().len()));
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
    store: &FileStore,
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
    let store = FileStore::new(folder.path());

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

/// The prompt itself counts, too: a request never has more than the memory allows.
#[tokio::test]
async fn long_conversations_stay_bounded_in_requests() {
    let client = Arc::new(ScriptedClient::new(["ok"; 50]));
    let flow = chat(Arc::clone(&client));
    let mut state = Chat {
        memory: ChatMemory::new().with_max_messages(6),
        ..Chat::default()
    };

    for number in 0..50 {
        state.question = format!("question {number}");
        flow.run(&mut state).await.unwrap();
    }

    let longest = client
        .requests()
        .iter()
        .map(|request| request.messages().len())
        .max();
    assert_eq!(longest, Some(8));
}
