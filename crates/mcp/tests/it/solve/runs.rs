use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_strategies::StrategyName;
use serde_json::json;

use super::{by, mine, server};
use crate::support::{Client, Era, text};

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
        let mut client = Client::in_era(&server(ScriptedClient::new(STEPS)), era).await;
        let result = client.call("solve", by("chain_of_thought")).await;
        assert_eq!(result.is_error, Some(false));
        assert_eq!(result.structured_content, None);

        let progress = client.progress();
        let thoughts = progress.len();
        let expected = format!("51\n\n(answered, after {thoughts} thoughts and 3 calls");
        assert!(text(&result).starts_with(&expected), "{}", text(&result));
        for (index, (thoughts, line)) in progress.iter().enumerate() {
            assert_eq!(*thoughts, (index + 1) as f64);
            assert!(line.contains(": "), "{line}");
        }
    }
}

#[tokio::test]
async fn the_text_of_an_answer_cannot_control_a_terminal() {
    let reply = "thought: Hm.\nanswer: \u{1b}[2J\u{202e}51";
    let model = ScriptedClient::new([reply, "thought: Yes.\nholds: yes", reply]);
    let client = Client::of(&server(model)).await;
    let mut arguments = by("step_back");
    arguments["budget"] = json!({"calls": 1});

    let told = client.accepted("solve", arguments).await;
    let is_unsafe = |c: char| c != '\n' && cogwork_text::is_unsafe(c);
    assert!(!told.contains(is_unsafe), "{told:?}");
    assert!(told.contains("51"), "{told:?}");
}

#[tokio::test]
async fn the_loop_is_the_default() {
    let client = Client::of(&server(ScriptedClient::new([PLANNED]))).await;
    let told = client.accepted("solve", json!({"problem": "?"})).await;
    let expected = "51\n\n(answered, after 1 thought and 1 call";
    assert!(told.starts_with(expected), "{told}");
}

#[tokio::test]
async fn every_strategy_can_be_named() {
    for name in StrategyName::ALL {
        let failure = LlmError::new(LlmErrorKind::Server, "on fire");
        let model = ScriptedClient::default().then(failure);
        let client = Client::of(&server(model.clone())).await;

        let told = client.refused("solve", by(name.as_str())).await;
        assert!(told.contains("on fire"), "{told}");
        assert!(!model.requests().is_empty());
    }
}

#[tokio::test]
async fn a_run_that_fails_keeps_its_thoughts() {
    let failure = LlmError::new(LlmErrorKind::Server, "on fire");
    let model = ScriptedClient::new([STEPS[0]]).then(failure);
    let client = Client::of(&server(model)).await;

    let told = client.refused("solve", mine("chain_of_thought")).await;
    let place = "Session `mine`: cogwork://sessions/mine.";
    assert!(told.contains(place), "{told}");
    let shown = client.read("cogwork://sessions/mine").await;
    assert!(shown.expect("a text").contains("\nMultiply the tens.\n"));
}

#[tokio::test]
async fn a_loop_that_fails_keeps_its_replies_and_their_cost() {
    let client = Client::of(&server(ScriptedClient::new(["Hm, hard."; 3]))).await;
    let told = client.refused("solve", mine("loop")).await;
    assert!(told.contains("after 0 thoughts and 3 calls"), "{told}");
    let shown = client.read_json("cogwork://sessions/mine/json").await;
    let shown = shown.to_string();
    assert_eq!(shown.matches("Hm, hard.").count(), 3, "{shown}");
}

#[tokio::test]
async fn rewoo_asks_the_model_single_questions_if_there_are_no_tools() {
    let model = ScriptedClient::new([
        "Plan: Find the product.\n#E1 = ask{\"question\": \"What is 17 * 3?\"}\nPlan: Say it.",
        "It is 51.",
        "answer: 51",
    ]);
    let client = Client::of(&server(model.clone())).await;

    let told = client.accepted("solve", by("rewoo")).await;
    assert!(told.starts_with("51\n\n"), "{told}");
    let requests = model.requests();
    let asked = requests[1].messages().iter().map(|one| one.text());
    assert_eq!(asked.collect::<Vec<_>>(), ["What is 17 * 3?"]);
}
