//! The agent as a node: what it asks, what it does with replies, what is left in the state.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_agents::{Agent, FlowState, Output, Template};
use cogwork_flow::{Action, Flow, Node, RunError};
use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmError, LlmErrorKind, Message,
    ScriptedClient, ToolCall, ToolChoice, Usage,
};
use cogwork_thinking::memory::{Found, InMemory, Memory, MemoryError};
use cogwork_thinking::{Reflection, async_trait};
use cogwork_tools::{ToolError, Tools, function};
use schemars::JsonSchema;
use serde::Deserialize;

fn flow_of(agent: Agent) -> Flow<FlowState> {
    let actions = agent.actions();
    let builder = Flow::builder("flow").start("a").node("a", agent);
    actions
        .into_iter()
        .fold(builder, |builder, action| builder.end("a", action))
        .build()
        .unwrap()
}

async fn run(agent: Agent, input: &str) -> (Result<Action, RunError>, FlowState) {
    let mut state = FlowState::new(input);
    let ended = flow_of(agent).run(&mut state).await;
    (ended.map(|ended| ended.action), state)
}

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

fn weather() -> Tools {
    let tool = function(
        "weather",
        "The weather in a city.",
        |City { city }| async move {
            if city == "Atlantis" {
                Err(ToolError::failed("no such city"))
            } else {
                Ok(format!("Rain in {city}."))
            }
        },
    );
    Tools::new().with(tool).unwrap()
}

fn calls(cities: &[&str]) -> ChatResponse {
    let calls = cities.iter().enumerate().map(|(number, city)| {
        ToolCall::new(
            format!("call_{number}"),
            "weather",
            format!(r#"{{"city": "{city}"}}"#),
        )
    });
    ChatResponse::new("")
        .with_tool_calls(calls)
        .with_usage(Usage::new(10, 5))
}

#[tokio::test]
async fn it_is_asked_with_its_role_and_prompt_and_the_blocks_of_what_it_cites() {
    let script = ScriptedClient::new(["Yes."]);
    let agent = Agent::new("a", script.clone())
        .with_role("You judge.")
        .with_prompt(Template::new("Is {writer} good for {input}? {nobody}").unwrap())
        .with_request(ChatRequest::default().with_temperature(0.5));
    let picture = Block::image("image/png", "iVBORw0KGgo=");
    let mut state = FlowState::new("a birthday").with_blocks([picture.clone()]);

    state.put(
        "writer",
        Output::new("this {input}").with_blocks([picture.clone()]),
    );
    flow_of(agent).run(&mut state).await.unwrap();

    let request = script.requests().remove(0);
    let user = Message::user("Is this {input} good for a birthday? ").with_blocks([picture]);
    let expected = ChatRequest::new([Message::system("You judge."), user]).with_temperature(0.5);
    assert_eq!(request, expected);
    assert_eq!(state.last().text, "Yes.");
}

#[tokio::test]
async fn tools_are_called_side_by_side_and_their_results_read_in_order() {
    let script = ScriptedClient::default()
        .then(calls(&["Bergen", "Atlantis"]))
        .then(ChatResponse::new("Take an umbrella.").with_usage(Usage::new(30, 4)));
    let (ended, state) = run(
        Agent::new("a", script.clone()).with_tools(weather()),
        "Umbrella?",
    )
    .await;

    assert_eq!(ended.unwrap(), Action::DEFAULT);

    let requests = script.requests();
    let told: Vec<_> = requests[1]
        .messages()
        .iter()
        .skip(2)
        .map(|message| {
            (
                message.tool_call_id(),
                message.text(),
                message.is_tool_failure(),
            )
        })
        .collect();

    assert_eq!(
        told,
        [
            (Some("call_0"), "Rain in Bergen.", false),
            (
                Some("call_1"),
                "the tool `weather` failed: no such city",
                true
            )
        ]
    );

    assert_eq!(requests[1].tools(), requests[0].tools());
    let said = state.last();
    assert_eq!(
        (said.text.as_str(), said.usage, said.tools.len()),
        ("Take an umbrella.", Usage::new(40, 9), 2)
    );
    assert_eq!(
        (said.tools[1].name.as_str(), said.tools[1].failed),
        ("weather", true)
    );
    assert_eq!(state.usage(), Usage::new(40, 9));
}

#[tokio::test]
async fn a_reply_of_calls_alone_is_no_empty_answer() {
    // Without any tool: the call is answered all the same, and the model goes on.
    let script = ScriptedClient::default()
        .then(calls(&["Bergen"]))
        .then("I cannot look.");
    let (_, state) = run(Agent::new("a", script.clone()), "Umbrella?").await;
    assert_eq!(state.last().text, "I cannot look.");
    let answer = script.requests()[1]
        .messages()
        .last()
        .unwrap()
        .text()
        .to_owned();

    assert_eq!(answer, "there is no tool `weather`; there are no tools");

    let script = ScriptedClient::new([1; 5].map(|_| calls(&["Bergen"])));
    let agent = Agent::new("a", script.clone())
        .with_tools(weather())
        .with_tool_rounds(2);
    let (ended, state) = run(agent, "Umbrella?").await;
    assert_eq!(
        ended.unwrap_err().to_string(),
        "flow `flow`, node `a`: exec failed: the model still calls tools after 2 rounds; expected an answer"
    );
    assert_eq!((script.requests().len(), state.output("a")), (5, None));

    // After the last round, the model has to answer without calls.
    let last = script.requests().pop().unwrap();
    assert_eq!(last.tool_choice(), Some(&ToolChoice::None));
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again() {
    let script = ScriptedClient::new(["", "<think>Hm.</think>", "Hello."]);
    let (ended, state) = run(Agent::new("a", script.clone()), "Hello").await;
    assert!(ended.is_ok());
    assert_eq!(
        (state.last().text.as_str(), state.last().calls),
        ("Hello.", 3)
    );

    let requests = script.requests();
    let complaint = requests[1].messages().last().unwrap().text().to_owned();
    assert_eq!(complaint, "Your reply is empty. Write your answer.");

    for (times, reply) in [(0, ""), (2, " \n")] {
        let script = ScriptedClient::new(vec![reply; 3]);
        let agent = Agent::new("a", script.clone()).with_asks_again(times);
        let (ended, _) = run(agent, "Hello").await;
        assert_eq!(
            ended.unwrap_err().to_string(),
            "flow `flow`, node `a`: exec failed: every reply of the model was empty; expected a text or a tool call"
        );
        assert_eq!(script.requests().len(), times as usize + 1);
    }
}

#[tokio::test]
async fn a_prompt_that_asks_nothing_is_an_error() {
    let script = ScriptedClient::new(["Hello"]);
    let (ended, _) = run(Agent::new("a", script.clone()), " ").await;
    let error = ended.unwrap_err().to_string();
    assert_eq!(
        error,
        "flow `flow`, node `a`: prep failed: the prompt is empty; expected a text"
    );
    assert!(script.requests().is_empty());
}

#[tokio::test]
async fn a_flood_of_calls_is_answered_and_not_made() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let tool = function("weather", "Counts.", move |_: City| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(String::new()) }
    });
    let script = ScriptedClient::default()
        .then(calls(&["x"; 1000]))
        .then("Enough.");
    let agent = Agent::new("a", script.clone()).with_tools(Tools::new().with(tool).unwrap());

    run(agent, "Go").await.0.unwrap();
    assert_eq!(
        (
            made.load(Ordering::Relaxed),
            script.requests()[1].messages().len()
        ),
        (16, 1002)
    );
}

#[tokio::test]
async fn calls_of_a_reply_that_is_cut_off_are_not_made() {
    for (reason, cut) in [
        (FinishReason::Length, "cut off at the limit of tokens"),
        (FinishReason::ContentFilter, "withheld in part by a filter"),
    ] {
        // The first call can be read, and may be less than was meant all the same.
        let script = ScriptedClient::default()
            .then(calls(&["Bergen"]).with_finish_reason(reason))
            .then("Rain.");
        let (ended, state) = run(
            Agent::new("a", script.clone()).with_tools(weather()),
            "Umbrella?",
        )
        .await;

        ended.unwrap();
        let told = format!("the reply with this call was {cut}; expected a whole one");
        assert_eq!(
            state
                .last()
                .tools
                .iter()
                .map(|used| (used.result.as_str(), used.failed))
                .collect::<Vec<_>>(),
            [(told.as_str(), true)]
        );

        assert_eq!(script.requests()[1].messages().last().unwrap().text(), told);
    }
}

#[tokio::test]
async fn a_label_that_may_be_several_actions_is_asked_for_again() {
    let actions = || ["Go", "go", "stop"];
    for (replies, action) in [
        (["ACTION: go", ""], "go"),
        (["ACTION: Stop", ""], "stop"),
        (["ACTION: GO", "ACTION: Go"], "Go"),
    ] {
        let script = ScriptedClient::new(replies);
        let (ended, _) = run(Agent::new("a", script).with_actions(actions()), "Judge").await;
        assert_eq!(ended.unwrap().as_str(), action, "{replies:?}");
    }
}

#[tokio::test]
async fn an_action_is_chosen_by_the_last_line() {
    let ways = [
        ("Good.\n\nACTION: accept", "accept", "Good."),
        ("Good.\n**Action:** `Accept`.\n\n", "accept", "Good."),
        ("action: revise", "revise", "revise"),
        (
            "```\nGood.\nACTION: accept\n```",
            "accept",
            "```\nGood.\n```",
        ),
        ("Good.\n```text\nACTION: accept\n```", "accept", "Good."),
        ("```\nACTION: accept\n```\n", "accept", "accept"),
        (
            "ACTION: accept\nNo, rather:\nACTION: revise",
            "revise",
            "ACTION: accept\nNo, rather:",
        ),
    ];
    for (reply, action, text) in ways {
        let script = ScriptedClient::new([reply]);
        let (ended, state) = run(
            Agent::new("a", script.clone()).with_actions(["accept", "revise"]),
            "Judge",
        )
        .await;

        assert_eq!(
            (ended.unwrap().as_str(), state.last().text.as_str()),
            (action, text),
            "{reply}"
        );

        assert_eq!(
            script.requests()[0]
                .messages()
                .iter()
                .next()
                .unwrap()
                .text(),
            "End your reply with a line that names the action to take next: `ACTION: <label>`.\nThe label is one of: accept, revise."
        );
    }
}

#[tokio::test]
async fn a_model_that_names_no_action_is_asked_again() {
    let two = || ["accept", "revise"];
    let script = ScriptedClient::new(["It is good.", "ACTION: accept"]);
    let (ended, state) = run(Agent::new("a", script.clone()).with_actions(two()), "Judge").await;
    assert_eq!(
        (ended.unwrap().as_str(), state.last().text.as_str()),
        ("accept", "It is good.")
    );
    assert_eq!(
        script.requests()[1].messages().last().unwrap().text(),
        "Your reply does not end with a line `ACTION: <label>`. Answer with this line alone. The label is one of: accept, revise."
    );

    let script = ScriptedClient::new(["Good.", "ACTION: dance", "<think>?</think>ACTION: revise"]);
    let (ended, state) = run(Agent::new("a", script.clone()).with_actions(two()), "Judge").await;
    assert_eq!(
        (ended.unwrap().as_str(), state.last().text.as_str()),
        ("revise", "Good.")
    );
    assert_eq!(state.last().calls, 3);

    for times in 0..3 {
        let script = ScriptedClient::new(["Good.", "ACTION: dance", "I cannot."]);
        let agent = Agent::new("a", script.clone())
            .with_actions(two())
            .with_asks_again(times);
        let (ended, _) = run(agent, "J").await;
        assert_eq!(
            ended.unwrap_err().to_string(),
            "flow `flow`, node `a`: exec failed: no reply of the model named an action; expected a last line \
             `ACTION: <label>` with one of accept, revise"
        );
        assert_eq!(script.requests().len(), times as usize + 1);

        let script = ScriptedClient::new(["Good.", "ACTION: dance", "I cannot."]);
        let with_default = Agent::new("a", script)
            .with_actions(["again", "default"])
            .with_asks_again(times);
        assert_eq!(run(with_default, "Judge").await.0.unwrap(), Action::DEFAULT);
    }
}

/// A memory that counts how often it is searched.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicUsize>, InMemory);

#[async_trait]
impl Memory for Counted {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.search(query, top_k, threshold).await
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.1.add(text).await
    }
}

#[tokio::test]
async fn the_memory_is_searched_once_a_visit_however_many_calls_it_takes() {
    let memory = Counted::default();
    memory.add("Ada has an umbrella.").await.unwrap();
    let script = ScriptedClient::default()
        .then(calls(&["Bergen"]))
        .then("Rain.")
        .then("Rain; she has an umbrella.");
    let agent = Agent::new("a", script.clone())
        .with_tools(weather())
        .with_mode(Reflection::new("Is it of use?"))
        .with_memory(memory.clone());
    let (_, state) = run(agent, "Does Ada need an umbrella?").await;

    assert_eq!(state.last().text, "Rain; she has an umbrella.");
    assert_eq!(memory.0.load(Ordering::Relaxed), 1);
    let requests = script.requests();
    assert!(
        requests[0]
            .messages()
            .last()
            .unwrap()
            .text()
            .contains("Ada has an umbrella.")
    );

    // The reflection sees what the tool gave, and the question once.
    let asked = requests[2]
        .messages()
        .iter()
        .filter(|message| message.text().contains("Does Ada need"))
        .count();

    assert_eq!(
        (asked, state.last().thinking.as_ref().unwrap().spent.calls),
        (1, 3)
    );
}

#[tokio::test]
async fn a_reflection_that_fails_leaves_the_draft() {
    let script = ScriptedClient::default()
        .then("Good draft.")
        .then(LlmError::new(LlmErrorKind::Server, "on fire"));
    let agent = Agent::new("a", script).with_mode(Reflection::new("Is it true?"));
    let (ended, state) = run(agent, "Write").await;
    assert_eq!(
        (ended.unwrap(), state.last().text.as_str()),
        (Action::DEFAULT, "Good draft.")
    );

    let failures: Vec<_> = state
        .last()
        .thinking
        .as_ref()
        .unwrap()
        .failures()
        .map(|(mode, _)| mode.to_owned())
        .collect();

    assert_eq!(failures, ["reflection"]);
}

#[tokio::test]
async fn an_error_of_the_client_is_one_line_and_keeps_its_source() {
    let error = LlmError::new(LlmErrorKind::Overloaded, "busy\n\u{1b}[31m").with_status(503);
    let (ended, _) = run(
        Agent::new("a", ScriptedClient::default().then(error)),
        "Hello",
    )
    .await;

    let error = ended.unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `flow`, node `a`: exec failed: the call to the model failed: overloaded: busy \u{fffd}[31m (status 503)"
    );
    let source =
        std::error::Error::source(error.downcast_ref::<cogwork_agents::AgentError>().unwrap())
            .unwrap();
    assert_eq!(
        source.downcast_ref::<LlmError>().unwrap().status(),
        Some(503)
    );
}

#[tokio::test]
async fn a_reply_that_is_cut_off_says_so_in_its_output() {
    let cut = |reason| ChatResponse::new("Once upon").with_finish_reason(reason);
    for (reason, truncated) in [
        (FinishReason::Length, true),
        (FinishReason::ContentFilter, true),
        (FinishReason::Stop, false),
    ] {
        let (ended, state) = run(
            Agent::new("a", ScriptedClient::default().then(cut(reason))),
            "A tale",
        )
        .await;

        assert!(ended.is_ok());
        assert_eq!(
            (state.last().text.as_str(), state.last().truncated),
            ("Once upon", truncated)
        );
        let filled = Template::new("{a}.").unwrap().fill(&state).unwrap();
        assert_eq!(filled.truncated, truncated);
    }
}

#[tokio::test]
async fn calls_are_counted_with_those_of_thinking_tools_and_actions() {
    let script = ScriptedClient::default()
        .then(calls(&["Oslo"]))
        .then("Rain.")
        .then("Wet.")
        .then("ACTION: go");

    let agent = Agent::new("a", script.clone())
        .with_tools(weather())
        .with_mode(Reflection::new("Shorter."))
        .with_actions(["go", "stay"]);
    let (ended, mut state) = run(agent, "Walk?").await;
    assert_eq!(ended.unwrap().as_str(), "go");
    assert_eq!(
        (script.requests().len(), state.last().calls, state.calls()),
        (4, 4, 4)
    );
    let mut later = Output::new("Later.");
    later.calls = 2;
    state.put("b", later);
    assert_eq!(state.calls(), 6);
}
