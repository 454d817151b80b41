//! Linear: revision, branches, hypothesis and verification.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Asked, Call, Limits, Linear, Solver, StrategyName, ThoughtId};

use crate::methods::support::{conversation, only_append, told};

const PROBLEM: &str = "What is 17 * 3?";

#[tokio::test]
async fn a_thought_is_revised_a_branch_opened_and_a_hypothesis_refuted() {
    let client = ScriptedClient::new([
        "thought: Tens and ones.\nthoughts_needed: 2",
        "10 * 3 is 40.",
        "thought: 10 * 3 is 30.\nnext: thought_revision",
        "thought: 10 * 3 is 30.\nrevises_thought: 3",
        "thought: Try it otherwise.\nnext: branch_creation",
        "thought: Begin with twenties.\nbranch_from_thought: 3\nbranch_id: twenties",
        "20 * 3 - 3 = 57.",
        "thought: Good.\nthoughts_needed: 9\nnext: hypothesis_generation",
        "hypothesis: 57",
        "verification: 57 / 3 = 19, not 17.\nholds: no",
        "thought: I took 3 where 9 was meant.\nthoughts_needed: 5\nnext: thought_adjustment",
        "20 * 3 - 9 = 51.",
        "thought: Right.\nnext: hypothesis_generation",
        "hypothesis: 51",
        "verification: 51 / 3 = 17.\nholds: yes",
        "thought: 60 - 9 = 51.\nanswer: 51",
    ]);

    let solved = Solver::new(client.clone(), StrategyName::Linear)
        .solve(PROBLEM)
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: What is 17 * 3?
      2 initial_thought_planning: Tens and ones.
      3 thought_generation: 10 * 3 is 40.
      4 thought_evaluation: 10 * 3 is 30.
      5 thought_revision: 10 * 3 is 30. · revises_thought = 3
      6 continuation_decision: Try it otherwise.
      7 branch_creation: Begin with twenties. · branch_from_thought = 3 · branch_id = twenties
      8 [twenties] thought_generation: 20 * 3 - 3 = 57.
      9 [twenties] thought_evaluation: Good.
     10 [twenties] continuation_decision: Next: hypothesis_generation.
     11 [twenties] hypothesis_generation: 57
     12 [twenties] hypothesis_verification: 57 / 3 = 19, not 17. · holds = false
     13 [twenties] continuation_decision: I took 3 where 9 was meant.
     14 [twenties] thought_adjustment: About 5 more thoughts are needed.
     15 [twenties] thought_generation: 20 * 3 - 9 = 51.
     16 [twenties] thought_evaluation: Right.
     17 [twenties] continuation_decision: Next: hypothesis_generation.
     18 [twenties] hypothesis_generation: 51
     19 [twenties] hypothesis_verification: 51 / 3 = 17. · holds = true
     20 [twenties] solution_finalization: 60 - 9 = 51.
     21 [twenties] final_response: 51
    answer: 51
    end: answered
    spent: 16 calls, about 15515 tokens
    ");

    let session = solved.trace().session();
    let revision = session.thought(ThoughtId::new(5)).unwrap();
    assert_eq!(revision.revises(), Some(ThoughtId::new(3)));
    let branches: Vec<_> = session
        .branches()
        .iter()
        .map(|branch| {
            let from = branch
                .forked_from()
                .map(|from| from.to_string())
                .unwrap_or_default();
            format!(
                "{} from {from:?}: {} of {}",
                branch.name(),
                branch.thoughts().len(),
                branch.total_thoughts()
            )
        })
        .collect();

    insta::assert_snapshot!(branches.join("\n"), @r#"
    main from "": 7 of 7
    twenties from "7": 14 of 14
    "#);
    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(&client.requests()[6]), @"
    [system] You solve a problem in small stages. Think one thought after another; evaluate, revise, branch, and end with a hypothesis that was verified.
    Each message asks for one stage. Do what it asks and nothing else.

    [user] The problem:
    What is 17 * 3?

    This is thought 2. Say which way you will take, and how many thoughts you expect it to need.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    thoughts_needed: how many more thoughts you expect to need (an integer from 1 to 1000)

    [assistant] thought: Tens and ones.
    thoughts_needed: 2

    [user] This is thought 3. Think the next thought. One thought only, built on those before it.

    [assistant] 10 * 3 is 40.

    [user] This is thought 4. Judge the last thought. Is it right, and does it help? Name the mistake if there is one.
    Then go on: thought_adjustment to think more, branch_creation to try another way, hypothesis_generation when you see a solution, thought_revision to put a wrong thought right.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    thoughts_needed: how many more thoughts you expect to need (an integer from 1 to 1000, may be left out)
    next: the name of the stage that is next, one of
      thought_adjustment (A new estimate of how many thoughts are needed.)
      branch_creation (Another way from an earlier thought.)
      hypothesis_generation (A solution put forward for a test.)
      thought_revision (A better version of an earlier thought.)

    [assistant] thought: 10 * 3 is 30.
    next: thought_revision

    [user] This is thought 5. Write the thought anew, without its mistake, and name the thought it takes the place of. Thoughts that you can name: 2, 3.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    revises_thought: The thought that this one takes the place of. (the number of a thought)

    [assistant] thought: 10 * 3 is 30.
    revises_thought: 3

    [user] This is thought 6. Decide how to go on. Think more, open a branch, or put forward a hypothesis.
    Then go on: thought_adjustment to think more, branch_creation to try another way, hypothesis_generation when you see a solution.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    thoughts_needed: how many more thoughts you expect to need (an integer from 1 to 1000, may be left out)
    next: the name of the stage that is next, one of
      thought_adjustment (A new estimate of how many thoughts are needed.)
      branch_creation (Another way from an earlier thought.)
      hypothesis_generation (A solution put forward for a test.)

    [assistant] thought: Try it otherwise.
    next: branch_creation

    [user] This is thought 7. Name the thought from which another way leads, and say what is tried there. Thoughts that you can name: 1, 2, 3, 4, 5, 6.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    branch_from_thought: The thought where the branch begins. (the number of a thought)
    branch_id: The name of the branch. (a text)

    [assistant] thought: Begin with twenties.
    branch_from_thought: 3
    branch_id: twenties

    [user] You are on the branch `twenties` now, from thought 3 on.

    This is thought 8. Think the next thought. One thought only, built on those before it.
    ");
}

#[tokio::test]
async fn a_branch_from_the_beginning_leaves_aside_what_was_thought() {
    let client = ScriptedClient::new([
        "thought: Tens and ones.\nthoughts_needed: 2",
        "10 * 3 is 40.",
        "thought: Wrong.\nnext: branch_creation",
        "branch_from_thought: 1\nbranch_id: anew",
        "17 + 17 + 17 = 51.",
        "next: hypothesis_generation",
        "51",
        "verification: 51 / 3 = 17.\nholds: true",
        "51",
    ]);

    let solved = Solver::new(client.clone(), StrategyName::Linear)
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("51"));
    let session = solved.trace().session();
    let path: Vec<_> = session
        .path(session.thoughts().last().unwrap().id())
        .map(|thought| thought.id().get())
        .collect();

    assert_eq!(path, [13, 12, 11, 10, 9, 8, 7, 2, 1]);
    let question = client.requests()[4]
        .messages()
        .last()
        .unwrap()
        .text()
        .to_owned();

    insta::assert_snapshot!(question, @"
    You are on the branch `anew` now, from thought 1 on. Thoughts 3 to 6 are left aside.

    This is thought 7. Think the next thought. One thought only, built on those before it.
    ");
}

#[tokio::test]
async fn numbers_and_names_that_are_not_there_are_asked_for_again() {
    let client = ScriptedClient::new([
        "thought: Tens and ones.\nthoughts_needed: 0",
        "thought: Tens and ones.\nthoughts_needed: 2",
        "10 * 3 is 40.",
        "next: onward",
        "next: thought_revision",
        "thought: 30.\nrevises_thought: 99",
        "thought: 30.\nrevises_thought: 4",
        "thought: 30.\nrevises_thought: 3",
        "next: branch_creation",
        "branch_from_thought: 60\nbranch_id: other",
        "branch_from_thought: 3\nbranch_id: main",
        "branch_from_thought: 3\nbranch_id: other",
        "30 + 21 = 51.",
        "next: hypothesis_generation",
        "51",
        "verification: 51 / 3 = 17.\nholds: yes",
        "51",
    ]);

    let solved = Solver::new(client, StrategyName::Linear)
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("51"));
    let complaints = solved.trace().calls().iter().flat_map(|call| match call {
        Call::Model(Asked { tries, .. }) => tries
            .iter()
            .filter_map(|one| one.complaint.as_deref())
            .collect(),
        _ => Vec::new(),
    });

    insta::assert_snapshot!(complaints.collect::<Vec<_>>().join("\n"), @"
    line 2, `/thoughts_needed`: found the number 0; expected an integer from 1 to 1000
    `next` is `onward`, expected `thought_adjustment`, `branch_creation`, `hypothesis_generation` or `thought_revision`
    `revises_thought` is 99, expected one of the thoughts 2, 3
    `revises_thought` is 4, expected one of the thoughts 2, 3
    `branch_from_thought` is 60, expected one of the thoughts 1, 2, 3, 4, 5, 6
    `branch_id` is `main`, expected a name that no branch has yet
    ");
}

#[tokio::test]
async fn a_hypothesis_that_never_holds_is_given_up() {
    let mut replies = vec![
        "thought: Guess.\nthoughts_needed: 2".to_owned(),
        "It may be 50.".to_owned(),
    ];
    replies.push("next: hypothesis_generation".to_owned());
    for guess in 0..20 {
        replies.push(format!("hypothesis: {guess}"));
        replies.push("verification: No.\nholds: no".to_owned());
        replies.push("next: hypothesis_generation".to_owned());
    }

    let solver = Solver::new(ScriptedClient::new(replies), Linear { max_thoughts: 4 });
    let solved = solver.solve(PROBLEM).await.unwrap();
    assert_eq!(
        (solved.end().to_string().as_str(), solved.answer()),
        (
            "given up: after 4 thoughts the hypothesis does not hold",
            Some("2")
        )
    );
}

#[tokio::test]
async fn a_model_that_thinks_without_end_is_brought_to_a_hypothesis() {
    let mut replies = vec!["thought: Slowly.\nthoughts_needed: 1000".to_owned()];
    for thought in 0..3 {
        replies.push(format!("Thought {thought}."));

        // The last time, it can't choose to think more.
        replies.push(format!(
            "next: {}",
            if thought < 2 {
                "thought_adjustment"
            } else {
                "hypothesis_generation"
            }
        ));
    }

    replies.extend(["51", "verification: 51 / 3 = 17.\nholds: yes", "51"].map(str::to_owned));
    let client = ScriptedClient::new(replies);
    let solver = Solver::new(client.clone(), Linear { max_thoughts: 3 });
    let solved = solver.solve(PROBLEM).await.unwrap();

    assert_eq!(solved.answer(), Some("51"));
    let last = client.requests()[6]
        .messages()
        .last()
        .unwrap()
        .text()
        .to_owned();

    assert!(
        !last.contains("thought_adjustment") && !last.contains("branch_creation"),
        "{last}"
    );
}

#[tokio::test]
async fn the_same_thought_again_is_no_progress() {
    let mut replies = vec!["thought: Slowly.\nthoughts_needed: 10".to_owned()];
    for turn in 0..9 {
        replies.extend([
            "Add them.".to_owned(),
            format!("thought: Fine {turn}.\nnext: thought_adjustment"),
        ]);
    }

    let solved = Solver::new(ScriptedClient::new(replies), StrategyName::Linear)
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(
        solved.end().to_string(),
        "no progress: the thoughts repeated 3 times up to the stage `thought_generation`"
    );
}

#[tokio::test]
async fn a_budget_spent_in_the_middle_leaves_the_hypothesis() {
    let ended = |calls| async move {
        let client = ScriptedClient::new([
            "thought: Tens and ones.\nthoughts_needed: 2",
            "30 and 21.",
            "next: hypothesis_generation",
            "51",
            "verification: 51 / 3 = 17.\nholds: yes",
            "The answer is 51.",
        ]);

        let solver = Solver::new(client, StrategyName::Linear)
            .with_limits(Limits::default().with_calls(calls));
        let solved = solver.solve(PROBLEM).await.unwrap();
        format!("{}: {}", solved.end(), solved.answer().unwrap_or("(none)"))
    };
    insta::assert_snapshot!([ended(0).await, ended(3).await, ended(4).await, ended(6).await].join("\n"), @"
    the budget of 0 calls is spent: (none)
    the budget of 3 calls is spent: (none)
    the budget of 4 calls is spent: 51
    answered: 51
    ");
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again_and_then_an_error() {
    let client = ScriptedClient::new(["thought: Go.\nthoughts_needed: 1", "", "", ""]);
    let error = Solver::new(client, StrategyName::Linear)
        .solve(PROBLEM)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `thought_generation`: no reply could be used: the reply is empty; expected a text"
    );
}
