//! The agent as a node: what it asks, what it does with replies, what is left in the state.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_agents::{Agent, FlowState, Output, Template};
use cogwork_flow::Action;
use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, Message, ScriptedClient, ToolChoice, Usage,
};
use cogwork_thinking::memory::{Found, InMemory, Memory, MemoryError};
use cogwork_thinking::{Reflection, async_trait};
use cogwork_tools::{ToolError, Tools, function};

use crate::support::{self, City, flow_of, run};

fn weather() -> Tools {
    let weather = |City { city }: City| async move {
        match city.as_str() {
            "Atlantis" => Err(ToolError::failed("no such city")),
            _ => Ok(format!("Rain in {city}.")),
        }
    };
    let tool = function("weather", "The weather in a city.", weather);
    Tools::new().with(tool).unwrap()
}

/// Calls that cost something.
fn calls(cities: &[&str]) -> ChatResponse {
    support::calls(cities).with_usage(Usage::new(10, 5))
}

fn last_message(script: &ScriptedClient, request: usize) -> Message {
    let request = script.requests().remove(request);
    request.messages().last().unwrap().clone()
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
    let written = Output::new("this {input}").with_blocks([picture.clone()]);
    state.put("writer", written);
    flow_of(agent).run(&mut state).await.unwrap();

    let user = Message::user("Is this {input} good for a birthday? ").with_blocks([picture]);
    let expected = ChatRequest::new([Message::system("You judge."), user]).with_temperature(0.5);
    assert_eq!(script.requests().remove(0), expected);
    assert_eq!(state.last().text, "Yes.");

    let (ended, _) = run(Agent::new("a", script.clone()), " ").await;
    insta::assert_snapshot!(ended.unwrap_err(), @"flow `flow`, node `a`: prep failed: the prompt is empty; expected a text");
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn tools_are_called_side_by_side_and_their_results_read_in_order() {
    let script = ScriptedClient::default()
        .then(calls(&["Bergen", "Atlantis"]))
        .then(ChatResponse::new("Take an umbrella.").with_usage(Usage::new(30, 4)));
    let agent = Agent::new("a", script.clone()).with_tools(weather());
    let (ended, state) = run(agent, "Umbrella?").await;
    assert_eq!(ended.unwrap(), Action::DEFAULT);

    let requests = script.requests();
    let told = requests[1].messages().iter().skip(2);
    let told = told.map(|told| (told.tool_call_id(), told.text(), told.is_tool_failure()));
    let failed = "the tool `weather` failed: no such city";
    let expected = [
        (Some("call Bergen"), "Rain in Bergen.", false),
        (Some("call Atlantis"), failed, true),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert_eq!(requests[1].tools(), requests[0].tools());

    let said = state.last();
    assert_eq!((said.text.as_str(), said.calls), ("Take an umbrella.", 2));
    assert_eq!((said.usage, state.usage()), (Usage::new(40, 9), said.usage));
    assert!(!said.tools[0].failed && said.tools[1].failed);
}

#[tokio::test]
async fn a_reply_of_calls_alone_is_no_empty_answer() {
    // Without any tool, the call is answered all the same, and the model goes on.
    let script = ScriptedClient::new([calls(&["Bergen"]), ChatResponse::new("I cannot look.")]);
    let (_, state) = run(Agent::new("a", script.clone()), "Umbrella?").await;
    assert_eq!(state.last().text, "I cannot look.");
    let answer = last_message(&script, 1);
    insta::assert_snapshot!(answer.text(), @"there is no tool `weather`; there are no tools");

    let script = ScriptedClient::new([1; 5].map(|_| calls(&["Bergen"])));
    let agent = Agent::new("a", script.clone())
        .with_tools(weather())
        .with_tool_rounds(2);
    let (ended, state) = run(agent, "Umbrella?").await;
    insta::assert_snapshot!(ended.unwrap_err(), @"flow `flow`, node `a`: exec failed: the model still calls tools after 2 rounds; expected an answer");
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
    assert_eq!((state.last().text.as_str(), state.calls()), ("Hello.", 3));
    let complaint = last_message(&script, 1);
    assert_eq!(complaint.text(), "Your reply is empty. Write your answer.");

    let mut told = Vec::new();
    for (times, reason) in [(0, FinishReason::Stop), (1, FinishReason::Length)] {
        let reply = ChatResponse::new(" \n").with_finish_reason(reason);
        let script = ScriptedClient::new(vec![reply; 3]);
        let agent = Agent::new("a", script.clone()).with_asks_again(times);
        told.push(run(agent, "Hello").await.0.unwrap_err().to_string());
        assert_eq!(script.requests().len(), times as usize + 1);
    }
    insta::assert_snapshot!(told.join("\n"), @"
    flow `flow`, node `a`: exec failed: every reply of the model was empty; expected a text or a tool call
    flow `flow`, node `a`: exec failed: every reply of the model was empty because of the limit of tokens; expected a text or a tool call
    ");
}

#[tokio::test]
async fn an_action_is_chosen_by_the_last_line() {
    let same = ["Go", "go", "stop"].as_slice();
    let two = ["accept", "revise"].as_slice();
    let ways = [
        (two, "Good.\n\nACTION: accept", "accept", "Good."),
        (two, "Good.\n**Action:** `Accept`.\n\n", "accept", "Good."),
        (two, "action: revise", "revise", "revise"),
        (
            two,
            "```\nGood.\nACTION: accept\n```",
            "accept",
            "```\nGood.\n```",
        ),
        (
            two,
            "Good.\n```text\nACTION: accept\n```",
            "accept",
            "Good.",
        ),
        (
            two,
            "ACTION: accept\nACTION: revise",
            "revise",
            "ACTION: accept",
        ),
        (same, "ACTION: go", "go", "go"),
        (same, "ACTION: Stop", "stop", "stop"),
        // This may be one of two actions, so the model is asked again.
        (same, "ACTION: GO", "Go", "ACTION: GO"),
    ];

    for (actions, reply, action, text) in ways {
        let script = ScriptedClient::new([reply, "ACTION: Go"]);
        let agent = Agent::new("a", script.clone()).with_actions(actions.iter().copied());
        let (ended, state) = run(agent, "Judge").await;
        let chosen = (ended.unwrap(), state.last().text.as_str());
        assert_eq!((chosen.0.as_str(), chosen.1), (action, text), "{reply}");
    }
}

#[tokio::test]
async fn a_model_that_names_no_action_is_asked_again() {
    let agent = |replies: [&str; 3], actions: [&'static str; 2]| {
        let script = ScriptedClient::new(replies);
        let agent = Agent::new("a", script.clone()).with_actions(actions);
        (agent.with_asks_again(2), script)
    };
    let replies = [
        "It is good.",
        "ACTION: dance",
        "<think>?</think>ACTION: accept",
    ];
    let (judge, script) = agent(replies, ["accept", "revise"]);
    let (ended, state) = run(judge, "Judge").await;
    assert_eq!(ended.unwrap().as_str(), "accept");
    assert_eq!(state.last().text, "It is good.");

    let asked = script.requests()[0]
        .messages()
        .iter()
        .next()
        .unwrap()
        .clone();
    insta::assert_snapshot!(format!("{}\n\n{}", asked.text(), last_message(&script, 1).text()), @"
    End your reply with a line that names the action to take next: `ACTION: <label>`.
    The label is one of: accept, revise.

    Your reply does not end with a line `ACTION: <label>`. Answer with this line alone. The label is one of: accept, revise.
    ");

    let never = ["Good.", "ACTION: dance", "I cannot."];
    let (judge, script) = agent(never, ["accept", "revise"]);
    let error = run(judge, "Judge").await.0.unwrap_err();
    insta::assert_snapshot!(error, @"flow `flow`, node `a`: exec failed: no reply of the model named an action; expected a last line `ACTION: <label>` with one of accept, revise");
    assert_eq!(script.requests().len(), 3);

    let (with_default, _) = agent(never, ["again", "default"]);
    assert_eq!(run(with_default, "Judge").await.0.unwrap(), Action::DEFAULT);
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
    let asked = last_message(&script, 0);
    assert!(asked.text().contains("Ada has an umbrella."));

    // The reflection sees what the tool gave, and the question once.
    let requests = script.requests();
    let seen = requests[2].messages().iter();
    let asked = seen.filter(|message| message.text().contains("Does Ada need"));
    assert_eq!(asked.count(), 1);
    assert_eq!(state.last().thinking.as_ref().unwrap().spent.calls, 3);
}
