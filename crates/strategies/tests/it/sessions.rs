//! Thoughts on one branch: numbers, revisions, limits, undo and refusals.

use cogwork_strategies::StrategyName;
use cogwork_strategies::session::{
    BranchId, BranchStatus, Session, SessionError, ThoughtDraft, ThoughtId,
};
use serde_json::json;

use crate::support::{told, walk};

fn refused(session: &mut Session, draft: ThoughtDraft) -> SessionError {
    let before = session.clone();
    let error = session.think(draft).unwrap_err();
    assert_eq!(*session, before, "a refusal changes nothing");
    error
}

fn all_refused(session: &mut Session, drafts: impl IntoIterator<Item = ThoughtDraft>) -> String {
    let refused = drafts.into_iter().map(|draft| refused(session, draft));
    let messages: Vec<String> = refused.map(|error| error.to_string()).collect();
    messages.join("\n")
}

fn revising(mut draft: ThoughtDraft, thought: ThoughtId) -> ThoughtDraft {
    draft.revises = Some(thought);
    draft
}

#[test]
fn nothing_follows_the_end() {
    let mut session = Session::new(StrategyName::StepBack);
    let mut stage = session.strategy().start().name.clone();
    while !session.is_complete() {
        walk(&mut session, &[&stage]);
        let allowed = session.allowed(BranchId::MAIN).unwrap();
        stage = allowed.first().map_or(stage, |stage| stage.name.clone());
    }

    let main = session.branch(BranchId::MAIN).unwrap();
    assert_eq!(main.status, BranchStatus::Complete);
    insta::assert_snapshot!(all_refused(&mut session, [
        ThoughtDraft::at("final_response", "Again."),
        ThoughtDraft::here("Again."),
    ]), @"
    the branch `main` is complete; expected an open one
    the branch `main` is complete; expected an open one
    ");
}

#[test]
fn the_first_thought_may_be_in_the_start_stage_or_behind_it() {
    let mut session = Session::new(StrategyName::Linear);
    let problem = || ThoughtDraft::at("problem_reception", "The problem.");
    session.think(problem()).unwrap();
    insta::assert_snapshot!(refused(&mut session, problem()), @"`linear` does not lead from `problem_reception` to `problem_reception`; expected `initial_thought_planning`");

    let more = ThoughtDraft::here("More of the same stage.");
    session.think(more).unwrap();
    assert_eq!(session.stage().name, "problem_reception");
}

#[test]
fn refusals_say_what_is_allowed_and_what_is_wrong() {
    let mut session = Session::new(StrategyName::TreeOfThoughts);
    let explore = || ThoughtDraft::at("approach_exploration", "Two.");
    let wrong = json!([{"id": "A", "description": "by hand", "promise": 12}, 3]);
    let wrong = explore().with("colour", "red").with("approaches", wrong);
    insta::assert_snapshot!(all_refused(&mut session, [
        ThoughtDraft::at("final_response", "42"),
        ThoughtDraft::at("nowhere\n\u{202e}", "?"),
        explore(),
        explore().with("approaches", json!([])),
        wrong,
    ]), @r#"
    `tree_of_thoughts` does not lead from `problem_reception` to `final_response`; expected `approach_exploration`
    `tree_of_thoughts` does not lead from `problem_reception` to `nowhere\n\u{202e}`; expected `approach_exploration`
    the stage `approach_exploration` of `tree_of_thoughts`: `approaches` is missing; expected a list of objects with id, description, promise
    the stage `approach_exploration` of `tree_of_thoughts`: `approaches`: found 0 items; expected at least 1 item
    the stage `approach_exploration` of `tree_of_thoughts`: `approaches/0/promise`: found the number 12; expected a number from 0 to 10; there is no parameter `colour`; expected `approaches`
    "#);

    let many = explore().with("approaches", vec![0; 100_000]);
    assert!(refused(&mut session, many).to_string().len() < 3_000);
}

#[test]
fn types_of_parameters() {
    let mut react = Session::new(StrategyName::React);
    walk(&mut react, &["initial_reasoning"]);
    let plan = |input| {
        let plan = ThoughtDraft::at("action_planning", "I search.");
        plan.with("action", "search").with("action_input", input)
    };
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    insta::assert_snapshot!(refused(&mut react, plan(deep)), @"the stage `action_planning` of `react`: `action_input` has too many levels; expected at most 32");
    let any = plan(json!({"any": [null, 1.5, {"of": "it"}]}));
    react.think(any).unwrap();

    let mut ask = Session::new(StrategyName::SelfAsk);
    walk(&mut ask, &["problem_decomposition"]);
    let ask_for = |number| {
        ThoughtDraft::at("sub_question_formulation", "Who?")
            .with("sub_question", "Who?")
            .with("sub_question_number", number)
    };
    let numbers = [json!(0), json!(1.5), json!("one")];
    insta::assert_snapshot!(all_refused(&mut ask, numbers.map(ask_for)), @r#"
    the stage `sub_question_formulation` of `self_ask`: `sub_question_number`: found the number 0; expected an integer from 1
    the stage `sub_question_formulation` of `self_ask`: `sub_question_number`: found the number 1.5; expected an integer from 1
    the stage `sub_question_formulation` of `self_ask`: `sub_question_number`: found the text "one"; expected an integer from 1
    "#);
    let asked = ask.think(ask_for(json!("1"))).unwrap();
    // It is kept in the form of the table.
    assert_eq!(
        ask.thought(asked).unwrap().parameters["sub_question_number"],
        1
    );
}

/// Tools may bring anything.
#[test]
fn texts_are_kept_as_they_are() {
    let mut react = Session::new(StrategyName::React);
    let stages = ["initial_reasoning", "action_planning", "action_execution"];
    walk(&mut react, &stages);

    let long = "x".repeat(1_000_000);
    for text in [
        "",
        " a\n",
        "none",
        "null",
        "7",
        "[1]",
        "{\"a\": 1}",
        "```\nx\n```",
        "a: 1\na: 2",
        &long,
    ] {
        let mut react = react.clone();
        let observed = ThoughtDraft::at("observation_reception", "").with("observation", text);
        let observed = react.think(observed).unwrap();
        assert_eq!(
            react.thought(observed).unwrap().parameters["observation"],
            text
        );
    }
}

#[test]
fn a_revision_names_a_thought_of_its_path() {
    let mut session = Session::new(StrategyName::Linear);
    let stages = [
        "initial_thought_planning",
        "thought_generation",
        "thought_evaluation",
    ];
    walk(&mut session, &stages);

    let [one, two, four] = [1, 2, 4].map(ThoughtId);
    let revise = || ThoughtDraft::at("thought_revision", "Better.");
    insta::assert_snapshot!(all_refused(&mut session, [
        revise(),
        revising(revise(), four),
        revise().with("revises_thought", 0),
    ]), @"
    the stage `thought_revision` of `linear`: `revises_thought` is missing; expected an integer from 1
    the stage `thought_revision` of `linear`: `revises_thought`: there is no thought 4; expected a number from 1 to 3
    the stage `thought_revision` of `linear`: `revises_thought`: found the number 0; expected an integer from 1
    ");

    let revised = session.think(revising(revise(), two)).unwrap();
    let thought = session.thought(revised).unwrap();
    assert_eq!(thought.parameters.get("revises_thought"), Some(&json!(2)));

    // A thought in any stage can revise.
    walk(&mut session, &["continuation_decision"]);
    let again = revising(ThoughtDraft::here("No, think again."), revised);
    session.think(again).unwrap();
    insta::assert_snapshot!(told(&session), @"
    1 main#1 initial_thought_planning: initial_thought_planning
    2 main#2 thought_generation: thought_generation
    3 main#3 thought_evaluation: thought_evaluation
    4 main#4 thought_revision revises 2: Better.
    5 main#5 continuation_decision: continuation_decision
    6 main#6 continuation_decision revises 4: No, think again.
    ");

    let branch = session.fork(one, "other").unwrap();
    session.switch(branch).unwrap();
    let not_mine = revising(ThoughtDraft::here("Not mine."), two);
    insta::assert_snapshot!(refused(&mut session, not_mine), @"thought 2 is not on the path of the branch `other`; choose an earlier thought of that path");
    let mine = revising(ThoughtDraft::here("Mine."), one);
    session.think(mine).unwrap();
}

#[test]
fn a_session_has_a_limit_of_branches() {
    let mut session = Session::new(StrategyName::Linear);
    let first = session.think(ThoughtDraft::here("1")).unwrap();
    for number in 1..Session::MAX_BRANCHES {
        session.fork(first, number.to_string()).unwrap();
    }

    let before = session.clone();
    let error = session.fork(first, "one more").unwrap_err();
    assert_eq!(error.to_string(), "the limit of 1000 branches is reached");
    assert_eq!(session, before);
}

#[test]
fn undo_returns_to_the_session_before_the_thought() {
    let mut session = Session::new(StrategyName::ChainOfThought);
    let mut states = vec![session.clone()];
    let mut stage = Some(session.strategy().start().name.to_owned());

    while let Some(next) = stage {
        walk(&mut session, &[&next]);
        states.push(session.clone());
        let allowed = session.allowed(session.current()).unwrap();
        stage = allowed.first().map(|stage| stage.name.to_owned());
    }

    assert!(session.is_complete());
    for before in states.iter().rev().skip(1) {
        session.undo().unwrap();
        assert_eq!(session.thoughts(), before.thoughts());
        assert_eq!(session.is_complete(), before.is_complete());
        assert_eq!(session.stage(), before.stage());
    }
    let error = session.undo().unwrap_err();
    insta::assert_snapshot!(error, @"there is no thought to undo; expected at least one");
}

#[test]
fn what_a_thought_closed_is_open_again_without_it() {
    let mut session = Session::new(StrategyName::Rewoo);
    let before_the_end = [
        "problem_reception",
        "planning_phase",
        "tool_call_specification",
        "working_phase",
        "evidence_collection",
        "solving_phase",
    ];
    let first = walk(&mut session, &before_the_end)[0];
    let side = session.fork(first, "side").unwrap();
    let joined = ThoughtDraft::at("final_response", "joined");
    let joined = session.merge(&[side], BranchId::MAIN, joined).unwrap();
    assert!(session.is_complete());

    assert_eq!(session.undo().unwrap().id, joined);
    assert!(!session.is_complete());
    for branch in [side, BranchId::MAIN] {
        let open = ThoughtDraft::here("on");
        session.think_on(branch, open).unwrap();
    }
}

#[test]
fn undoing_a_fork_does_not_go_back_to_a_branch_that_was_given_up() {
    let mut session = Session::new(StrategyName::Linear);
    let first = walk(&mut session, &["problem_reception"])[0];
    let kept = session.fork(first, "kept").unwrap();
    session.think_on(kept, ThoughtDraft::here("on")).unwrap();
    session.switch(kept).unwrap();
    session.prune(BranchId::MAIN).unwrap();

    let side = session.fork(first, "side").unwrap();
    session.think_on(side, ThoughtDraft::here("on")).unwrap();
    session.switch(side).unwrap();
    session.undo().unwrap();
    assert!(session.branch(side).is_err());
    assert_eq!(session.current(), kept);
}

#[test]
fn a_thought_that_others_build_on_cannot_be_undone() {
    let mut session = Session::new(StrategyName::Linear);
    let first = walk(&mut session, &["problem_reception"])[0];
    let side = session.fork(first, "side").unwrap();
    let error = session.undo().unwrap_err();
    insta::assert_snapshot!(error, @"thought 1 cannot be undone, since the branch `side` was forked from it; fork an earlier thought instead");

    session.think_on(side, ThoughtDraft::here("on")).unwrap();
    session.prune(side).unwrap();
    let before = session.clone();
    let error = session.undo().unwrap_err();
    insta::assert_snapshot!(error, @"the branch `side` is pruned; expected an open one");
    assert_eq!(session, before);
}
