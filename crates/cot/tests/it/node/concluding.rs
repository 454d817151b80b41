//! Before a limit is reached, the model is asked to conclude, and the run ends with the best answer and the reason.

use std::sync::Arc;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::engine::MemoryJournal;
use cogwork_llm::{ChatResponse, FinishReason, LlmClient, ScriptedClient, ScriptedReply, Usage};
use cogwork_typed::ask::{Limit, Limits};
use cogwork_typed::{AnswerProblem, AnswerProblemKind};
use insta::assert_snapshot;

use crate::node::support::{
    EARLY, FIRST, LAST, PROSE, SECOND, assert_survives_saving, conversation, cot_error, failure,
    reasoning, solve, source,
};

/// Every step but the conclusion is done.
const THIRD: &str = "\
```yaml
current_thinking: 144 + 6 = 150.
planning:
  - {description: Multiply, status: Done, result: 144}
  - {description: Add, status: Done, result: 150}
  - {description: Conclusion, status: Pending}
next_thought_needed: true
```";

async fn run(client: &(impl LlmClient + Clone + 'static), limits: Limits) -> Reasoning {
    run_node(ChainOfThought::new(client.clone()).with_limits(limits)).await
}

async fn run_node(node: ChainOfThought) -> Reasoning {
    let reasoning = solve(node).await;
    assert_survives_saving(&reasoning);
    reasoning
}

fn thoughts(most: u32) -> Limits {
    Limits::default().with_thoughts(most)
}

#[tokio::test]
async fn the_last_thought_is_asked_for_the_conclusion() {
    let client = ScriptedClient::new([FIRST, EARLY]);
    let reasoning = run(&client, thoughts(2)).await;

    assert_eq!(reasoning.solution(), Some("The answer is 150."));
    let limit = Limit::Thoughts(2);
    assert_eq!(reasoning.cut_short().unwrap().limit, limit);
    assert!(!reasoning.is_complete());
    assert!(reasoning.cut_short().unwrap().is_concluded());

    // The model isn't asked about the steps that are not done.
    assert!(reasoning.thoughts()[1].trace.ended_early);
    let requests = client.requests();
    assert_eq!(requests.len(), 2);
    let last = requests[1].messages().len() - 1;
    assert_snapshot!(conversation(&requests[1], last));
}

#[tokio::test]
async fn a_conclusion_that_wants_to_go_on_is_still_the_end() {
    let client = ScriptedClient::new([FIRST, SECOND]);
    let reasoning = run(&client, thoughts(2)).await;

    assert!(reasoning.solution().unwrap().contains("12 * 12 = 144."));
    assert!(!reasoning.is_complete());
    assert!(!reasoning.thoughts()[1].next_thought_needed);

    // What the model wrote is kept.
    assert_eq!(reasoning.thoughts()[1].trace.tries[0].reply, SECOND);
}

#[tokio::test]
async fn an_answer_that_came_in_time_is_complete() {
    for (replies, most, is_complete) in [
        (&[FIRST, LAST][..], 3, true),
        // Also in the last thought, if only the conclusion was left to do.
        (&[FIRST, THIRD, LAST], 3, true),
        // Not if the last thought does everything at once because it was asked to.
        (&[FIRST, LAST], 2, false),
    ] {
        let client = ScriptedClient::new(replies.iter().copied());
        let reasoning = run(&client, thoughts(most)).await;
        assert_eq!(reasoning.is_complete(), is_complete);
    }
}

#[tokio::test]
async fn without_a_usable_conclusion_the_last_thought_is_the_answer() {
    let client = ScriptedClient::new([FIRST, PROSE, PROSE, PROSE]);
    let reasoning = run(&client, thoughts(2)).await;

    assert_eq!(reasoning.solution(), Some("I multiply, then add."));
    assert_eq!(reasoning.thoughts().len(), 1);
    assert!(!reasoning.is_complete());

    let cut_short = reasoning.cut_short().unwrap();
    assert!(!cut_short.is_concluded());
    assert_eq!(cut_short.trace.tries.len(), 3);
    assert_eq!(cut_short.trace.spent.calls, 3);
    assert_eq!(reasoning.spent().calls, 4);
    assert_snapshot!(cut_short.problem.as_deref().unwrap(), @"thought 2: no usable reply in 3 tries: line 1: the reply has no YAML block; expected one with the keys `current_thinking`, `planning` and `next_thought_needed`");
}

#[tokio::test]
async fn a_conclusion_that_was_cut_off_is_used_as_far_as_it_goes() {
    let half = "```yaml\ncurrent_thinking: |\n  The answer is 150, because\nplanning:\n  - descr";
    for (limits, asks_again, calls) in [
        (thoughts(2), 0, 2),
        (thoughts(2), 1, 3),
        (Limits::default().with_tokens(20_000), 2, 2),
    ] {
        let cut_off = ChatResponse::new(half).with_finish_reason(FinishReason::Length);
        let first = ChatResponse::new(FIRST).with_usage(Usage::new(1_000, 17_000));
        let client = ScriptedClient::new([first]).then(cut_off).then(PROSE);
        let node = ChainOfThought::new(client.clone()).with_limits(limits);
        let reasoning = run_node(node.with_asks_again(asks_again)).await;

        let answer = reasoning.solution().unwrap();
        assert_eq!(answer.trim(), "The answer is 150, because");
        assert!(!reasoning.is_complete());
        assert_eq!(reasoning.thoughts()[1].trace.tries[0].reply, half);
        assert_eq!(client.requests().len(), calls);
    }
}

#[tokio::test]
async fn a_limit_before_the_first_thought_is_an_error_unless_the_model_can_conclude() {
    let client = ScriptedClient::new([LAST]);
    let reasoning_of_one = run(&client, thoughts(1)).await;
    assert!(!reasoning_of_one.is_complete());
    assert!(reasoning_of_one.solution().is_some());

    let client = ScriptedClient::new([LAST]);
    let node = ChainOfThought::new(client.clone()).with_limits(Limits::default().with_tokens(500));
    let error = failure(node).await;
    assert_eq!(cot_error(&error).limit(), Some(Limit::Tokens(500)));
    assert_eq!(client.requests().len(), 0);

    // A conclusion that cannot be used is kept in the error.
    let client = ScriptedClient::new([PROSE]);
    let node = ChainOfThought::new(client).with_limits(thoughts(1));
    let node = node.with_asks_again(0);
    let error = failure(node).await;
    let error = cot_error(&error);
    assert_eq!(error.trace().tries[0].reply, PROSE);
    assert_eq!(error.trace().spent.calls, 1);
    assert_eq!(
        source::<AnswerProblem>(error).kind(),
        AnswerProblemKind::NoValue
    );
}

#[tokio::test(start_paused = true)]
async fn time_is_kept_for_the_conclusion() {
    let concluded = "The answer is 150.";
    let first = "I multiply, then add.";
    // When the model takes this long for each reply: the limits, the time, and the thoughts.
    for (seconds, soft, hard, took, thoughts, solution) in [
        // After two turns of 20 seconds, there is time for one more.
        ([20, 20, 20], 79, None, 60, 3, concluded),
        // A turn that takes too long is interrupted. A quarter of the limit at most is kept; the
        // longest turn so far took 20 seconds.
        ([20, 1_000, 10], 100, None, 90, 2, concluded),
        // So is a conclusion that takes too long.
        ([20, 1_000, 1_000], 100, None, 100, 1, first),
        // It may take until the hard limit of time.
        ([20, 1_000, 95], 100, Some(200), 175, 2, concluded),
    ] {
        let seconds = seconds.map(Duration::from_secs);
        let replies = [FIRST, SECOND, EARLY].into_iter().zip(seconds);
        let replies = replies.map(|(text, time)| ScriptedReply::from(text).after(time));
        let time = Duration::from_secs(soft);
        let limits = Limits::default().with_time(time);
        let limits = match hard {
            Some(seconds) => limits.with_hard_time(Duration::from_secs(seconds)),
            None => limits,
        };
        let reasoning = run(&ScriptedClient::new(replies), limits).await;

        assert_eq!(reasoning.spent().time, Duration::from_secs(took));
        assert_eq!(reasoning.thoughts().len(), thoughts);
        assert_eq!(reasoning.solution(), Some(solution));
        assert_eq!(reasoning.cut_short().unwrap().limit, Limit::Time(time));
    }
}

#[tokio::test]
async fn a_reopened_reasoning_goes_on_under_higher_limits() {
    for replies in [&[FIRST, EARLY, LAST][..], &[FIRST, PROSE, LAST]] {
        let client = ScriptedClient::new(replies.iter().copied());
        let node = ChainOfThought::new(client.clone()).with_asks_again(0);
        let mut reasoning = run_node(node.with_limits(thoughts(2))).await;
        let made = reasoning.thoughts().len();

        // Without that, a finished run stays finished.
        let flow = ChainOfThought::new(client.clone()).into_flow();
        flow.run(&mut reasoning).await.unwrap();
        assert_eq!(reasoning.thoughts().len(), made);

        assert!(reasoning.reopen());
        assert_eq!((reasoning.solution(), reasoning.cut_short()), (None, None));
        assert_survives_saving(&reasoning);

        flow.run(&mut reasoning).await.unwrap();
        assert!(reasoning.is_complete());
        assert_eq!(reasoning.thoughts().len(), made + 1);
        assert_eq!(reasoning.spent().calls, 3);
        assert!(!reasoning.reopen());
    }
}

#[tokio::test]
async fn a_recorded_end_is_not_asked_for_again() {
    for replies in [[FIRST, EARLY], [FIRST, PROSE]] {
        let client = ScriptedClient::new(replies);
        let node = ChainOfThought::new(client.clone())
            .with_limits(thoughts(2))
            .with_asks_again(0);
        let flow = node.into_flow();
        let journal = Arc::new(MemoryJournal::new("run"));

        let mut states = Vec::new();
        for _ in 0..2 {
            let mut reasoning = reasoning();
            let mut run = flow.begin().with_journal(Arc::clone(&journal));
            run.finish(&mut reasoning).await.unwrap();
            states.push(reasoning);
        }

        assert_eq!(states[0], states[1]);
        assert!(states[1].cut_short().is_some());
        assert_eq!(client.requests().len(), 2);
    }
}

#[cfg(feature = "console")]
#[tokio::test]
async fn the_console_shows_why_the_run_ended() {
    use cogwork_cot::ConsoleReporter;

    use crate::node::reporting::Screen;

    let out = Screen::default();
    for last in [EARLY, PROSE] {
        let node = ChainOfThought::new(ScriptedClient::new([FIRST, last]))
            .with_limits(thoughts(2))
            .with_asks_again(0)
            .with_reporter(ConsoleReporter::to(out.clone()));
        solve(node).await;
    }

    let printed = out.text();
    let about_limits = printed.lines().filter(|line| line.contains("limit"));
    assert_snapshot!(about_limits.collect::<Vec<_>>().join("\n"), @r"
    Thought 2: concluding, because the limit of 2 thoughts is nearly reached
    Ended by the limit of 2 thoughts: this is the best answer so far.
    Thought 2: concluding, because the limit of 2 thoughts is nearly reached
    Ended by the limit of 2 thoughts: this is the last thought, without a conclusion.
    ");
}

/// The usage of a call that leaves 6,000 of 20,000 tokens.
fn used(text: &str) -> ChatResponse {
    ChatResponse::new(text).with_usage(Usage::new(2_000, 12_000))
}

#[tokio::test]
async fn tokens_are_kept_for_the_conclusion() {
    let client = ScriptedClient::new([used(FIRST), ChatResponse::new(EARLY)]);
    let limits = Limits::default().with_tokens(20_000);
    let reasoning = run(&client, limits).await;

    let limit = Limit::Tokens(20_000);
    assert_eq!(reasoning.cut_short().unwrap().limit, limit);
    assert_eq!(reasoning.thoughts().len(), 2);
}
