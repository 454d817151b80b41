//! Forking, switching, scoring, selecting, merging, pruning and reading branches.

use cogwork_strategies::StrategyName;
use cogwork_strategies::session::{
    BranchId, BranchStatus, Session, SessionError, ThoughtDraft, ThoughtId,
};
use serde_json::json;

use crate::support::{told, walk};

const MAIN: BranchId = BranchId::MAIN;

/// An operation that is refused.
type Act<'a> = &'a dyn Fn(&mut Session) -> Result<(), SessionError>;

/// Returns the errors, and checks that the session didn't change.
fn refused(session: &mut Session, acts: &[Act<'_>]) -> String {
    let mut messages = Vec::new();
    for act in acts {
        let before = session.clone();
        messages.push(act(session).unwrap_err().to_string());
        assert_eq!(*session, before, "a refusal changes nothing");
    }
    messages.join("\n")
}

fn here(text: &str) -> ThoughtDraft {
    ThoughtDraft::here(text)
}

/// Returns a session with two approaches as branches, with one step on each.
fn two_approaches() -> (Session, BranchId, BranchId) {
    let mut session = Session::new(StrategyName::TreeOfThoughts);
    let explored = walk(&mut session, &["problem_reception", "approach_exploration"])[1];
    let [a, b] = ["A", "B"].map(|name| {
        let branch = session.fork(explored, name).unwrap();
        for (stage, text) in [
            ("branch_creation", "open"),
            ("branch_development", "step 1"),
        ] {
            let draft = ThoughtDraft::at(stage, text).with("approach_id", name);
            session.think_on(branch, draft).unwrap();
        }
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

    assert_eq!(session.current(), MAIN);
    assert_eq!(session.select_best(), Ok(a));
    session.prune(b).unwrap();
    let stages = [
        "branch_selection",
        "continuation_decision",
        "branch_development",
    ];
    walk(&mut session, &stages);
    insta::assert_snapshot!(told(&session), @"
    1 main#1 problem_reception: problem_reception
    2 main#2 approach_exploration: approach_exploration
    3 A#1 branch_creation: open
    4 A#2 branch_development: step 1
    5 B#1 branch_creation: open
    6 B#2 branch_development: step 1
    7 A#3 branch_evaluation: judged
    8 B#3 branch_evaluation: judged
    9 A#4 branch_selection: branch_selection
    10 A#5 continuation_decision: continuation_decision
    11 A#6 branch_development: branch_development
    ");

    let path = session.path(session.branch(a).unwrap().tip());
    let path: Vec<usize> = path.map(|thought| thought.id.0).collect();
    assert_eq!(path, [11, 10, 9, 7, 4, 3, 2, 1]);
    assert_eq!(session.path(None).count(), 0);
    assert_eq!(session.path(ThoughtId(99)).count(), 0);
}

#[test]
fn a_fork_stands_where_it_was_forked_and_can_be_forked() {
    let mut session = Session::new(StrategyName::Linear);
    let stages = [
        "initial_thought_planning",
        "thought_generation",
        "thought_evaluation",
    ];
    let ids = walk(&mut session, &stages);
    let branch = session.fork(ids[1], "earlier").unwrap();
    assert_eq!(session.stage().name, "thought_evaluation");
    assert_eq!(session.stage_on(branch).unwrap().name, "thought_generation");

    let judged = ThoughtDraft::at("thought_evaluation", "judged");
    let id = session.think_on(branch, judged).unwrap();
    let nested = session.fork(id, "nested").unwrap();
    session.switch(nested).unwrap();
    walk(&mut session, &["continuation_decision"]);

    let path = session.path(session.branch(nested).unwrap().tip());
    let path: Vec<usize> = path.map(|thought| thought.id.0).collect();
    assert_eq!(path, [5, 4, 2, 1]);
}

#[test]
fn targets_are_checked() {
    let (mut session, a, b) = two_approaches();
    let fork = |from, name: &str| {
        let name = name.to_owned();
        move |s: &mut Session| s.fork(ThoughtId(from), name.clone()).map(drop)
    };
    insta::assert_snapshot!(refused(&mut session, &[
        &fork(99, "x"),
        &fork(0, "x"),
        &fork(1, "A"),
        &fork(1, " "),
        &|s| s.score(a, 10.5),
        &|s| s.score(a, f64::NAN),
        &|s| s.select_best().map(drop),
        &|s| s.prune(MAIN),
    ]), @"
    there is no thought 99; expected a number from 1 to 6
    there is no thought 0; expected a number from 1 to 6
    `A` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet
    ` ` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet
    a score is a number from 0 to 10
    a score is a number from 0 to 10
    no open or complete branch has a score; expected at least one
    the branch `main` is the current one; switch to a different one first
    ");
    assert!(session.fork(ThoughtId(1), "x".repeat(65)).is_err());

    session.prune(b).unwrap();
    let pruned = refused(
        &mut session,
        &[
            &|s| s.think_on(b, here("on")).map(drop),
            &|s| s.switch(b),
            &|s| s.prune(b),
            &|s| s.merge(&[b], a, here("m")).map(drop),
        ],
    );
    let message = "the branch `B` is pruned; expected an open one";
    assert!(pruned.lines().all(|line| line == message));

    // A pruned branch can still be read and forked from.
    let tip = session.branch(b).unwrap().tip().unwrap();
    let revived = session.fork(tip, "revived").unwrap();
    session.think_on(revived, here("after all")).unwrap();

    // The id is from a different session.
    let mut small = Session::new(StrategyName::React);
    insta::assert_snapshot!(refused(&mut small, &[&|s| s.switch(b)]), @"there is no branch 2; expected a number from 0 to 0");
}

#[test]
fn of_equal_scores_the_older_branch_is_the_best() {
    let (mut session, a, b) = two_approaches();
    session.score(b, 7.0).unwrap();
    session.score(a, 7.0).unwrap();

    assert_eq!(session.select_best(), Ok(a));
    session.score(b, 7.5).unwrap();
    assert_eq!(session.select_best(), Ok(b));
    session.switch(MAIN).unwrap();
    session.prune(b).unwrap();
    assert_eq!(session.select_best(), Ok(a));
}

/// Three branches with different values of x, of which `main` has set the last one.
fn variables() -> (Session, [BranchId; 2]) {
    let mut session = Session::new(StrategyName::Scratchpad);
    let at = |stage: &str, x: i32| {
        let draft = ThoughtDraft::at(stage, format!("x = {x}"));
        draft.with("state_variables", json!({ "x": x }))
    };
    let root = at("scratchpad_initialization", 0);
    let root = session.think(root).unwrap();
    let sources = ["one", "two"].map(|name| session.fork(root, name).unwrap());

    for (branch, x) in [(sources[0], 1), (sources[1], 2), (MAIN, 3)] {
        let step = ThoughtDraft::at("iterative_calculation", "step");
        session.think_on(branch, step).unwrap();
        session.think_on(branch, at("state_tracking", x)).unwrap();
    }
    (session, sources)
}

#[test]
fn a_merge_takes_what_was_set_last_and_lists_the_differences() {
    let (mut session, branches) = variables();
    let draft = ThoughtDraft::at("continuation_decision", "joined");
    let id = session.merge(&branches, MAIN, draft).unwrap();

    let thought = session.thought(id).unwrap();
    let parents: Vec<usize> = thought.parents().map(|parent| parent.0).collect();
    assert_eq!(parents, [7, 3, 5]);
    let merged = thought.merged.as_ref().unwrap();
    let written = serde_json::to_string(&merged.values).unwrap();
    insta::assert_snapshot!(written, @r#"{"state_variables":[[1,{"x":1}],[2,{"x":2}],[0,{"x":3}]]}"#);

    for source in branches {
        let status = session.branch(source).unwrap().status;
        assert_eq!(status, BranchStatus::Merged(id));
    }
}

#[test]
fn what_cannot_be_merged() {
    let (mut session, branches) = variables();
    let merge = |sources: &[BranchId], draft: ThoughtDraft| {
        let sources = sources.to_vec();
        move |s: &mut Session| s.merge(&sources, MAIN, draft.clone()).map(drop)
    };

    insta::assert_snapshot!(refused(&mut session, &[
        &merge(&[], here("m")),
        &merge(&[MAIN], here("m")),
        &merge(&[branches[0], branches[0]], here("m")),
        &merge(&branches, ThoughtDraft::at("final_response", "m")),
    ]), @"
    expected one or more branches to merge, each once, and the target not among them
    expected one or more branches to merge, each once, and the target not among them
    expected one or more branches to merge, each once, and the target not among them
    `scratchpad` does not lead from `state_tracking` to `final_response`; expected `continuation_decision`
    ");
}

#[test]
fn what_only_a_source_has_set_is_taken_over() {
    let (mut session, a, b) = two_approaches();

    // `main` has no thoughts after the fork.
    let merge = ThoughtDraft::at("branch_creation", "joined").with("approach_id", "C");
    let id = session.merge(&[a], MAIN, merge).unwrap();
    let merged = session.thought(id).unwrap().merged.as_ref().unwrap();
    assert_eq!(merged.values["approach_id"], [(a, json!("A"))]);

    // If a source is current, the target becomes current.
    session.switch(b).unwrap();
    let id = session.merge(&[b], MAIN, here("both")).unwrap();
    assert_eq!(session.current(), MAIN);
    let merged = session.thought(id).unwrap().merged.as_ref().unwrap();
    let values = [(b, json!("B")), (MAIN, json!("C"))];
    assert_eq!(merged.values["approach_id"], values);
}
