//! An agent over the state of a program: a role, tools, a typed answer.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_agents::{Agent, AgentError};
use cogwork_flow::{Action, Flow, RunError};
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatResponse, ReplyFormat, ScriptedClient, ToolCall};
use cogwork_tools::{Tools, function};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Decision {
    /// Whether the money is paid back.
    refund: bool,
    letter: String,
}

#[derive(Default)]
struct Ticket {
    text: String,
    decision: Option<Decision>,
    looked_up: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    number: u32,
}

fn orders() -> Tools {
    let look = |Order { number }| async move { Ok(format!("order {number}: a cup")) };
    Tools::new()
        .with(function("look", "Looks an order up.", look))
        .unwrap()
}

fn looks() -> ChatResponse {
    ChatResponse::default().with_tool_calls([ToolCall::new("1", "look", r#"{"number": 7}"#)])
}

async fn run(client: ScriptedClient, tools: Tools) -> (Result<Action, RunError>, Ticket) {
    let clerk = Agent::new("clerk", client)
        .with_role("You decide about complaints.")
        .with_tools(tools)
        .with_output::<Decision>()
        .node(
            |ticket: &Ticket| format!("Complaint: {}", ticket.text),
            |ticket, decision: Decision| {
                let action = if decision.refund { "pay" } else { "default" };
                ticket.decision = Some(decision);
                Action::new(action)
            },
        )
        .with_actions(["default", "pay"])
        .with_log(|ticket: &mut Ticket, visit| {
            let tools = visit.output.iter().flat_map(|output| &output.tools);
            ticket.looked_up = tools.map(|used| used.result.clone()).collect();
        });
    let flow = Flow::from_node("clerk", clerk).unwrap();

    let mut ticket = Ticket {
        text: "order 7 is broken".to_owned(),
        ..Ticket::default()
    };
    let ended = flow.run(&mut ticket).await;
    (ended.map(|ended| ended.action), ticket)
}

#[tokio::test]
async fn it_calls_tools_and_answers_with_a_value() {
    let client = ScriptedClient::default()
        .then(looks())
        .then("Refund: yes.")
        .then(r#"{"refund": "yes", "letter": "We are sorry."}"#);
    let (ended, ticket) = run(client.clone(), orders()).await;

    assert_eq!(ended.unwrap().as_str(), "pay");
    let expected = Decision {
        refund: true,
        letter: "We are sorry.".to_owned(),
    };
    assert_eq!(ticket.decision, Some(expected));
    assert_eq!(ticket.looked_up, ["order 7: a cup"]);

    let requests = client.requests();
    let conversation = requests[2].messages().iter();
    let texts: Vec<&str> = conversation.map(|message| message.text()).collect();
    insta::assert_snapshot!(texts.join("\n---\n"), @r#"
    You decide about complaints.

    Answer with one JSON object with these keys:
    - refund: Whether the money is paid back. (true or false)
    - letter (a text)

    Its structure: {"refund": true, "letter": "…"}
    ---
    Complaint: order 7 is broken
    ---

    ---
    order 7: a cup
    ---
    Refund: yes.
    ---
    Your reply can't be used: line 1: `letter` is missing; expected a text. Write the whole JSON object again, corrected.
    "#);
}

#[tokio::test]
async fn a_server_enforces_the_schema_if_there_are_no_tools() {
    let client = ScriptedClient::new([r#"{"refund": false, "letter": "No."}"#])
        .with_capabilities(Capabilities::none().with(Capability::JsonSchema));
    let (ended, _) = run(client.clone(), Tools::new()).await;

    assert_eq!(ended.unwrap().as_str(), "default");
    let request = client.requests().remove(0);
    assert!(matches!(request.format(), Some(ReplyFormat::Schema { .. })));
}

#[tokio::test]
async fn with_tools_the_schema_is_enforced_when_the_model_is_asked_again() {
    let client = ScriptedClient::new(["It is refused.", r#"{"refund": false, "letter": "No."}"#])
        .with_capabilities(Capabilities::none().with(Capability::JsonSchema));
    let (ended, _) = run(client.clone(), orders()).await;

    assert!(ended.is_ok());
    let requests = client.requests();
    let enforced = requests.iter().map(|request| request.format().is_some());
    assert_eq!(enforced.collect::<Vec<_>>(), [false, true]);
}

#[tokio::test]
async fn a_reply_that_is_never_a_value_is_an_error_with_every_reply() {
    let (ended, ticket) = run(
        ScriptedClient::new(["no", "never", "not at all"]),
        Tools::new(),
    )
    .await;

    let error = ended.unwrap_err();
    insta::assert_snapshot!(error, @"flow `clerk`, node `clerk`: exec failed: no reply of the model could be read: line 1: the reply has no JSON object; expected a JSON object with `refund`, `letter`");
    assert_eq!(
        error
            .downcast_ref::<AgentError>()
            .unwrap()
            .visit()
            .tries
            .len(),
        3
    );
    assert_eq!(ticket.decision, None);
}
