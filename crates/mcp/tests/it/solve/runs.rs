use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_mcp::Server;
use cogwork_strategies::StrategyName;
use serde_json::{Value, json};

use crate::host::{Era, Host};
use crate::support::text;

/// The replies of a run by `chain_of_thought`.
const STEPS: [&str; 3] = [
    "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
    "results:\n- 30\n- 21\n- 51\nanswer: 51",
    "thought: 51 / 3 = 17.\nholds: yes",
];

const PLANNED: &str = "\
```yaml
current_thinking: 17 * 3 = 51.
planning:
  - {description: Conclusion, status: Done, result: 51}
next_thought_needed: false
```";

fn server(client: ScriptedClient) -> Server {
    let builder = Server::builder().with_client(client);
    builder.open().expect("the server opens")
}

fn data(result: &rmcp::model::CallToolResult) -> &Value {
    result.structured_content.as_ref().expect("data")
}

#[tokio::test]
async fn a_strategy_solves_a_problem_and_reports_each_thought() {
    for era in Era::BOTH {
        let mut host = Host::connect(&server(ScriptedClient::new(STEPS)), era).await;

        let result = host
            .solve(json!({"problem": "What is 17 * 3?", "strategy": "chain_of_thought"}))
            .await;

        assert_eq!(result.is_error, Some(false));
        assert!(text(&result).starts_with("51\n\n(answered, after "));
        let data = data(&result);
        assert_eq!(data["answer"], "51");
        assert_eq!(data["outcome"], "answered");
        assert_eq!(data["calls"], 3);

        let progress = host.progress();
        assert_eq!(json!(progress.len()), data["thoughts"]);
        for (index, (thoughts, line)) in progress.iter().enumerate() {
            assert_eq!(*thoughts, (index + 1) as f64);
            assert!(line.contains(": "), "{line}");
        }
    }
}

#[tokio::test]
async fn the_text_of_an_answer_cannot_control_a_terminal() {
    let reply = "thought: Hm.\nanswer: \u{1b}[2J\u{202e}51";
    let client = ScriptedClient::new([reply, "thought: Yes.\nholds: yes", reply]);
    let host = Host::connect(&server(client), Era::Discover).await;

    let arguments = json!({"problem": "?", "strategy": "step_back", "budget": {"calls": 1}});
    let result = host.solve(arguments).await;

    let is_unsafe = |c: char| c != '\n' && cogwork_text::is_unsafe(c);
    assert!(!text(&result).contains(is_unsafe), "{:?}", text(&result));
    assert!(text(&result).contains("51"), "{:?}", text(&result));
    let answer = data(&result)["answer"].as_str().expect("an answer");
    assert!(answer.contains('\u{1b}'), "{answer:?}");
}

#[tokio::test]
async fn the_loop_is_the_default() {
    let host = Host::connect(&server(ScriptedClient::new([PLANNED])), Era::Initialize).await;

    let result = host.solve(json!({"problem": "What is 17 * 3?"})).await;

    let data = data(&result);
    assert_eq!(data["strategy"], "loop");
    assert_eq!(data["answer"], "51");
    assert_eq!(data["thoughts"], 1);
}

#[tokio::test]
async fn every_strategy_can_be_named() {
    for name in StrategyName::ALL {
        let failure = LlmError::new(LlmErrorKind::Server, "on fire");
        let client = ScriptedClient::default().then(failure);
        let host = Host::connect(&server(client.clone()), Era::Discover).await;

        let result = host
            .solve(json!({"problem": "What is 17 * 3?", "strategy": name.as_str()}))
            .await;

        assert_eq!(result.is_error, Some(true));
        assert_eq!(data(&result)["strategy"], name.as_str());
        assert!(text(&result).contains("on fire"), "{}", text(&result));
        assert!(!client.requests().is_empty());
    }
}

#[tokio::test]
async fn a_run_that_fails_keeps_its_thoughts() {
    let failure = LlmError::new(LlmErrorKind::Server, "on fire");
    let client = ScriptedClient::new([STEPS[0]]).then(failure);
    let host = Host::connect(&server(client), Era::Initialize).await;

    let arguments = json!({
        "problem": "What is 17 * 3?",
        "strategy": "chain_of_thought",
        "sessionId": "mine",
    });
    let result = host.solve(arguments).await;

    assert_eq!(result.is_error, Some(true));
    let data = data(&result);
    assert_eq!(data["outcome"], "failed");
    assert_eq!(data["sessionId"], "mine");
    assert!(data["thoughts"].as_u64() > Some(0));
}

#[tokio::test]
async fn without_a_client_the_tool_is_not_listed_and_says_what_to_configure() {
    let server = Server::builder().open().expect("the server opens");
    let host = Host::connect(&server, Era::Initialize).await;

    let tools = host.client.list_all_tools().await.expect("a list");
    let result = host.solve(json!({"problem": "What is 17 * 3?"})).await;

    assert!(tools.iter().all(|tool| tool.name != "solve"));
    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).contains("set OPENAI_MODEL"));
}

#[tokio::test]
async fn results_match_the_output_schema() {
    let client = ScriptedClient::new(STEPS).then(LlmError::new(LlmErrorKind::Server, "on fire"));
    let host = Host::connect(&server(client), Era::Discover).await;
    let tools = host.client.list_all_tools().await.expect("a list");
    let tool = tools
        .iter()
        .find(|tool| tool.name == "solve")
        .expect("the tool");

    let schema = json!(tool.output_schema.as_deref().expect("a schema"));
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler
        .add_resource("solve.json", schema)
        .expect("a schema");
    let index = compiler
        .compile("solve.json", &mut schemas)
        .expect("a schema");

    let arguments = json!({"problem": "What is 17 * 3?", "strategy": "chain_of_thought"});
    for _ in 0..2 {
        let result = host.solve(arguments.clone()).await;
        let valid = schemas.validate(data(&result), index);
        assert!(valid.is_ok(), "{valid:?}");
    }
}

#[tokio::test]
async fn rewoo_asks_the_model_single_questions_if_there_are_no_tools() {
    let client = ScriptedClient::new([
        "Plan: Find the product.\n#E1 = ask{\"question\": \"What is 17 * 3?\"}\nPlan: Say it.",
        "It is 51.",
        "answer: 51",
    ]);
    let host = Host::connect(&server(client.clone()), Era::Discover).await;

    let arguments = json!({"problem": "What is 17 * 3?", "strategy": "rewoo"});
    let result = host.solve(arguments).await;

    assert_eq!(data(&result)["answer"], "51", "{}", text(&result));
    let requests = client.requests();
    let questions: Vec<_> = requests[1]
        .messages()
        .iter()
        .map(|one| one.text())
        .collect();
    assert_eq!(questions, ["What is 17 * 3?"]);
}
