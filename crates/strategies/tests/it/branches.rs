//! Forking, switching, scoring, selecting, merging, pruning and reading branches.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::support;

use std::fmt::Debug;

use cogwork_strategies::{
    BranchId, BranchStatus, Session, SessionError, StrategyName, Thought, ThoughtDraft, ThoughtId,
};
use serde_json::json;
use support::{told, walk};

/// Returns the error, and checks that the session didn't change.
fn refused<T: Debug>(
    session: &mut Session,
    act: impl FnOnce(&mut Session) -> Result<T, SessionError>,
) -> SessionError {
    let before = session.clone();
    let error = act(session).unwrap_err();
    assert_eq!(*session, before, "a refusal changes nothing");
    let written = serde_json::to_string(&error).unwrap();

    assert_eq!(
        serde_json::from_str::<SessionError>(&written).unwrap(),
        error,
        "it survives its text"
    );

    error
}

fn numbers<'a>(thoughts: impl IntoIterator<Item = &'a Thought>) -> Vec<u32> {
    thoughts
        .into_iter()
        .map(|thought| thought.id().get())
        .collect()
}

/// Returns a session with two approaches as branches, with one step on each.
fn two_approaches() -> (Session, BranchId, BranchId) {
    let mut session = Session::new(StrategyName::TreeOfThoughts);
    let explored = walk(&mut session, &["problem_reception", "approach_exploration"])[1];
    let [a, b] = ["A", "B"].map(|name| {
        let branch = session.fork(explored, name).unwrap();
        let draft =
            |stage: &str, text: &str| ThoughtDraft::at(stage, text).with("approach_id", name);
        session
            .think_on(branch, draft("branch_creation", "open"))
            .unwrap();
        session
            .think_on(branch, draft("branch_development", "step 1"))
            .unwrap();

        branch
    });

    (session, a, b)
}

#[test]
fn the_tree_of_the_document_with_branches() {
    let (mut session, a, b) = two_approaches();
    for (branch, name, score) in [(a, "A", 8.0), (b, "B", 4.5)] {
        let judged = ThoughtDraft::at("branch_evaluation", "judged")
            .with("approach_id", name)
            .with("evaluation_score", score);
        session.think_on(branch, judged).unwrap();
        session.score(branch, score).unwrap();
    }

    assert_eq!(session.current(), BranchId::MAIN);
    assert_eq!(session.best(1)[0].name(), "A");
    assert_eq!(session.select_best(), Ok(a));
    session.prune(b).unwrap();

    let selected = ThoughtDraft::at("branch_selection", "stay with A").with("approach_id", "A");
    session.think(selected).unwrap();
    session
        .think(ThoughtDraft::at(
            "continuation_decision",
            "develop A further",
        ))
        .unwrap();
    session
        .think(ThoughtDraft::at("branch_development", "step 2").with("approach_id", "A"))
        .unwrap();
    insta::assert_snapshot!(told(&session), @"
    1 main#1 problem_reception: problem_reception
    2 main#2 approach_exploration: approach_exploration
    3 A#1 branch_creation: open
    4 A#2 branch_development: step 1
    5 B#1 branch_creation: open
    6 B#2 branch_development: step 1
    7 A#3 branch_evaluation: judged
    8 B#3 branch_evaluation: judged
    9 A#4 branch_selection: stay with A
    10 A#5 continuation_decision: develop A further
    11 A#6 branch_development: step 2
    ");

    assert_eq!(
        numbers(session.path(session.branch(a).unwrap().tip())),
        [11, 10, 9, 7, 4, 3, 2, 1]
    );
}

#[test]
fn each_branch_has_its_own_stage_and_numbers() {
    let mut session = Session::new(StrategyName::Linear);
    let ids = walk(
        &mut session,
        &[
            "initial_thought_planning",
            "thought_generation",
            "thought_evaluation",
        ],
    );

    session
        .think(ThoughtDraft::here("of ten").with_total_thoughts(10))
        .unwrap();
    let branch = session.fork(ids[1], "earlier").unwrap();
    assert_eq!(session.stage().name(), "thought_evaluation");
    assert_eq!(
        session.stage_on(branch).unwrap().name(),
        "thought_generation"
    );

    let line = session.branch(branch).unwrap();
    assert_eq!(
        (line.thoughts(), line.total_thoughts(), line.forked_from()),
        (&[][..], 8, Some(ids[1]))
    );

    // A fork of a fork without thoughts.
    let id = session
        .think_on(branch, ThoughtDraft::at("thought_evaluation", "judged"))
        .unwrap();
    assert_eq!((id.get(), session.thought(id).unwrap().number()), (5, 1));
    let nested = session.fork(id, "nested").unwrap();
    session.switch(nested).unwrap();
    walk(&mut session, &["continuation_decision"]);
    insta::assert_snapshot!(told(&session), @"
    1 main#1 initial_thought_planning: initial_thought_planning
    2 main#2 thought_generation: thought_generation
    3 main#3 thought_evaluation: thought_evaluation
    4 main#4 thought_evaluation: of ten
    5 earlier#1 thought_evaluation: judged
    6 nested#1 continuation_decision: continuation_decision
    ");

    assert_eq!(
        session.branch_named("nested").map(|branch| branch.id()),
        Some(nested)
    );
}

#[test]
fn targets_are_checked() {
    let (mut session, a, b) = two_approaches();
    let nowhere = ThoughtId::new(99);
    insta::assert_snapshot!(refused(&mut session, |s| s.fork(nowhere, "x")), @"there is no thought 99; expected a number from 1 to 6");
    insta::assert_snapshot!(refused(&mut session, |s| s.fork(ThoughtId::new(0), "x")), @"there is no thought 0; expected a number from 1 to 6");
    insta::assert_snapshot!(refused(&mut session, |s| s.fork(ThoughtId::new(1), "A")), @"`A` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet");
    insta::assert_snapshot!(refused(&mut session, |s| s.fork(ThoughtId::new(1), " ")), @"` ` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet");
    refused(&mut session, |s| s.fork(ThoughtId::new(1), "x".repeat(65)));
    insta::assert_snapshot!(refused(&mut session, |s| s.score(a, 10.5)), @"a score is a number from 0 to 10");
    insta::assert_snapshot!(refused(&mut session, |s| s.score(a, f64::NAN)), @"a score is a number from 0 to 10");
    insta::assert_snapshot!(refused(&mut session, |s| s.select_best()), @"no open or complete branch has a score; expected at least one");
    insta::assert_snapshot!(refused(&mut session, |s| s.prune(BranchId::MAIN)), @"the branch `main` is the current one; switch to a different one first");
    session.prune(b).unwrap();
    insta::assert_snapshot!(refused(&mut session, |s| s.think_on(b, ThoughtDraft::here("on"))), @"the branch `B` is pruned; expected an open one");
    insta::assert_snapshot!(refused(&mut session, |s| s.switch(b)), @"the branch `B` is pruned; expected an open one");
    insta::assert_snapshot!(refused(&mut session, |s| s.prune(b)), @"the branch `B` is pruned; expected an open one");
    insta::assert_snapshot!(refused(&mut session, |s| s.merge(&[b], a, ThoughtDraft::here("m"))), @"the branch `B` is pruned; expected an open one");

    // The id is from a different session.
    let mut small = Session::new(StrategyName::React);
    let big = b;
    insta::assert_snapshot!(refused(&mut small, |s| s.switch(big)), @"there is no branch 2; expected a number from 0 to 0");
    insta::assert_snapshot!(refused(&mut small, |s| s.think_on(big, ThoughtDraft::here("?"))), @"there is no branch 2; expected a number from 0 to 0");

    // A pruned branch can still be read and forked from.
    let revived = session
        .fork(session.branch(b).unwrap().tip().unwrap(), "revived")
        .unwrap();
    session
        .think_on(revived, ThoughtDraft::here("after all"))
        .unwrap();
}

#[test]
fn of_equal_scores_the_older_branch_is_the_best() {
    let (mut session, a, b) = two_approaches();
    session.score(b, 7.0).unwrap();
    session.score(a, 7.0).unwrap();
    let names = |session: &Session, count| {
        session
            .best(count)
            .iter()
            .map(|branch| branch.name().to_owned())
            .collect::<Vec<_>>()
    };

    assert_eq!(names(&session, 9), ["A", "B"]);
    session.score(b, 7.5).unwrap();
    assert_eq!(names(&session, 9), ["B", "A"]);
    assert_eq!(names(&session, 1), ["B"]);
    session.prune(b).unwrap();
    assert_eq!(names(&session, 9), ["A"]);
}

/// Three branches with different values of x. The sources have the scores 9 and 8.
fn variables() -> (Session, BranchId, Vec<BranchId>) {
    let mut session = Session::new(StrategyName::Scratchpad);
    let state = |x: i32| json!({ "x": x });
    let init =
        ThoughtDraft::at("scratchpad_initialization", "x = 0").with("state_variables", state(0));
    let root = session.think(init).unwrap();
    let step = |session: &mut Session, branch, x| {
        session
            .think_on(branch, ThoughtDraft::at("iterative_calculation", "step"))
            .unwrap();
        session
            .think_on(
                branch,
                ThoughtDraft::at("state_tracking", "x").with("state_variables", state(x)),
            )
            .unwrap();
    };

    let sources: Vec<BranchId> = ["one", "two"]
        .map(|name| session.fork(root, name).unwrap())
        .to_vec();
    step(&mut session, sources[0], 1);
    step(&mut session, sources[1], 2);
    step(&mut session, BranchId::MAIN, 3);
    session.score(sources[0], 9.0).unwrap();
    session.score(sources[1], 8.0).unwrap();

    (session, BranchId::MAIN, sources)
}

#[test]
fn a_merge_takes_what_was_set_last_and_lists_the_differences() {
    let (mut session, main, branches) = variables();
    let draft = ThoughtDraft::at("continuation_decision", "joined");
    let id = session.merge(&branches, main, draft).unwrap();

    let merged = session.thought(id).unwrap().merged().unwrap();
    assert_eq!(merged.values["state_variables"]["x"], 3);
    insta::assert_json_snapshot!(merged.conflicts, @r#"
    [
      {
        "parameter": "state_variables",
        "branches": [
          0,
          1,
          2
        ],
        "values": [
          {
            "x": 3
          },
          {
            "x": 1
          },
          {
            "x": 2
          }
        ],
        "taken": 0
      }
    ]
    "#);

    for source in branches {
        let status = session.branch(source).unwrap().status();
        assert_eq!(status, BranchStatus::Merged(id));
    }
}

#[test]
fn what_cannot_be_merged() {
    let (mut session, main, branches) = variables();
    let merge =
        |s: &mut Session, sources: &[BranchId]| s.merge(sources, main, ThoughtDraft::here("m"));

    insta::assert_snapshot!(refused(&mut session, |s| merge(s, &[])), @"expected one or more branches to merge, each once, and the target not among them");
    refused(&mut session, |s| merge(s, &[main]));
    refused(&mut session, |s| merge(s, &[branches[0], branches[0]]));
    insta::assert_snapshot!(
        refused(&mut session, |s| s.merge(&branches, main, ThoughtDraft::at("final_response", "m"))),
        @"`scratchpad` does not lead from `state_tracking` to `final_response`; expected `continuation_decision`"
    );
}

#[test]
fn what_only_a_source_has_set_is_taken_over_without_a_conflict() {
    let (mut session, a, b) = two_approaches();

    // `main` has no thoughts after the fork.
    let merge = ThoughtDraft::at("branch_creation", "joined").with("approach_id", "C");
    let id = session.merge(&[a], BranchId::MAIN, merge).unwrap();
    let merged = session.thought(id).unwrap().merged().unwrap();
    assert_eq!(
        (&merged.values["approach_id"], merged.conflicts.len()),
        (&json!("A"), 0)
    );

    assert_eq!(
        session
            .thought(id)
            .unwrap()
            .parents()
            .map(ThoughtId::get)
            .collect::<Vec<_>>(),
        [2, 4]
    );

    // If a source is current, the target becomes current.
    session.switch(b).unwrap();
    let id = session
        .merge(&[b], BranchId::MAIN, ThoughtDraft::here("both"))
        .unwrap();

    assert_eq!(session.current(), BranchId::MAIN);
    let [conflict] = &session.thought(id).unwrap().merged().unwrap().conflicts[..] else {
        panic!()
    };

    assert_eq!(
        (&conflict.branches, conflict.taken),
        (&vec![BranchId::MAIN, b], BranchId::MAIN)
    );
}

#[test]
fn reading_back() {
    let (session, ..) = two_approaches();
    assert_eq!(numbers(session.path(ThoughtId::new(6))), [6, 5, 2, 1]);
    assert_eq!(numbers(session.path(None)), Vec::<u32>::new());
    assert_eq!(numbers(session.path(ThoughtId::new(7))), Vec::<u32>::new());
    assert_eq!(session.thought(ThoughtId::new(7)), None);
}
