//! A reply that ends the reasoning while steps of its plan are not done.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, EarlyEnd, Reasoning, Reply};
use cogwork_llm::{ChatResponse, ScriptedClient, ScriptedReply, Usage};
use cogwork_plan::{Plan, Step};
use cogwork_typed::ask::Limits;
use cogwork_typed::{AnswerProblem, AnswerProblemKind};
use insta::assert_snapshot;

use crate::node::support::{EARLY, LAST, PROSE, SECOND, cot_error, failure, solve, source};

async fn run(client: &ScriptedClient, policy: EarlyEnd) -> Reasoning {
    let node = ChainOfThought::new(client.clone()).with_early_end(policy);
    solve(node).await
}

/// What the first thought says, which of its replies were complained about, and whether it is
/// marked.
fn first(reasoning: &Reasoning) -> (&str, Vec<bool>, bool) {
    let thought = &reasoning.thoughts()[0];
    let trace = &thought.trace;
    let tries = trace.tries.iter();

    (
        thought.current_thinking.lines().next().unwrap(),
        tries.map(|made| made.complaint.is_some()).collect(),
        trace.ended_early,
    )
}

#[tokio::test]
async fn it_is_asked_about_once_accepted_or_refused_and_marked_if_it_stays() {
    use EarlyEnd::{Accept, Ask, Refuse};

    let early = "The answer is 150.";
    let second = "Evaluation of thought 1: right.";
    let last = "Evaluation of thought 2: right.";
    for (replies, policy, thinking, complaints, is_marked) in [
        (&[EARLY, EARLY][..], Ask, early, &[true, false][..], true),
        // A model that sees its mistake may go on or end well.
        (&[EARLY, SECOND, LAST], Ask, second, &[true, false], false),
        (&[EARLY, LAST], Ask, last, &[true, false], false),
        // Unreadable replies leave the conclusion there was.
        (&[EARLY, PROSE, "", PROSE], Ask, early, &[true; 4], true),
        (&[EARLY], Accept, early, &[false], true),
        (
            &[EARLY, EARLY, LAST],
            Refuse,
            last,
            &[true, true, false],
            false,
        ),
    ] {
        let client = ScriptedClient::new(replies.iter().copied());
        let reasoning = run(&client, policy).await;
        let expected = (thinking, complaints.to_vec(), is_marked);
        assert_eq!(first(&reasoning), expected, "{policy:?}");
        assert_eq!(client.requests().len(), replies.len());
    }

    let client = ScriptedClient::new([EARLY; 3]);
    let node = ChainOfThought::new(client).with_early_end(Refuse);
    let error = failure(node).await;
    let error = cot_error(&error);
    let kind = source::<AnswerProblem>(error).kind();
    assert_eq!(kind, AnswerProblemKind::Check);
    assert_snapshot!(error, @"thought 1: no usable reply in 3 tries: the reply ends the reasoning, but these steps of its plan are not done: 2 Add (Pending); 3 Conclusion (Verification Needed)");
}

#[tokio::test(start_paused = true)]
async fn a_limit_reached_after_the_question_leaves_the_conclusion_there_was() {
    for (limits, requests) in [
        (Limits::default().with_time(Duration::from_secs(50)), 2),
        (Limits::default().with_tokens(20_000), 1),
    ] {
        let early = ChatResponse::new(EARLY).with_usage(Usage::new(18_000, 100));
        let client = ScriptedClient::new([early])
            .then(ScriptedReply::from(LAST).after(Duration::from_secs(100)));
        let node = ChainOfThought::new(client.clone()).with_limits(limits);
        let reasoning = solve(node).await;
        assert_eq!(reasoning.solution(), Some("The answer is 150."));
        assert!(reasoning.thoughts()[0].trace.ended_early);
        assert_eq!(client.requests().len(), requests);
    }
}

#[tokio::test]
async fn the_question_names_the_first_steps_and_counts_the_others() {
    let steps = (1..=24).map(|number| Step::pending(format!("Step {number}")));
    let mut plan: Vec<Step> = steps.collect();
    plan[0] = Step::pending("Parent").with_sub_steps([
        Step::pending("First\n  line\u{1b}[31m"),
        Step::pending("x".repeat(500)),
        Step::done("done", "1"),
    ]);

    let reply = Reply {
        current_thinking: "Done.".into(),
        planning: Plan::from(plan),
        next_thought_needed: false,
    };

    let client = ScriptedClient::new([reply.to_string(), LAST.to_owned()]);
    run(&client, EarlyEnd::Ask).await;

    let requests = client.requests();
    let question = requests[1].messages().last().unwrap().text();
    let lines = question.lines().filter(|line| line.starts_with("- "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 21);
    assert_eq!(lines[0], "- 1.1 First line\u{fffd}[31m (Pending)");
    assert_eq!(lines[1], format!("- 1.2 {}… (Pending)", "x".repeat(200)));
    assert_eq!(lines[2], "- 2 Step 2 (Pending)");
    assert_eq!(lines[19..], ["- 19 Step 19 (Pending)", "- and 5 more"]);
}
