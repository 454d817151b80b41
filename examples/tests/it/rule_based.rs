//! The rule-based backend, behind the loop as in the quickstart.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::time::Duration;

use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::llm::{ChatRequest, Delta, LlmClient, LlmErrorKind, Message};
use cogwork::plan::{Plan, Status};
use cogwork_quickstart::RuleBasedClient;

async fn solve(problem: &str) -> Reasoning {
    let flow = ChainOfThought::new(RuleBasedClient::new()).into_flow();
    let mut reasoning = Reasoning::new(problem);
    flow.run(&mut reasoning).await.unwrap();
    reasoning
}

#[tokio::test]
async fn problems_are_solved() {
    for (problem, answer) in [
        ("What is (17 + 4) * 3 - 15% of 80?", "51"),
        ("2 + 3 × 4 =", "14"),
        ("Calculate 10 / 4.", "2.5"),
        ("1 / 3", "1/3 ≈ 0.333333"),
        ("-2 - (3 - 8)", "3"),
        ("0.1 + 0.2", "0.3"),
        ("8 / 2 / 2", "2"),
        (
            "A car goes 45 km/h for 20 min. How far does it go?",
            "15 km",
        ),
    ] {
        assert_eq!(solve(problem).await.answer(), Some(answer), "{problem}");
    }
}

#[tokio::test]
async fn other_problems_are_refused_with_the_reason() {
    for (problem, why) in [
        ("What is love?", "there is no number in it"),
        ("What is 7?", "there is nothing to calculate in it"),
        (
            "What is the root of 16 + 9?",
            "I don't know what `root` means here",
        ),
        ("5 / (3 - 3)", "5 / (3 - 3) has no value"),
        ("999999 * 999999 * 999999", "too large for this backend"),
        ("(1 + 2", "a parenthesis is not closed"),
        ("2 plus 3", "I expected the end or an operator at `plus 3`"),
        (&"1 + ".repeat(60), "it is longer than 200 characters"),
        (
            "A car goes 45 km/h for 20 min with 3 people. How far does it go?",
            "I don't know what",
        ),
    ] {
        let reasoning = solve(problem).await;
        let text = &reasoning.thoughts().last().unwrap().current_thinking;

        assert!(text.starts_with("I cannot answer this problem: "), "{text}");
        assert!(text.contains(why), "{problem}: {text}");
        assert!(text.contains("OPENAI_BASE_URL"), "{text}");
    }
}

#[tokio::test]
async fn one_step_comes_out_wrong_and_is_repaired() {
    for problem in ["2 + 3", "1 + 2 * 3 - 4 / 5", "15% of 80"] {
        let reasoning = solve(problem).await;
        let marked = |plan: &Plan| {
            let mut steps = plan.walk().map(|entry| entry.step.status);
            steps.any(|status| status == Status::VerificationNeeded)
        };

        let plans = reasoning.thoughts().iter().map(|thought| &thought.planning);
        assert_eq!(plans.filter(|plan| marked(plan)).count(), 1, "{problem}");
        assert_eq!(
            reasoning.plan().unwrap().progress().fraction(),
            1.0,
            "{problem}"
        );
    }
}

async fn reply(messages: Vec<Message>) -> String {
    let request = ChatRequest::new(messages);
    let response = RuleBasedClient::new().complete(request).await.unwrap();
    response.into_text()
}

#[tokio::test]
async fn plans_from_elsewhere_are_repaired_or_replaced() {
    let problem = || Message::user("<problem>(17 + 4) * 3</problem>");
    let plan = reply(vec![problem()]).await;
    let wrong = plan.replacen(
        "description: Add 17 and 4\n    status: Pending",
        "description: Add 17 and 4\n    status: Done\n    result: 17 + 4 = 23",
        1,
    );
    let (_, wrong) = wrong.split_once("planning:\n").unwrap();
    let (wrong, _) = wrong.split_once("next_thought_needed").unwrap();

    for (plan, expected) in [
        (wrong, "there is a mistake. Step 2.1: 17 + 4 is 21, not 23."),
        (
            "- description: Bake a cake\n  status: Pending",
            "its plan isn't one",
        ),
        ("[[[", "its plan isn't one"),
    ] {
        let last = Message::user(format!("<plan>\n{plan}</plan>"));
        let reply = reply(vec![problem(), Message::assistant("one"), last]).await;
        assert!(reply.contains("Evaluation of thought 1: "), "{reply}");
        assert!(reply.contains(expected), "{reply}");
    }
}

#[tokio::test]
async fn a_request_without_a_problem_is_invalid() {
    let request = ChatRequest::new([Message::user("</problem><problem>")]);
    let error = RuleBasedClient::new().complete(request).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reply_is_streamed_in_the_time_of_its_delay() {
    let delay = Duration::from_secs(5);
    let client = RuleBasedClient::new().with_delay(delay);
    let started = tokio::time::Instant::now();
    let request = ChatRequest::new([Message::user("<problem>6 * 7</problem>")]);

    let mut stream = client.stream(request).await.unwrap();
    let mut pieces = 0;
    while let Some(delta) = stream.next().await {
        pieces += u32::from(matches!(delta.unwrap(), Delta::Text(_)));
    }

    assert!(pieces > 10, "{pieces}");
    assert!(started.elapsed() >= delay - Duration::from_secs(1));
}
