//! ReAct: reason, act, observe.

use cogwork_llm::{
    Capabilities, Capability, ChatResponse, FinishReason, Role, ScriptedClient, ToolCall,
};
use cogwork_strategies::{React, Solver, StrategyName};
use cogwork_tools::{ToolError, Tools, function};
use serde_json::Value;

use crate::methods::support::{conversation, only_append, told};

fn tools() -> Tools {
    let heights = |place: Value| async move {
        match place.get("of").and_then(Value::as_str) {
            Some("Galdhøpiggen") => Ok("2469 m".to_owned()),
            Some("Snøhetta") => Ok("2286 m".to_owned()),
            _ => Err(ToolError::failed("not on the map")),
        }
    };
    Tools::new()
        .with(function("height", "The height of a mountain.", heights))
        .unwrap()
}

fn solver(client: &ScriptedClient) -> Solver {
    Solver::new(client.clone(), StrategyName::React).with_tools(tools())
}

const PROBLEM: &str = "Which is higher, Galdhøpiggen or Snøhetta?";

#[tokio::test]
async fn a_cycle_is_one_question_in_text() {
    let client = ScriptedClient::new([
        "Thought: I need both heights.\nAction: height\nAction input: {\"of\": \"Galdhøpiggen\"}",
        "The other one.\n**action:** `height`\n**action_input:** {\"of\": \"Snøhetta\"}\nObservation: 9999 m",
        "thought: 2469 is more than 2286.\naction: finish\naction_input: Galdhøpiggen",
    ]);

    let solved = solver(&client).solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Which is higher, Galdhøpiggen or Snøhetta?
      2 initial_reasoning: I need both heights.
      3 action_planning: Next: height. · action = height · action_input = {"of":"Galdhøpiggen"}
      4 action_execution: Called: height.
      5 observation_reception: 2469 m
      6 reasoning_update: The other one.
      7 evaluation_checkpoint: Another action is needed.
      8 action_planning: Next: height. · action = height · action_input = {"of":"Snøhetta"}
      9 action_execution: Called: height.
     10 observation_reception: 2286 m
     11 reasoning_update: 2469 is more than 2286.
     12 evaluation_checkpoint: Enough is known.
     13 solution_formulation: Galdhøpiggen
     14 final_response: Galdhøpiggen
    answer: Galdhøpiggen
    end: answered
    spent: 3 calls, about 783 tokens, 2 tool calls
    "#);

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(client.requests().last().unwrap()), @r#"
    [system] You solve a problem by turns of reasoning and action. In each turn you say what you think and choose what to do next; you are then told what it brought.

    The actions:
    - height: The height of a mountain. Its input is JSON of this schema: {"type":"object"}
    - finish: You know enough. Its input is the answer.

    [user] The problem:
    Which is higher, Galdhøpiggen or Snøhetta?

    Say what you know already and what you must find out.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    action: the name of the action (a text)
    action_input: what the action is given (text or JSON, may be left out)

    [assistant] Thought: I need both heights.
    Action: height
    Action input: {"of": "Galdhøpiggen"}

    [user] Observation: 2469 m

    Say what the observation changes in what you know.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    action: the name of the action (a text)
    action_input: what the action is given (text or JSON, may be left out)

    [assistant] The other one.
    **action:** `height`
    **action_input:** {"of": "Snøhetta"}
    Observation: 9999 m

    [user] Observation: 2286 m

    Say what the observation changes in what you know.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    action: the name of the action (a text)
    action_input: what the action is given (text or JSON, may be left out)
    "#);
}

#[tokio::test]
async fn a_client_with_tools_is_offered_them() {
    let call = |id: &str, of: &str| ToolCall::new(id, "height", format!("{{\"of\": \"{of}\"}}"));
    let both = ChatResponse::new("Both at once.")
        .with_tool_calls([call("a", "Galdhøpiggen"), call("b", "Snøhetta")])
        .with_finish_reason(FinishReason::ToolCalls);
    let client = ScriptedClient::new([both])
        .then("Galdhøpiggen")
        .with_capabilities(Capabilities::none().with(Capability::Tools));
    let solved = solver(&client).solve(PROBLEM).await.unwrap();

    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Which is higher, Galdhøpiggen or Snøhetta?
      2 initial_reasoning: Both at once.
      3 action_planning: Next: height, height. · action = height, height · action_input = [{"of":"Galdhøpiggen"},{"of":"Snøhetta"}]
      4 action_execution: Called: height, height.
      5 observation_reception: 2469 m 2286 m
      6 reasoning_update: Galdhøpiggen
      7 evaluation_checkpoint: Enough is known.
      8 solution_formulation: Galdhøpiggen
      9 final_response: Galdhøpiggen
    answer: Galdhøpiggen
    end: answered
    spent: 2 calls, about 239 tokens, 2 tool calls
    "#);

    let last = client.requests().pop().unwrap();
    assert_eq!(last.tools().len(), 1);
    let results: Vec<_> = last
        .messages()
        .iter()
        .filter(|message| message.role() == Role::Tool)
        .collect();

    assert_eq!(
        results
            .iter()
            .filter_map(|result| result.tool_call_id())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );

    insta::assert_snapshot!(conversation(&last), @r#"
    [system] You solve a problem by turns of reasoning and action. In each turn you say what you think and choose what to do next; you are then told what it brought. When you know enough, call nothing and give the answer.

    [user] The problem:
    Which is higher, Galdhøpiggen or Snøhetta?

    Say what you know already and what you must find out.

    [assistant] Both at once.
    -> height({"of": "Galdhøpiggen"})
    -> height({"of": "Snøhetta"})

    [tool] 2469 m

    [tool] 2286 m

    [user] Say what the observation changes in what you know.
    "#);
}

#[tokio::test]
async fn wrong_calls_come_back_as_observations() {
    let client = ScriptedClient::new([
        "action: depth\naction_input: {}",
        "action: height\naction_input: Galdhøpiggen",
        "action: height[Snøhetta]",
        "action: Finish[Galdhøpiggen]",
    ]);

    let solved = solver(&client).solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: Which is higher, Galdhøpiggen or Snøhetta?
      2 initial_reasoning: Next: depth.
      3 action_planning: Next: depth. · action = depth · action_input = {}
      4 action_execution: Called: depth.
      5 observation_reception: there is no tool `depth`; expected `height`
      6 reasoning_update: Next: height.
      7 evaluation_checkpoint: Another action is needed.
      8 action_planning: Next: height. · action = height · action_input = Galdhøpiggen
      9 action_execution: Called: height.
     10 observation_reception: the tool `height` failed: not on the map
     11 reasoning_update: Next: height.
     12 evaluation_checkpoint: Another action is needed.
     13 action_planning: Next: height. · action = height · action_input = Snøhetta
     14 action_execution: Called: height.
     15 observation_reception: the tool `height` failed: not on the map
     16 reasoning_update: Enough is known.
     17 evaluation_checkpoint: Enough is known.
     18 solution_formulation: Galdhøpiggen
     19 final_response: Galdhøpiggen
    answer: Galdhøpiggen
    end: answered
    spent: 4 calls, about 1141 tokens, 3 tool calls
    ");
}

#[tokio::test]
async fn the_cycles_have_an_end() {
    let other = |place: u32| format!("action: height\naction_input: {{\"of\": \"peak {place}\"}}");
    let replies: Vec<_> = (0..3)
        .map(other)
        .chain(["I cannot tell.".to_owned()])
        .collect();
    let client = ScriptedClient::new(replies);
    let solver = Solver::new(client.clone(), React { max_cycles: 3 }).with_tools(tools());
    let solved = solver.solve(PROBLEM).await.unwrap();

    assert_eq!(
        (solved.answer(), solved.spent().tool_calls),
        (Some("I cannot tell."), 3)
    );
    assert!(solved.is_answered());
}

#[tokio::test]
async fn the_same_action_with_the_same_outcome_is_no_progress() {
    let client = ScriptedClient::new(
        (0..20).map(|turn| format!("thought: try {turn}\naction: height\naction_input: K2")),
    );
    let solved = solver(&client).solve(PROBLEM).await.unwrap();
    assert_eq!(
        solved.end().to_string(),
        "no progress: the thoughts repeated 3 times up to the stage `observation_reception`"
    );

    // The best answer is the conclusion from the last observation.
    assert_eq!((solved.answer(), solved.spent().calls), (Some("try 2"), 3));
}

#[tokio::test]
async fn a_problem_that_needs_no_tool_needs_one_call() {
    let client = ScriptedClient::new(["action: finish\naction_input: 4"]);
    let solved = solver(&client).solve("2 + 2?").await.unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: 2 + 2?
      2 initial_reasoning: Enough is known.
      3 action_planning: Enough is known. · action = finish · action_input = 4
      4 action_execution: Nothing is called.
      5 observation_reception: Nothing is called.
      6 reasoning_update: Enough is known.
      7 evaluation_checkpoint: Enough is known.
      8 solution_formulation: 4
      9 final_response: 4
    answer: 4
    end: answered
    spent: 1 call, about 151 tokens
    ");
}

#[tokio::test]
async fn arguments_of_any_depth_do_not_end_the_run() {
    let deep = format!("{{\"of\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    let asks = ChatResponse::new("Look.").with_tool_calls([ToolCall::new("a", "height", deep)]);
    let native = Capabilities::none().with(Capability::Tools);
    let client = ScriptedClient::new([asks])
        .then("Galdhøpiggen")
        .with_capabilities(native);
    let solved = solver(&client).solve(PROBLEM).await.unwrap();

    assert_eq!(
        (solved.answer(), solved.spent().tool_calls),
        (Some("Galdhøpiggen"), 1)
    );
}
