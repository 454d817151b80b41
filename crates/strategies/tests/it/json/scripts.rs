//! A run of each strategy, with the replies of a model in JSON.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, ReplyFormat, ScriptedClient};
use cogwork_strategies::methods::{Scratchpad, SelfConsistency, TreeOfThoughts};
use cogwork_strategies::{Method, Solver, StrategyName};
use cogwork_tools::{Tools, function};
use serde_json::Value;

/// The problem of the runs.
pub(crate) const PROBLEM: &str = "What is 17 * 3?";

pub(crate) fn replies(name: StrategyName) -> Vec<&'static str> {
    match name {
        StrategyName::Linear => vec![
            r#"{"thought": "Tens and ones.", "thoughts_needed": 2}"#,
            r#"{"thought": "30 and 21 make 52."}"#,
            r#"{"thought": "Wrong sum.", "thoughts_needed": 1, "next": "thought_revision"}"#,
            r#"{"thought": "30 and 21 make 51.", "revises_thought": 3}"#,
            r#"{"thought": "Done.", "thoughts_needed": null, "next": "hypothesis_generation"}"#,
            r#"{"thought": "The sum.", "hypothesis": "51"}"#,
            r#"{"thought": "By division.", "verification": "51 / 3 = 17.", "holds": true}"#,
            r#"{"thought": "It is 51.", "answer": "51"}"#,
        ],
        StrategyName::ChainOfThought => vec![
            r#"{"thought": "Two products.", "steps": ["Multiply the tens.", "Multiply the ones.", "Add."]}"#,
            r#"{"thought": "17 is 10 and 7.", "results": ["30", "21", "51"], "answer": "51"}"#,
            r#"{"thought": "51 / 3 = 17.", "holds": true, "answer": "51"}"#,
        ],
        StrategyName::React => vec![
            r#"{"thought": "I double it first.", "action": "double", "action_input": "17"}"#,
            r#"{"thought": "34 and 17 make 51.", "action": "finish", "action_input": "51"}"#,
        ],
        StrategyName::Rewoo => vec![
            r##"{"thought": "Double, and add.", "plan": [{"input": "17", "step": "Double 17.", "tool": "double"}, {"input": "#E1", "step": "Double that.", "tool": "double"}]}"##,
            r#"{"thought": "34 and 17.", "answer": "51"}"#,
        ],
        StrategyName::Scratchpad => vec![
            r#"{"thought": "A sum.", "state_variables": [{"name": "sum", "value": 0}, {"name": "left", "value": 3}]}"#,
            r#"{"thought": "All at once.", "state_variables": [{"name": "sum", "value": 51}, {"name": "left", "value": 0}], "done": true}"#,
            r#"{"thought": "The sum.", "answer": "51"}"#,
        ],
        StrategyName::SelfAsk => vec![
            r#"{"thought": "The tens first.", "what": "sub_question", "text": "What is 10 * 3?"}"#,
            r#"{"thought": "30 and 21.", "what": "answer", "text": "51"}"#,
        ],
        StrategyName::SelfConsistency => vec![
            r#"{"thought": "30 + 21.", "answer": "51"}"#,
            r#"{"thought": "20 * 3 - 9.", "answer": "51"}"#,
            r#"{"thought": "17 + 17.", "answer": "34"}"#,
        ],
        StrategyName::TreeOfThoughts => vec![
            r#"{"thought": "Two ways.", "approaches": [{"description": "Split it.", "id": "split", "promise": 8}, {"description": "Add it up.", "id": "add", "promise": 3}]}"#,
            r#"{"thought": "One step.", "proposals": ["30 and 21 make 51."]}"#,
            r#"{"thought": "One step.", "proposals": ["17 and 17 make 34."]}"#,
            r#"{"thought": "Right.", "evaluation_score": 9, "solved": true}"#,
            r#"{"thought": "Slow.", "evaluation_score": 4, "solved": false}"#,
            r#"{"thought": "By splitting.", "answer": "51"}"#,
        ],
        StrategyName::StepBack => vec![
            r#"{"thought": "Products.", "question": "How does one multiply?", "principle": "Products of parts add up."}"#,
            r#"{"thought": "So.", "approach": "By parts.", "application": "17 is 10 and 7.", "solution": "30 + 21 = 51.", "answer": "51"}"#,
            r#"{"thought": "51 / 3 = 17.", "holds": true, "answer": "51"}"#,
        ],
        other => panic!("no replies for {other}"),
    }
}

fn driver(name: StrategyName) -> Box<dyn Method> {
    match name {
        StrategyName::SelfConsistency => Box::new(SelfConsistency {
            paths: 3,
            all_paths: true,
            ..SelfConsistency::default()
        }),
        StrategyName::TreeOfThoughts => Box::new(TreeOfThoughts {
            approaches: 2,
            ..TreeOfThoughts::default()
        }),
        StrategyName::Scratchpad => Box::new(Scratchpad::default()),
        other => other.into(),
    }
}

/// Returns a solver of the strategy. The replies of `client` are expected in order.
pub(crate) fn solver(name: StrategyName, client: ScriptedClient) -> Solver {
    let double = |input: Value| async move {
        let number = match &input {
            Value::String(text) => text.trim().parse().unwrap_or(0),
            other => other.as_i64().unwrap_or(0),
        };
        Ok((number * 2).to_string())
    };
    let tools = Tools::new().with(function("double", "Doubles a number.", double));

    Solver::new(client, driver(name))
        .with_tools(tools.unwrap())
        .with_calls_at_once(1)
}

/// Returns a client that supports schemas.
pub(crate) fn client(replies: impl IntoIterator<Item = &'static str>) -> ScriptedClient {
    let schema = Capabilities::none()
        .with(Capability::JsonSchema)
        .with(Capability::JsonMode);
    ScriptedClient::new(replies).with_capabilities(schema)
}

/// Returns the schema of a request.
pub(crate) fn schema(request: &ChatRequest) -> Option<Value> {
    match request.format()? {
        ReplyFormat::Schema { schema, .. } => Some(serde_json::from_str(schema).unwrap()),
        _ => None,
    }
}

/// Returns the last message of a request.
pub(crate) fn question(request: &ChatRequest) -> String {
    request
        .messages()
        .last()
        .map_or_else(String::new, |message| message.text().to_owned())
}
