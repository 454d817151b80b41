//! A reply that ends the reasoning while steps of its plan are not done.

use std::time::Duration;

use cogwork_cot::{
    ChainOfThought, ChatResponse, EarlyEnd, Limits, Plan, Reasoning, Reply, ReplyProblemKind,
    ScriptedClient, Step, Usage,
};
use cogwork_llm::ScriptedReply;
use insta::assert_snapshot;

use crate::node::support::{EARLY, LAST, PROSE, SECOND, cot_error, reasoning, solve};

async fn run(client: &ScriptedClient, policy: EarlyEnd) -> Reasoning {
    let node = ChainOfThought::new(client.clone()).with_early_end(policy);
    solve(node).await
}

/// Whether each try of the only thought was complained about.
fn complaints(reasoning: &Reasoning) -> Vec<bool> {
    let [thought] = reasoning.thoughts() else {
        panic!("not one thought")
    };

    thought
        .trace()
        .tries
        .iter()
        .map(|made| made.complaint.is_some())
        .collect()
}

#[tokio::test]
async fn it_is_asked_about_once_then_accepted_and_marked() {
    let client = ScriptedClient::new([EARLY, EARLY]);
    let reasoning = run(&client, EarlyEnd::default()).await;
    assert_eq!(reasoning.solution(), Some("The answer is 150."));
    assert_eq!(complaints(&reasoning), [true, false]);
    assert!(reasoning.thoughts()[0].trace().ended_early);

    let requests = client.requests();
    assert_eq!(requests.len(), 2);
    let question = requests[1].messages().last().unwrap().text();
    assert!(question.contains("- 2 Add (Pending)\n- 3 Conclusion (Verification Needed)"));

    let complaint = reasoning.thoughts()[0].trace().tries[0]
        .complaint
        .clone()
        .unwrap();
    assert_snapshot!(complaint, @"the reply ends the reasoning, but these steps of its plan are not done: 2 Add (Pending); 3 Conclusion (Verification Needed)");
}

#[tokio::test]
async fn a_model_that_sees_its_mistake_may_go_on_or_end_well() {
    let client = ScriptedClient::new([EARLY, SECOND, LAST]);
    let reasoning = run(&client, EarlyEnd::Ask).await;
    assert_eq!(reasoning.thoughts().len(), 2);
    assert!(
        reasoning
            .thoughts()
            .iter()
            .all(|thought| !thought.trace().ended_early)
    );

    let client = ScriptedClient::new([EARLY, LAST]);
    let reasoning = run(&client, EarlyEnd::Ask).await;
    assert_eq!(complaints(&reasoning), [true, false]);
    assert!(!reasoning.thoughts()[0].trace().ended_early);
}

#[tokio::test]
async fn accepted_at_once_it_is_marked_all_the_same() {
    let client = ScriptedClient::new([EARLY]);
    let reasoning = run(&client, EarlyEnd::Accept).await;
    assert_eq!(complaints(&reasoning), [false]);
    assert!(reasoning.thoughts()[0].trace().ended_early);
}

#[tokio::test]
async fn refused_it_is_a_reply_that_cannot_be_used() {
    let client = ScriptedClient::new([EARLY, EARLY, LAST]);
    let reasoning = run(&client, EarlyEnd::Refuse).await;
    assert_eq!(complaints(&reasoning), [true, true, false]);
    assert!(!reasoning.thoughts()[0].trace().ended_early);

    let client = ScriptedClient::new([EARLY; 3]);
    let node = ChainOfThought::new(client).with_early_end(EarlyEnd::Refuse);
    let error = node
        .into_flow()
        .run(&mut self::reasoning())
        .await
        .unwrap_err();

    let error = cot_error(&error);
    assert_eq!(
        error.reply_problem().unwrap().kind(),
        ReplyProblemKind::EndedEarly
    );
    assert_snapshot!(error, @"thought 1: no usable reply in 3 tries: the reply ends the reasoning, but these steps of its plan are not done: 2 Add (Pending); 3 Conclusion (Verification Needed)");
}

#[tokio::test]
async fn after_the_question_unreadable_replies_leave_the_conclusion_there_was() {
    let client = ScriptedClient::new([EARLY, PROSE, "", PROSE]);
    let reasoning = run(&client, EarlyEnd::Ask).await;
    assert_eq!(reasoning.solution(), Some("The answer is 150."));
    assert_eq!(complaints(&reasoning), [true; 4]);
    assert!(reasoning.thoughts()[0].trace().ended_early);
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
        assert!(reasoning.thoughts()[0].trace().ended_early);
        assert_eq!(client.requests().len(), requests);
    }
}

#[tokio::test]
async fn the_question_names_the_first_steps_and_counts_the_others() {
    let mut plan: Vec<Step> = (1..=24)
        .map(|number| Step::pending(format!("Step {number}")))
        .collect();
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
    let lines: Vec<&str> = question
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    assert_eq!(lines.len(), 21);
    assert_eq!(lines[0], "- 1.1 First line\u{fffd}[31m (Pending)");
    assert_eq!(lines[1], format!("- 1.2 {}… (Pending)", "x".repeat(200)));
    assert_eq!(
        (lines[2], lines[19], lines[20]),
        (
            "- 2 Step 2 (Pending)",
            "- 19 Step 19 (Pending)",
            "- and 5 more"
        )
    );
}
