//! Runs that fail and are continued with the same state.

use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::Run;
use cogwork_flow::engine::MemoryJournal;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatResponse, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply, Usage};
use cogwork_strategies::methods::SelfConsistency;
use cogwork_strategies::{EndReason, SolveError, Solver, Solving, StrategyName};
use cogwork_typed::ask::{Limit, Limits};

use crate::json::scripts::{PROBLEM, replies, solver};

const STEPS: &str = "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.";
const RESULTS: &str = "results:\n- 30\n- 21\n- 51\nanswer: 51";
const CHECKED: &str = "thought: 51 / 3 = 17.\nholds: yes";

fn broken() -> LlmError {
    LlmError::new(LlmErrorKind::Transport, "the connection broke")
}

/// A reply that takes three seconds and a thousand tokens, and that cannot be used.
fn useless() -> ScriptedReply {
    let response = ChatResponse::new("").with_usage(Usage::new(1_000, 0));
    ScriptedReply::from(response).after(Duration::from_secs(3))
}

async fn fail(run: &mut Run<'_, Solving>, solving: &mut Solving) -> SolveError {
    let error = run.finish(solving).await.unwrap_err();
    SolveError::of_run(error, solving.clone())
}

#[tokio::test(start_paused = true)]
async fn the_cost_includes_attempts_that_failed() {
    let client = ScriptedClient::new([STEPS])
        .then(useless())
        .then(broken())
        .then(useless())
        .then(broken())
        .then(RESULTS)
        .then(CHECKED);
    let solver = Solver::new(client.clone(), StrategyName::ChainOfThought);
    let mut solving = solver.begin("What is 17 * 3?");
    let flow = solver.clone().into_flow().unwrap();
    let mut run = flow.begin();

    let first = fail(&mut run, &mut solving).await;
    assert_eq!(solving.spent().calls, 3);
    assert_eq!(first.so_far().unwrap().spent(), solving.spent());

    fail(&mut run, &mut solving).await;
    assert_eq!(solving.spent().calls, 5);
    assert_eq!(solving.spent().time, Duration::from_secs(6));

    run.finish(&mut solving).await.unwrap();
    assert_eq!(solving.answer(), Some("51"));
    assert_eq!(solving.spent().calls, 7);
    assert_eq!(solving.spent().usage.prompt_tokens, 2_000);
    assert_eq!(solving.spent().time, Duration::from_secs(6));
    assert_eq!(client.requests().len(), 7);
}

/// Otherwise, the run would go on with the only question that was asked again.
#[tokio::test]
async fn all_questions_are_asked_again_after_all_of_them_failed() {
    let client = ScriptedClient::new([broken(), broken(), broken()])
        .then("answer: 51")
        .then("answer: 51")
        .then("answer: 51");
    let method = SelfConsistency {
        paths: 3,
        all_paths: true,
        ..SelfConsistency::default()
    };
    let solver = Solver::new(client, method);
    let flow = solver.clone().into_flow().unwrap();
    let journal = Arc::new(MemoryJournal::new("7"));

    for is_there in [false, true] {
        let mut solving = solver.begin(PROBLEM);
        let mut run = flow.begin().with_journal(Arc::clone(&journal));
        assert_eq!(run.finish(&mut solving).await.is_ok(), is_there);
        if is_there {
            assert_eq!(solving.confidence(), Some(1.0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_for_all_attempts() {
    let client = ScriptedClient::new([STEPS]).then(broken()).then(broken());
    let budget = Limits::default().with_calls(3).with_conclude(false);
    let solver = Solver::new(client, StrategyName::ChainOfThought).with_limits(budget);

    let mut solving = solver.begin("What is 17 * 3?");
    let flow = solver.into_flow().unwrap();
    let mut run = flow.begin();
    fail(&mut run, &mut solving).await;
    fail(&mut run, &mut solving).await;

    run.finish(&mut solving).await.unwrap();
    assert_eq!(
        solving.end(),
        Some(&EndReason::OutOf {
            limit: Limit::Calls(3)
        })
    );
    assert_eq!(solving.spent().calls, 3);
}

/// Returns a client whose call with this number fails once.
fn failing_at(name: StrategyName, number: usize) -> ScriptedClient {
    let schema = Capabilities::none().with(Capability::JsonSchema);
    let mut client = ScriptedClient::default();
    for (place, reply) in replies(name).into_iter().enumerate() {
        if place == number {
            client = client.then(broken());
        }
        client = client.then(reply);
    }
    client.with_capabilities(schema)
}

/// A program that has lost its state goes on with the one in the error.
#[tokio::test]
async fn a_failed_run_makes_only_the_failed_call_again() {
    for name in StrategyName::ALL {
        let calls = replies(name).len();
        let whole = solver(name, failing_at(name, calls));
        let expected = whole.solve(PROBLEM).await.unwrap();

        for number in 0..calls {
            let client = failing_at(name, number);
            let solver = solver(name, client.clone());
            // One of several questions may fail.
            let Err(error) = solver.solve(PROBLEM).await else {
                continue;
            };

            let saved = serde_json::to_string(error.so_far().unwrap()).unwrap();
            let mut solving: Solving = serde_json::from_str(&saved).unwrap();
            let flow = solver.into_flow().unwrap();
            flow.run(&mut solving).await.unwrap();

            assert_eq!(client.requests().len(), calls + 1, "{name} {number}");
            assert_eq!(solving.answer(), expected.answer(), "{name} {number}");
            let sessions = [&solving, &expected].map(Solving::session);
            assert_eq!(sessions[0], sessions[1], "{name} {number}");
        }
    }
}
