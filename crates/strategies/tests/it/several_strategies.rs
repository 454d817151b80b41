//! Changing the strategy within a session, and nested strategies.

use crate::support;

use cogwork_strategies::session::{
    BranchId, Session, SessionError, SessionLimit, Thought, ThoughtDraft,
};
use cogwork_strategies::{Strategies, StrategyName};
use support::{told, walk};

const MAIN: BranchId = BranchId::MAIN;

#[test]
fn a_change_is_a_thought_and_keeps_the_history() {
    let mut session = Session::new(StrategyName::ChainOfThought);
    walk(&mut session, &["problem_reception", "step_decomposition"]);
    let why = ThoughtDraft::here("There are several ways: a tree is better.");
    let id = session
        .change_strategy(MAIN, StrategyName::TreeOfThoughts, why)
        .unwrap();
    let change: &Thought = session.thought(id).unwrap();

    assert_eq!(
        (change.strategy(), change.number()),
        ("tree_of_thoughts", 3)
    );
    walk(&mut session, &["approach_exploration"]);

    // Into the middle of a strategy, and back to an earlier one.
    let back = ThoughtDraft::at("sequential_reasoning", "No, there is one way.");
    session
        .change_strategy(MAIN, StrategyName::ChainOfThought, back)
        .unwrap();
    let rest = [
        "solution_formulation",
        "answer_verification",
        "final_response",
    ];
    walk(&mut session, &rest);

    assert!(session.is_complete());
    insta::assert_snapshot!(told(&session), @"
    1 main#1 problem_reception: problem_reception
    2 main#2 step_decomposition: step_decomposition
    3 main#3 problem_reception: There are several ways: a tree is better.
    4 main#4 approach_exploration: approach_exploration
    5 main#5 sequential_reasoning: No, there is one way.
    6 main#6 solution_formulation: solution_formulation
    7 main#7 answer_verification: answer_verification
    8 main#8 final_response: final_response
    ");

    assert_eq!(session.strategy().name(), "chain_of_thought");
}

#[test]
fn a_change_is_checked_like_any_thought() {
    let mut session = Session::new(StrategyName::ChainOfThought);
    walk(&mut session, &["problem_reception"]);
    let before = session.clone();
    let mut change =
        |strategy: StrategyName, draft| session.change_strategy(MAIN, strategy, draft).unwrap_err();

    insta::assert_snapshot!(change(StrategyName::React, ThoughtDraft::at("nowhere", "?")), @"`react` does not lead from `problem_reception` to `nowhere`; expected `problem_reception`, `initial_reasoning`, `action_planning`, `action_execution`, `observation_reception`, `reasoning_update`, `evaluation_checkpoint`, `solution_formulation` or `final_response`");
    insta::assert_snapshot!(change(StrategyName::React, ThoughtDraft::at("action_planning", "?")), @"the stage `action_planning` of `react`: `action` is missing, expected a text");
    assert_eq!(session, before);

    let another = Strategies::from_yaml(
        "chain_of_thought:\n  description: Mine.\n  stages:\n    only: {description: d, prompt: p, final: true}",
    );
    let another = another.unwrap().get("chain_of_thought").unwrap().clone();
    let error = session
        .change_strategy(MAIN, another, ThoughtDraft::here("?"))
        .unwrap_err();
    insta::assert_snapshot!(error, @"the session already has a different strategy called `chain_of_thought`; choose another name");
    assert_eq!(session, before);
}

#[test]
fn a_part_runs_to_its_end_and_the_strategy_around_it_goes_on() {
    let mut session = Session::new(StrategyName::ChainOfThought);
    walk(
        &mut session,
        &["step_decomposition", "sequential_reasoning"],
    );
    session
        .begin_part(
            MAIN,
            StrategyName::React,
            ThoughtDraft::here("A step needs a look outside."),
        )
        .unwrap();

    walk(&mut session, &["initial_reasoning"]);
    let error = session
        .think(ThoughtDraft::at("solution_formulation", "?"))
        .unwrap_err();
    insta::assert_snapshot!(error, @"`react` does not lead from `initial_reasoning` to `solution_formulation`; expected `action_planning`");
    walk(
        &mut session,
        &[
            "action_planning",
            "action_execution",
            "observation_reception",
            "reasoning_update",
            "evaluation_checkpoint",
            "solution_formulation",
            "final_response",
        ],
    );

    assert!(!session.is_complete(), "only the part has ended");
    let last = session.thoughts().last().unwrap();
    let around: Vec<_> = last.outer().collect();
    assert_eq!(around, [("chain_of_thought", "sequential_reasoning")]);

    let error = session
        .think(ThoughtDraft::at("action_planning", "?"))
        .unwrap_err();
    insta::assert_snapshot!(error, @"`chain_of_thought` does not lead from `sequential_reasoning` to `action_planning`; expected `solution_formulation`");
    walk(&mut session, &["solution_formulation"]);
    assert_eq!(session.thoughts().last().unwrap().outer().count(), 0);
    walk(&mut session, &["answer_verification", "final_response"]);
    assert!(session.is_complete());
    let written = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<Session>(&written).unwrap(), session);
}

#[test]
fn parts_nest_eight_deep() {
    let mut session = Session::new(StrategyName::React);
    for _ in 1..8 {
        session
            .begin_part(
                MAIN,
                StrategyName::React,
                ThoughtDraft::at("problem_reception", "deeper"),
            )
            .unwrap();
    }

    let before = session.clone();
    let error = session
        .begin_part(MAIN, StrategyName::React, ThoughtDraft::here("deeper"))
        .unwrap_err();
    assert_eq!(
        error,
        SessionError::Full {
            limit: SessionLimit::Parts,
            most: 8
        }
    );

    assert_eq!(
        error.to_string(),
        "the limit of 8 nested strategies is reached"
    );
    assert_eq!(session, before);
    let error = Session::new(StrategyName::React)
        .begin_part(
            MAIN,
            StrategyName::Linear,
            ThoughtDraft::at("thought_generation", "?"),
        )
        .unwrap_err();

    insta::assert_snapshot!(error, @"`linear` does not lead from `problem_reception` to `thought_generation`; expected `problem_reception`");

    // A change leaves all nested strategies.
    session
        .change_strategy(MAIN, StrategyName::Linear, ThoughtDraft::here("plainly"))
        .unwrap();
    assert_eq!(session.thoughts().last().unwrap().outer().count(), 0);
}
