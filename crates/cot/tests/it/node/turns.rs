//! One turn, the next one, and the node in flows.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Prompts, Reasoning};
use cogwork_flow::nodes::Phase;
use cogwork_flow::{Backoff, Flow, Node};
use cogwork_llm::{ChatRequest, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};
use insta::assert_snapshot;
use tokio::task::JoinSet;

use crate::node::support::{
    FIRST, LAST, PROBLEM, PROSE, SECOND, Stateless, cot_error, flow, poll_times, reasoning, source,
};

#[tokio::test]
async fn a_run_is_its_thoughts_in_order_and_then_the_conclusion() {
    let client = ScriptedClient::new([FIRST, SECOND, LAST]);
    let flow = flow(client.clone());
    let mut reasoning = reasoning();
    let ended = flow.run(&mut reasoning).await.unwrap();

    assert_eq!((ended.action, ended.steps), (ChainOfThought::END, 3));
    let thoughts = reasoning.thoughts();
    let numbers = thoughts.iter().map(|thought| thought.thought_number);
    assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 3]);
    let first_step = &thoughts[1].planning.steps()[0];
    assert_eq!(first_step.result.as_deref(), Some("144"));
    assert_eq!(reasoning.current_thought_number(), 3);
    assert_eq!(reasoning.solution(), Some(&*thoughts[2].current_thinking));
    assert_eq!(reasoning.plan(), Some(&thoughts[2].planning));
    assert_eq!(thoughts[0].trace.tries.len(), 1);
    assert_eq!(thoughts[0].trace.tries[0].reply, FIRST);
    assert_eq!(thoughts[0].trace.tries[0].complaint, None);
    assert_eq!(client.requests().len(), 3);
}

#[tokio::test]
async fn the_answer_is_the_last_result_if_there_is_one() {
    let given = "{description: Conclusion, status: Done, result: 150}";
    let block = "description: Conclusion\n    status: Done\n    result: |\n      150";
    let blank = "{description: Conclusion, status: Done, result: \" \"}";
    let whole = "Evaluation of thought 2: right.\n144 + 6 = 150, so the answer is 150.\n";

    for (step, answer) in [(given, "150"), (block, "150"), (blank, whole)] {
        let client = ScriptedClient::new([FIRST.to_owned(), LAST.replace(given, step)]);
        let mut reasoning = reasoning();
        flow(client).run(&mut reasoning).await.unwrap();
        assert_eq!(reasoning.answer(), Some(answer));
    }
}

#[tokio::test]
async fn a_turn_that_failed_does_not_count_when_it_is_made_again() {
    let error = LlmError::new(LlmErrorKind::Authentication, "the key is wrong");
    let client = ScriptedClient::new([FIRST]).then(error.with_status(401));
    let client = client.then(LAST);
    let flow = flow(client.clone());
    let mut reasoning = reasoning();

    let error = flow.run(&mut reasoning).await.unwrap_err();
    assert_snapshot!(error, @"flow `chain of thought`, node `think`: exec failed: thought 2: the call to the model failed: authentication: the key is wrong (status 401)");
    let error = cot_error(&error);
    let kind = source::<LlmError>(error).kind();
    assert_eq!(kind, LlmErrorKind::Authentication);
    assert_eq!((error.thought_number(), error.limit()), (2, None));
    assert_eq!(error.trace().tries.len(), 0);
    assert_eq!(reasoning.thoughts().len(), 1);

    flow.run(&mut reasoning).await.unwrap();
    assert_eq!(reasoning.thoughts()[1].thought_number, 2);
    let requests = client.requests();
    assert_eq!(requests[1], requests[2]);
}

#[tokio::test]
async fn a_state_that_has_its_answer_makes_no_call() {
    let client = ScriptedClient::new([LAST]);
    let flow = flow(client.clone());
    let mut reasoning = reasoning();
    flow.run(&mut reasoning).await.unwrap();
    let solved = reasoning.clone();

    let ended = flow.run(&mut reasoning).await.unwrap();
    assert_eq!((ended.action, ended.steps), (ChainOfThought::END, 1));
    assert_eq!(reasoning, solved);
    assert_eq!(client.requests().len(), 1);
}

#[tokio::test]
async fn what_makes_no_sense_is_an_error_before_any_call() {
    let client = ScriptedClient::new([LAST]);
    let node = ChainOfThought::new(client.clone());
    let mut prompts = Prompts::english();
    prompts.later_turn = "Go on.".to_owned();

    let mut said = Vec::new();
    for (problem, node) in [
        ("", node.clone()),
        (" \t\r\n ", node.clone()),
        (PROBLEM, node.with_prompts(prompts)),
    ] {
        let mut reasoning = Reasoning::new(problem);
        let error = node.into_flow().run(&mut reasoning).await.unwrap_err();
        assert_eq!(error.phase(), Some(Phase::Prep));
        said.push(cot_error(&error).to_string());
    }

    assert_eq!(client.requests().len(), 0);
    assert_snapshot!(said.join("\n"), @"
    thought 1: the problem is empty; expected a text
    thought 1: the problem is empty; expected a text
    thought 1: prompt `later_turn`: `{plan}` is missing; it may use {thought_number}, {last_thought_number}, {plan}, {left_out}, {form_name}, and must use {plan}
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_serves_many_runs_at_once() {
    let client = Stateless {
        waits: 3,
        prose_first: true,
        ..Stateless::new(&[FIRST, SECOND, LAST])
    };

    let flow = Arc::new(flow(client));
    let mut runs = JoinSet::new();
    for run in 0..50 {
        let flow = Arc::clone(&flow);
        runs.spawn(async move {
            let mut reasoning = Reasoning::new(format!("Problem {run}"));
            flow.run(&mut reasoning).await.unwrap();
            (run, reasoning)
        });
    }

    while let Some(joined) = runs.join_next().await {
        let (run, reasoning) = joined.unwrap();
        assert_eq!(reasoning.problem(), format!("Problem {run}"));
        let thoughts = reasoning.thoughts();
        assert_eq!(thoughts.len(), 3);
        assert_eq!(reasoning.solution(), Some(&*thoughts[2].current_thinking));
        let mut tries = thoughts.iter().map(|thought| thought.trace.tries.len());
        assert!(tries.all(|tries| tries == 2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_dropped_wherever_it_waits_goes_on_to_the_same_end() {
    let client = Arc::new(Stateless {
        waits: 2,
        prose_first: true,
        ..Stateless::new(&[FIRST, SECOND, LAST])
    });

    let flow = flow(Arc::clone(&client));
    let mut whole = reasoning();
    flow.run(&mut whole).await.unwrap();
    assert_eq!(client.calls.load(Ordering::Relaxed), 6);

    let mut cuts = 0;
    loop {
        let mut reasoning = reasoning();
        let ended = poll_times(pin!(flow.run(&mut reasoning)), cuts).await;
        let done = ended.is_some();
        let made = reasoning.thoughts();
        assert_eq!(made, &whole.thoughts()[..made.len()]);
        assert!(done || reasoning.solution().is_none());
        flow.run(&mut reasoning).await.unwrap();
        assert_eq!(reasoning, whole);

        if done {
            break;
        }

        cuts += 1;
    }

    // Three turns of two calls, each of which waits twice before and twice after its answer.
    assert_eq!(cuts, 3 * 2 * 4 + 1);
}

#[tokio::test(start_paused = true)]
async fn the_cost_of_failed_attempts_is_part_of_the_error_or_of_the_thought() {
    let retried = |client: &ScriptedClient| {
        looped(ChainOfThought::new(client.clone()).retry(Backoff::of::<2>()))
    };

    let client = ScriptedClient::new([PROSE; 6]);
    let error = retried(&client).run(&mut reasoning()).await.unwrap_err();
    assert_snapshot!(error, @"flow `looped`, node `think`: exec failed after 2 attempts: thought 1: no usable reply in 3 tries: line 1: the reply has no YAML block; expected one with the keys `current_thinking`, `planning` and `next_thought_needed`");

    // The tries are those of the last attempt, which is a whole turn; the cost is that of all.
    let trace = cot_error(&error).trace();
    assert_eq!((trace.tries.len(), trace.spent.calls), (3, 6));
    assert_eq!(client.requests().len(), 6);

    let slow = ScriptedReply::from(PROSE).after(Duration::from_secs(7));
    let client = ScriptedClient::new([PROSE; 2]).then(slow).then(LAST);
    let mut state = reasoning();
    retried(&client).run(&mut state).await.unwrap();

    let requests = client.requests();
    let spent = state.spent();
    assert_eq!((requests.len(), spent.calls), (4, 4));
    assert_eq!(spent.time, Duration::from_secs(7));
    let read: u64 = requests.iter().map(ChatRequest::estimated_tokens).sum();
    assert!(spent.tokens() > read, "{spent}");
}

fn looped(node: impl Node<Reasoning> + 'static) -> Flow<Reasoning> {
    Flow::builder("looped")
        .start("think")
        .node("think", node)
        .edge("think", ChainOfThought::CONTINUE, "think")
        .end("think", ChainOfThought::END)
        .build()
        .unwrap()
}
