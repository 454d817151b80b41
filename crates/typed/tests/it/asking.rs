//! Calls to models: forms, complaints, checks, tools and limits.

use std::sync::Arc;

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, ChatResponse, ScriptedClient, ToolCall, ToolChoice, Usage};
use cogwork_tools::{Tools, function};
use cogwork_typed::ask::{Format, Limits};
use cogwork_typed::{AnswerProblemKind, AskErrorKind, Model};
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
struct Invoice {
    /// The company that sent it.
    vendor: String,
    #[schemars(range(min = 0.0))]
    total: f64,
}

const USABLE: &str = r#"{"vendor": "ACME", "total": 120}"#;

fn invoice() -> Invoice {
    Invoice {
        vendor: "ACME".to_owned(),
        total: 120.0,
    }
}

fn with_schemas() -> Capabilities {
    Capabilities::none()
        .with(Capability::JsonSchema)
        .with(Capability::JsonMode)
        .with(Capability::Tools)
}

fn transcript(requests: &[ChatRequest]) -> String {
    let last = requests.last().unwrap();
    last.messages()
        .iter()
        .map(|message| format!("{}: {}\n\n", message.role(), message.text()))
        .collect()
}

#[tokio::test]
async fn an_answer_comes_with_its_log() {
    let reply = ChatResponse::new(USABLE).with_usage(Usage::new(30, 12));
    let client = ScriptedClient::new([reply]);

    let answered = Model::<Invoice>::typed(client)
        .ask("Read it.")
        .await
        .unwrap();

    assert_eq!(answered.value, invoice());
    assert!(answered.repairs.is_empty());
    assert_eq!(answered.log.spent.calls, 1);
    assert_eq!(answered.log.spent.tokens(), 42);
    assert_eq!(answered.log.format, Format::Text);
    assert_eq!(answered.log.tries[0].reply, USABLE);
}

#[tokio::test]
async fn what_does_not_fit_is_asked_for_again_with_place_and_reason() {
    let client = Arc::new(ScriptedClient::new([
        "ACME wants 120.",
        "{\n\"vendor\": \"ACME\",\n\"total\": -1}",
        USABLE,
    ]));
    let model = Model::<Invoice>::typed(Arc::clone(&client)).with_system("You read invoices.");

    let answered = model.ask("Read this invoice.").await.unwrap();

    assert_eq!(answered.value, invoice());
    assert_snapshot!(transcript(&client.requests()));
    assert_eq!(answered.log.tries.len(), 3);
}

#[tokio::test]
async fn a_check_complains_like_the_reader() {
    let client = ScriptedClient::new([
        "{\"vendor\": \"ACME\", \"total\": 130}",
        "{\"vendor\": \"Bolt\", \"total\": 120}",
        USABLE,
    ]);
    let model = Model::<Invoice>::typed(client)
        .with_check(|invoice| match invoice.total > 120.0 {
            true => Err("the total includes the tax; expected it without".to_owned()),
            false => Ok(()),
        })
        .with_async_check(|invoice: Invoice| async move {
            match invoice.vendor.as_str() {
                "ACME" => Ok(()),
                other => Err(format!("there is no vendor `{other}`")),
            }
        });

    let answered = model.ask("Read it.").await.unwrap();

    assert_eq!(answered.value, invoice());
    let tries = answered.log.tries.iter();
    let complaints: Vec<_> = tries.filter_map(|one| one.complaint.as_deref()).collect();
    assert_eq!(
        complaints,
        [
            "the total includes the tax; expected it without",
            "there is no vendor `Bolt`"
        ]
    );
}

#[tokio::test]
async fn a_limit_holds_for_all_calls_together() {
    let reply = |text: &str| ChatResponse::new(text).with_usage(Usage::new(300, 100));
    let client = Arc::new(ScriptedClient::new([reply("no"), reply(USABLE)]));
    let model = Model::<Invoice>::typed(Arc::clone(&client))
        .with_limits(Limits::default().with_tokens(500));

    let error = model.ask("Read it.").await.unwrap_err();

    assert_eq!(error.kind(), AskErrorKind::Limit);
    assert_eq!(error.log().tries.len(), 1);
    assert_snapshot!(error, @"the limit of 500 tokens allows no further call");
    assert!(client.requests()[0].max_tokens().unwrap() < 500);
}

#[derive(Deserialize, JsonSchema)]
struct Rate {
    currency: String,
}

fn tools() -> Tools {
    let rate = function(
        "rate",
        "Returns a rate of exchange.",
        |rate: Rate| async move { Ok(format!("1 {} is 1.1 dollars", rate.currency)) },
    );
    Tools::new().with(rate).unwrap()
}

fn calls_rate() -> ChatResponse {
    ChatResponse::new("").with_tool_calls([ToolCall::new(
        "call_1",
        "rate",
        r#"{"currency": "euro"}"#,
    )])
}

#[tokio::test]
async fn tools_are_called_before_the_answer() {
    let client = ScriptedClient::new([calls_rate(), ChatResponse::new(USABLE)]);
    let client = Arc::new(client.with_capabilities(with_schemas()));

    let answered = Model::<Invoice>::typed(Arc::clone(&client))
        .with_tools(tools())
        .ask("Read it.")
        .await
        .unwrap();

    assert_eq!(answered.value, invoice());
    assert_eq!(answered.log.spent.tool_calls, 1);
    assert_eq!(answered.messages.len(), 3);
    assert_eq!(answered.messages[1].text(), "1 euro is 1.1 dollars");
}

/// Servers that constrain a reply to a schema call no tool, or refuse both at once.
#[tokio::test]
async fn a_format_is_only_requested_instead_of_tools() {
    let replies = [
        calls_rate(),
        ChatResponse::new("Well."),
        ChatResponse::new(USABLE),
    ];
    let client = Arc::new(ScriptedClient::new(replies).with_capabilities(with_schemas()));
    let model = Model::<Invoice>::typed(Arc::clone(&client)).with_tools(tools());
    model.ask("Read it.").await.unwrap();

    let requests = client.requests();
    let formats = requests.iter().map(|request| request.format().is_some());
    assert_eq!(formats.collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(requests[2].tool_choice(), Some(&ToolChoice::None));
    let question = requests[0].messages().last().unwrap();
    assert!(question.text().contains("Its structure: {"));
}

#[tokio::test]
async fn a_model_that_only_announces_a_call_may_still_make_it() {
    let announced = || ChatResponse::new("Let me look up the rate.");
    let replies = [
        announced(),
        calls_rate(),
        announced(),
        ChatResponse::new(USABLE),
    ];
    let client = Arc::new(ScriptedClient::new(replies).with_capabilities(with_schemas()));
    let model = Model::<Invoice>::typed(Arc::clone(&client))
        .with_tools(tools())
        .with_asks_again(2);
    model.ask("Read it.").await.unwrap();

    let requests = client.requests();
    let formats = requests.iter().map(|request| request.format().is_some());
    assert_eq!(formats.collect::<Vec<_>>(), [false, false, false, true]);
}

#[tokio::test]
async fn the_rounds_of_tool_calls_are_bounded() {
    let client = Arc::new(ScriptedClient::new(
        std::iter::repeat_with(calls_rate).take(9),
    ));
    let model = Model::text(Arc::clone(&client))
        .with_tools(tools())
        .with_tool_rounds(2)
        .with_asks_again(1);

    let error = model.ask("How much?").await.unwrap_err();

    assert_eq!(
        error.problem().unwrap().kind(),
        AnswerProblemKind::ToolCalls
    );
    assert!(client.requests().len() <= 5);
    assert!(error.log().spent.tool_calls <= 3);
}

#[tokio::test]
async fn a_call_that_would_have_to_wait_for_a_person_is_not_made() {
    let client = ScriptedClient::new([calls_rate(), ChatResponse::new(USABLE)]);
    let tools = tools().with_approval(["rate"]).unwrap();
    let model = Model::<Invoice>::typed(client).with_tools(tools);
    let error = model.ask("Read it.").await.unwrap_err();

    assert_eq!(error.kind(), AskErrorKind::Tools);
    assert_snapshot!(error, @"a tool call needs a person's approval: a wait inside `exec` needs a journal; give the run one with `Run::with_journal`, and don't wait in spawned tasks");
}

#[tokio::test]
async fn a_text_answer_needs_no_form() {
    let client = Arc::new(ScriptedClient::new(["<think>Hm.</think>\n\nHello."]));
    let answered = Model::text(Arc::clone(&client))
        .ask("Say hello.")
        .await
        .unwrap();

    assert_eq!(answered.value, "Hello.");
    assert_eq!(
        client.requests()[0].messages().last().unwrap().text(),
        "Say hello."
    );
}
