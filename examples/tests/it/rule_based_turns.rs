//! One step a turn, the mistake on purpose, and plans that come from elsewhere.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::support;

use cogwork::llm::{ChatRequest, LlmErrorKind, Message};
use cogwork::plan::{Plan, Status, Step, StepPath, format_plan_for_prompt};
use support::{
    announces_mistake, carry_on, complete, marked, next, parse, request, solution, solve, text,
};

#[test]
fn equal_requests_have_equal_replies() {
    let plan = format_plan_for_prompt(&solve("7 * 8 + 2")[2].planning);
    let ask = || {
        complete(request(
            "7 * 8 + 2",
            &["one".into(), "two".into(), "three".into()],
            Some(&plan),
        ))
        .unwrap()
    };

    assert_eq!(ask(), ask());
}

#[test]
fn every_problem_with_an_operation_has_one_mistake_that_is_found_and_repaired() {
    for problem in [
        "2 + 3",
        "10 - 3",
        "7 * 8",
        "9 / 2",
        "2^10",
        "1 - 1",
        "1 + 2 * 3 - 4 / 5",
        "-(3^2)",
        "15% of 80",
        "0.5 * 0",
    ] {
        let thoughts = solve(problem);
        let found: Vec<usize> = (0..thoughts.len())
            .filter(|&index| !marked(&thoughts[index].planning).is_empty())
            .collect();
        let [found] = found[..] else {
            panic!("{problem}: {}", text(&thoughts))
        };

        assert!(announces_mistake(&thoughts), "{problem}");
        assert_eq!(marked(&thoughts[found].planning).len(), 1, "{problem}");
        assert!(thoughts[found].current_thinking.starts_with(&format!(
            "Evaluation of thought {found}: there is a mistake. "
        )));
        let last = &thoughts.last().unwrap().planning;

        assert_eq!(last.progress().fraction(), 1.0, "{problem}");
    }

    for problem in [
        "What is 7?",
        "5 / 0",
        "9^9999",
        "What is the meaning of life?",
    ] {
        let thoughts = solve(problem);
        assert!(
            thoughts
                .iter()
                .all(|thought| marked(&thought.planning).is_empty()),
            "{problem}"
        );

        assert!(!announces_mistake(&thoughts), "{problem}");
    }
}

/// The path of a step with this position.
fn path(plan: &Plan, text: &str) -> StepPath {
    let mut paths = plan.walk().map(|entry| entry.path().clone());
    paths.find(|path| path.to_string() == text).unwrap()
}

#[test]
fn a_wrong_result_from_elsewhere_is_found_and_repaired() {
    let problem = "(17 + 4) * 3 - 2";
    let thoughts = solve(problem);
    let mut tampered = thoughts[thoughts.len() - 2].clone();
    let path = path(&tampered.planning, "2.1");

    tampered.planning.get_mut(&path).unwrap().result = Some("17 + 4 = 23".into());
    let after = next(problem, 6, &tampered.planning);
    assert_eq!(marked(&after.planning), ["2.1"]);
    assert_eq!(
        after.planning.get(&path).unwrap().mark.as_deref(),
        Some("17 + 4 is 21, not 23")
    );
    assert_eq!(after.planning.steps()[1].status, Status::Pending);

    let run = carry_on(problem, vec![after]);
    assert_eq!(
        run[1].planning.get(&path).unwrap(),
        &Step::done("Add 17 and 4", "17 + 4 = 21")
    );
    assert_eq!(solution(&run), "(17 + 4) * 3 - 2 = 61.");
}

#[test]
fn a_foreign_plan_is_replaced_and_that_is_said() {
    let foreign = Plan::from(vec![
        Step::done("Bake a cake", "it rose"),
        Step::pending("Eat it"),
    ]);
    let aliases = format!(
        "- &a {{description: x, status: Pending}}\n{}",
        "- *a\n".repeat(1000)
    );
    let texts = [
        format_plan_for_prompt(&foreign),
        String::new(),
        "no plan at all: [".into(),
        "[".repeat(100_000),
        aliases,
        format_plan_for_prompt(&solve("1 + 2")[1].planning),
        "- description: x\n".repeat(100_000),
    ];

    for plan in texts {
        let thought =
            parse(&complete(request("3 * 4", &["one".into(), "two".into()], Some(&plan))).unwrap());
        insta::allow_duplicates! {
            insta::assert_snapshot!(thought.current_thinking, @r"
            Evaluation of thought 2: its plan is none that I can follow for this problem, so I start a new one.
            The problem asks for 3 * 4. My plan: work it out step by step, check the result, conclude.
            I am a rule-based stand-in and no language model. I make one mistake on purpose, for a later thought to find and repair.
            To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).
            ");
        }

        assert_eq!(solution(&carry_on("3 * 4", vec![thought])), "3 * 4 = 12.");
    }
}

#[test]
fn after_a_complaint_the_same_turn_is_answered_again() {
    let problem = "7 * 8 + 2";
    let plan = format_plan_for_prompt(&solve(problem)[1].planning);
    let turn = request(problem, &["one".into(), "two".into()], Some(&plan));
    let mut complained = turn.clone();

    complained.push(Message::assistant("not yaml"));
    complained.push(Message::user(
        "That was no YAML. Send the whole reply again.",
    ));
    assert_eq!(complete(complained).unwrap(), complete(turn).unwrap());

    let first = request(problem, &[], None);
    let mut complained = first.clone();
    complained.push(Message::assistant("not yaml"));
    complained.push(Message::user(
        "That was no YAML. Send the whole reply again.",
    ));
    assert_eq!(complete(complained).unwrap(), complete(first).unwrap());
}

#[test]
fn a_request_without_a_problem_is_invalid() {
    for text in ["Hello", "<problem>", "</problem><problem>"] {
        let error = complete(ChatRequest::new([Message::user(text)])).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert_eq!(
            error.to_string(),
            "invalid request: no user message holds a problem between <problem> and </problem>"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_for() {
    use cogwork::llm::LlmClient;

    let client =
        cogwork_quickstart::RuleBasedClient::new().with_delay(std::time::Duration::from_secs(5));
    let start = tokio::time::Instant::now();
    client.complete(request("1 + 1", &[], None)).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reply_is_streamed_in_the_time_of_its_delay() {
    use cogwork::llm::backend::Capability;
    use cogwork::llm::{Delta, LlmClient};

    let delay = std::time::Duration::from_secs(5);
    let client = cogwork_quickstart::RuleBasedClient::new().with_delay(delay);
    assert!(client.capabilities().has(Capability::Streaming));
    let at_once = cogwork_quickstart::RuleBasedClient::new();
    assert!(!at_once.capabilities().has(Capability::Streaming));

    let request = || ChatRequest::new([Message::user("<problem>What is 6 * 7?</problem>")]);
    let started = tokio::time::Instant::now();
    let mut stream = client.stream(request()).await.unwrap();
    let mut pieces = 0;
    let mut text = String::new();
    while let Some(delta) = stream.next().await {
        if let Delta::Text(piece) = delta.unwrap() {
            pieces += 1;
            text += &piece;
        }
    }

    assert!(pieces > 10, "{pieces}");
    assert!(started.elapsed() >= delay - std::time::Duration::from_secs(1));
    assert_eq!(text, at_once.complete(request()).await.unwrap().text());
}
