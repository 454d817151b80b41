use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_strategies::StrategyName;
use serde_json::json;

use super::server;
use crate::host::{Era, Host};
use crate::resources::support::read;
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

#[tokio::test]
async fn a_strategy_solves_a_problem_and_reports_each_thought() {
    for era in Era::BOTH {
        let mut host = Host::connect(&server(ScriptedClient::new(STEPS)), era).await;

        let result = host
            .solve(json!({"problem": "What is 17 * 3?", "strategy": "chain_of_thought"}))
            .await;

        assert_eq!(result.is_error, Some(false));
        let progress = host.progress();
        let thoughts = progress.len();
        let expected = format!("51\n\n(answered, after {thoughts} thoughts and 3 calls");
        assert!(text(&result).starts_with(&expected), "{}", text(&result));
        assert_eq!(result.structured_content, None);
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
}

#[tokio::test]
async fn the_loop_is_the_default() {
    let host = Host::connect(&server(ScriptedClient::new([PLANNED])), Era::Initialize).await;

    let result = host.solve(json!({"problem": "What is 17 * 3?"})).await;

    let expected = "51\n\n(answered, after 1 thought and 1 call";
    assert!(text(&result).starts_with(expected), "{}", text(&result));
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
    let place = "Session `mine`: cogwork://sessions/mine.";
    assert!(text(&result).contains(place), "{}", text(&result));
    let shown = read(&host, "cogwork://sessions/mine")
        .await
        .expect("a text");
    assert!(shown.contains("\nMultiply the tens.\n"), "{shown}");
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

    assert!(text(&result).starts_with("51\n\n"), "{}", text(&result));
    let requests = client.requests();
    let questions: Vec<_> = requests[1]
        .messages()
        .iter()
        .map(|one| one.text())
        .collect();
    assert_eq!(questions, ["What is 17 * 3?"]);
}
