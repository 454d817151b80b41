//! How runs end: at the limits of the method, of the budget, and of what the model can do.

use std::time::Duration;

use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, ScriptedClient, ScriptedReply, async_trait,
};
use cogwork_strategies::methods::{
    Evaluator, Linear, React, Rewoo, Scratchpad, Search, SelfAsk, TreeOfThoughts,
};
use cogwork_strategies::{Call, Called, EndReason, Method, Solver, StrategyName};
use cogwork_tools::{Tools, function};
use cogwork_typed::ask::Limits;
use serde_json::Value;
use tokio::time::Instant;

use super::support::{ended, scripted};
use super::wires::{BROAD, TWO, judged, tree};
use crate::json::scripts::{PROBLEM, client, replies, solver};

#[tokio::test]
async fn a_budget_spent_in_the_middle_leaves_the_best_so_far() {
    let mut ends = Vec::new();
    for name in StrategyName::ALL {
        for calls in 0..=replies(name).len() {
            let limits = Limits::default().with_calls(u32::try_from(calls).unwrap());
            let solver = solver(name, client(replies(name)));
            let solver = solver.with_limits(limits.with_conclude(false));
            let solved = solver.solve(PROBLEM).await.unwrap();
            ends.push(format!("{name}: {}", ended(&solved)));
        }
    }
    insta::assert_snapshot!(ends.join("\n"));
}

#[tokio::test]
async fn a_model_that_never_ends_is_brought_to_an_end() {
    fn replies(first: &str, more: impl Fn(u32) -> String) -> Vec<String> {
        [first.to_owned()]
            .into_iter()
            .chain((0..50).map(more))
            .collect()
    }

    // The maximum number of thoughts, cycles, questions and steps.
    let guess = |n: u32| match n % 3 {
        0 if n == 0 => "It may be 50.".to_owned(),
        1 => "next: hypothesis_generation".to_owned(),
        2 => format!("hypothesis: {n}"),
        _ => "verification: No.\nholds: no".to_owned(),
    };
    let look = |n: u32| match n {
        0..2 => format!("action: height\naction_input: {{\"of\": \"peak {n}\"}}"),
        _ => "I cannot tell.".to_owned(),
    };
    let ask = |n: u32| match n {
        0..3 => format!("sub_question: What is {n}?\nsub_question_answer: {n}"),
        _ => "answer: 6".to_owned(),
    };
    let count = |n: u32| format!("state_variables: {{\"total\": {n}}}\ndone: no");
    let questions = SelfAsk { max_questions: 3 };
    let steps = Scratchpad { max_steps: 5 };

    // The same again and again.
    let think = |n: u32| match n % 2 {
        0 => "Add them.".to_owned(),
        _ => "next: thought_adjustment\nverification: No.\nholds: no".to_owned(),
    };
    let look_again = |n| format!("thought: try {n}\naction: height\naction_input: K2");
    let ask_again = |n| format!("sub_question: When was it?\nsub_question_answer: 194{n}");
    let hesitate = |n| format!("thought: Hm {n}.\ndone: no");

    let plan = "thought: Guess.\nthoughts_needed: 2";
    let start = r#"state_variables: {"total": 0, "left": []}"#;
    let runs: [(Box<dyn Method>, Vec<String>); 8] = [
        (Linear { max_thoughts: 4 }.into(), replies(plan, guess)),
        (React { max_cycles: 3 }.into(), replies(&look(0), look)),
        (questions.into(), replies(&ask(0), |n| ask(n + 1))),
        (steps.into(), replies(start, count)),
        (StrategyName::Linear.into(), replies(plan, think)),
        (
            StrategyName::React.into(),
            replies(&look_again(0), |n| look_again(n + 1)),
        ),
        (
            StrategyName::SelfAsk.into(),
            replies(&ask_again(0), ask_again),
        ),
        (StrategyName::Scratchpad.into(), replies(start, hesitate)),
    ];
    let mut ends = Vec::new();
    for (method, replies) in runs {
        let (solver, _) = scripted(method, replies);
        ends.push(ended(&solver.solve("p").await.unwrap()));
    }
    insta::assert_snapshot!(ends.join("\n"), @r#"
    given up: after 4 thoughts the hypothesis does not hold: 8
    answered: I cannot tell.
    answered: 6
    answered: state_variables: {"total": 5}, done: no
    no progress: the thoughts repeated 3 times up to the stage `hypothesis_generation`: Add them.
    no progress: the thoughts repeated 3 times up to the stage `observation_reception`: try 2
    no progress: the thoughts repeated 3 times up to the stage `sub_question_formulation`: (none)
    no progress: the thoughts repeated 3 times up to the stage `state_tracking`: Hm 2.
   "#);
}

/// A model that always proposes more steps and scores them highly.
struct Endless;

#[async_trait]
impl LlmClient for Endless {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .last()
            .map(|message| message.text().to_owned());
        let asked = asked.unwrap_or_default();
        let approach =
            |n: usize| format!(r#"{{"id": "a{n}", "description": "way {n}", "promise": 7}}"#);
        let step = |n: usize| format!("- step {n} after {} {}\n", asked.len(), "x".repeat(n % 50));

        Ok(ChatResponse::new(if asked.contains("\napproaches:") {
            let approaches: Vec<String> = (0..500).map(approach).collect();
            format!("approaches: [{}]", approaches.join(", "))
        } else if asked.contains("\nevaluation_score:") {
            judged(7, false)
        } else if asked.contains("\nproposals:") {
            (0..60).map(step).collect()
        } else {
            "answer: enough".to_owned()
        }))
    }
}

#[tokio::test]
async fn a_tree_without_end_meets_the_bounds() {
    let widest = TreeOfThoughts {
        search: Search::BreadthFirst {
            beam_width: usize::MAX,
        },
        approaches: usize::MAX,
        proposals: usize::MAX,
        depth: usize::MAX,
        ..TreeOfThoughts::default()
    };
    let much = Limits::default().with_calls(100_000).with_thoughts(100_000);
    let solver = Solver::new(Endless, widest).with_limits(much.with_tokens(u64::MAX));
    let solved = solver.solve("p").await.unwrap();

    let limit = "1000 branches".to_owned();
    assert_eq!(solved.end().unwrap(), &EndReason::SessionFull { limit });
    assert!(solved.answer().unwrap().starts_with("way 0\nstep 0"));

    let solved = Solver::new(Endless, StrategyName::TreeOfThoughts)
        .solve("p")
        .await
        .unwrap();
    assert_eq!(
        (solved.answer(), solved.spent().calls),
        (Some("enough"), 26)
    );
}

#[tokio::test]
async fn several_scores_of_a_branch_count_with_their_mean() {
    let replies = [
        TWO,
        "book a table",
        &judged(8, true),
        &judged(7, false),
        "no score",
        "answer: a",
    ];
    let method = TreeOfThoughts {
        proposals: 1,
        depth: 1,
        evaluation: Evaluator::Values(3),
        ..tree(Search::DepthFirst)
    };
    let (solver, _) = scripted(method, replies);
    let solved = solver.with_asks_again(0).solve("p").await.unwrap();
    let session = solved.session();
    assert_eq!(session.branch_named("B").unwrap().score, Some(7.5));
}

fn slow(seconds: u64, text: &str) -> ScriptedReply {
    ScriptedReply::from(text).after(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_a_round_are_asked_at_once() {
    let client = ScriptedClient::default()
        .then(slow(1, TWO))
        .then(slow(10, "- a\n- b"))
        .then(slow(30, "- c\n- d"))
        .then(slow(100, &judged(7, false)))
        .then(slow(200, &judged(7, false)))
        .then(slow(300, &judged(7, false)))
        .then(slow(200, &judged(9, true)))
        .then(slow(1000, "answer: d"));
    let solver = Solver::new(client, tree(BROAD));
    let solver = solver.with_limits(Limits::default().with_time(Duration::MAX));

    let begun = Instant::now();
    assert_eq!(solver.solve("p").await.unwrap().answer(), Some("d"));
    assert_eq!(begun.elapsed().as_secs(), 1 + 30 + 300 + 1000);
}

#[tokio::test(start_paused = true)]
async fn planned_calls_take_the_time_of_the_longest_way_through_them() {
    let wait = |input: Value| async move {
        let seconds = input["s"].as_u64().unwrap_or_default();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok(format!("waited {seconds}"))
    };
    let plan = "Plan: First.\n#E1 = wait{\"s\": 1}\n\
                Plan: Left.\n#E2 = wait{\"s\": 5, \"after\": \"#E1\"}\n\
                Plan: Right.\n#E3 = wait{\"s\": 7, \"after\": \"#E1\"}\n\
                Plan: Both.\n#E4 = wait{\"s\": 2, \"after\": [\"#E2\", \"#E3\"]}";
    let tools = Tools::new().with(function("wait", "Waits.", wait)).unwrap();
    let client = ScriptedClient::new([plan, "done", plan, "six"]);
    let solver = Solver::new(client, Rewoo::default()).with_tools(tools);
    let solved = solver.solve("Wait.").await.unwrap();

    assert_eq!(solved.spent().time, Duration::from_secs(1 + 7 + 2));
    let calls = solved.calls().iter().rev();
    let mut inputs = calls.filter_map(|call| match call {
        Call::Tool(Called { input, .. }) => Some(input.to_string()),
        _ => None,
    });
    let last = inputs.next().unwrap();
    assert_eq!(last, r#"{"after":["waited 5","waited 7"],"s":2}"#);

    // What the tools did in time is evidence.
    let solver = solver.with_limits(Limits::default().with_time(Duration::from_secs(9)));
    let solved = solver.solve("Wait.").await.unwrap();
    let told = solved.to_string();
    let too_late = "not finished: the budget of 9s is spent";
    assert!(told.contains("#E2 = waited 5"), "{told}");
    assert!(told.contains(&format!("#E3 = {too_late}")), "{told}");
    assert_eq!(ended(&solved), "answered: six");
}
