//! Thoughts on one branch: numbers, revisions, expected totals, ends and refusals.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::support;

use cogwork_strategies::{
    BranchId, BranchStatus, Session, SessionError, SessionPolicy, StrategyName, ThoughtDraft,
    ThoughtId,
};
use serde_json::json;
use support::{told, walk};

fn refused(session: &mut Session, draft: ThoughtDraft) -> SessionError {
    let before = session.clone();
    let error = session.think(draft).unwrap_err();
    assert_eq!(*session, before, "a refusal changes nothing");
    let written = serde_json::to_string(&error).unwrap();

    assert_eq!(
        serde_json::from_str::<SessionError>(&written).unwrap(),
        error,
        "it survives its text"
    );

    error
}

#[test]
fn react_as_in_the_document() {
    let mut session = Session::new(StrategyName::React);
    let walked = [
        ("initial_reasoning", "Initial reasoning"),
        ("action_planning", "Action planning (search for X)"),
        ("action_execution", "Action execution"),
        ("observation_reception", "Observation reception"),
        ("reasoning_update", "Reasoning update"),
        (
            "evaluation_checkpoint",
            "Evaluation checkpoint (need more info)",
        ),
        ("action_planning", "Action planning (search for Y)"),
        ("action_execution", "Action execution"),
        ("observation_reception", "Observation reception"),
        ("reasoning_update", "Reasoning update"),
        (
            "evaluation_checkpoint",
            "Evaluation checkpoint (sufficient info)",
        ),
        ("solution_formulation", "Solution formulation"),
        ("final_response", "Final response"),
    ];

    for (stage, text) in walked {
        assert!(!session.is_complete());
        let draft = match stage {
            "action_planning" => ThoughtDraft::at(stage, text).with("action", "search"),
            "observation_reception" => ThoughtDraft::at(stage, text).with("observation", "found"),
            _ => ThoughtDraft::at(stage, text),
        };

        session.think(draft).unwrap();
        assert_eq!(session.stage().name(), stage);
    }

    insta::assert_snapshot!(told(&session), @"
    1 main#1 initial_reasoning: Initial reasoning
    2 main#2 action_planning: Action planning (search for X)
    3 main#3 action_execution: Action execution
    4 main#4 observation_reception: Observation reception
    5 main#5 reasoning_update: Reasoning update
    6 main#6 evaluation_checkpoint: Evaluation checkpoint (need more info)
    7 main#7 action_planning: Action planning (search for Y)
    8 main#8 action_execution: Action execution
    9 main#9 observation_reception: Observation reception
    10 main#10 reasoning_update: Reasoning update
    11 main#11 evaluation_checkpoint: Evaluation checkpoint (sufficient info)
    12 main#12 solution_formulation: Solution formulation
    13 main#13 final_response: Final response
    ");

    assert_eq!(
        session.branch(BranchId::MAIN).unwrap().status(),
        BranchStatus::Complete
    );
    assert_eq!(
        session.allowed(BranchId::MAIN).unwrap(),
        Vec::<&cogwork_strategies::Stage>::new()
    );
}

#[test]
fn the_first_thought_may_be_in_the_start_stage_or_behind_it() {
    let mut session = Session::new(StrategyName::Linear);
    session
        .think(ThoughtDraft::at("problem_reception", "The problem."))
        .unwrap();
    let error = refused(
        &mut session,
        ThoughtDraft::at("problem_reception", "Again."),
    );

    insta::assert_snapshot!(error, @"`linear` does not lead from `problem_reception` to `problem_reception`; expected `initial_thought_planning`");
    session
        .think(ThoughtDraft::here("More of the same stage."))
        .unwrap();
    assert_eq!(session.stage().name(), "problem_reception");
}

#[test]
fn refusals_say_what_is_allowed_missing_and_mistyped() {
    let mut session = Session::new(StrategyName::TreeOfThoughts);
    insta::assert_json_snapshot!(refused(&mut session, ThoughtDraft::at("final_response", "42")), @r#"
    {
      "kind": "refused",
      "strategy": "tree_of_thoughts",
      "from": "problem_reception",
      "attempted": "final_response",
      "allowed": [
        "approach_exploration"
      ],
      "mistyped": []
    }
    "#);

    insta::assert_snapshot!(refused(&mut session, ThoughtDraft::at("nowhere\n\u{202e}", "?")), @r"`tree_of_thoughts` does not lead from `problem_reception` to `nowhere\n\u{202e}`; expected `approach_exploration`");
    insta::assert_json_snapshot!(refused(&mut session, ThoughtDraft::at("approach_exploration", "Two.")), @r#"
    {
      "kind": "refused",
      "strategy": "tree_of_thoughts",
      "from": "problem_reception",
      "attempted": "approach_exploration",
      "allowed": [
        "approach_exploration"
      ],
      "mistyped": [
        {
          "parameter": "approaches",
          "expected": "a list that is not empty",
          "found": "missing"
        }
      ]
    }
    "#);

    let wrong = ThoughtDraft::at("approach_exploration", "Two.").with("colour", "red").with(
        "approaches",
        json!([{"id": "A", "description": "by hand", "promise": 12}, {"id": 7, "promise": "high", "x": null}, 3]),
    );
    insta::assert_json_snapshot!(refused(&mut session, wrong.clone()), @r#"
    {
      "kind": "refused",
      "strategy": "tree_of_thoughts",
      "from": "problem_reception",
      "attempted": "approach_exploration",
      "allowed": [
        "approach_exploration"
      ],
      "mistyped": [
        {
          "parameter": "approaches[0].promise",
          "expected": "a number from 0 to 10",
          "found": "12"
        },
        {
          "parameter": "approaches[1].description",
          "expected": "a text",
          "found": "nothing"
        },
        {
          "parameter": "approaches[1].id",
          "expected": "a text",
          "found": "7"
        },
        {
          "parameter": "approaches[1].promise",
          "expected": "a number from 0 to 10",
          "found": "the text \"high\""
        },
        {
          "parameter": "approaches[1].x",
          "expected": "nothing",
          "found": "null"
        },
        {
          "parameter": "approaches[2]",
          "expected": "an object with `description`, `id` and `promise`",
          "found": "3"
        },
        {
          "parameter": "colour",
          "expected": "nothing",
          "found": "the text \"red\""
        }
      ]
    }
    "#);

    insta::assert_snapshot!(refused(&mut session, wrong), @r#"the stage `approach_exploration` of `tree_of_thoughts`: `approaches[0].promise` is 12, expected a number from 0 to 10; `approaches[1].description` is nothing, expected a text; `approaches[1].id` is 7, expected a text; `approaches[1].promise` is the text "high", expected a number from 0 to 10; `approaches[1].x` is null, expected nothing; `approaches[2]` is 3, expected an object with `description`, `id` and `promise`; `colour` is the text "red", expected nothing"#);
    let many =
        ThoughtDraft::at("approach_exploration", "Many.").with("approaches", vec![0; 100_000]);
    assert!(refused(&mut session, many).to_string().len() < 3_000);
}

#[test]
fn types_of_parameters() {
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    let mut react = Session::new(StrategyName::React);
    walk(&mut react, &["initial_reasoning"]);
    let plan = |value| {
        ThoughtDraft::at("action_planning", "I search.")
            .with("action", "search")
            .with("action_input", value)
    };

    insta::assert_snapshot!(refused(&mut react, plan(deep)), @"the stage `action_planning` of `react`: `action_input` is more than 32 levels, expected JSON of at most 32 levels");
    react
        .think(plan(json!({"any": [null, 1.5, {"of": "it"}]})))
        .unwrap();

    let mut ask = Session::new(StrategyName::SelfAsk);
    walk(&mut ask, &["problem_decomposition"]);
    let ask_for = |number| {
        ThoughtDraft::at("sub_question_formulation", "Who?")
            .with("sub_question", "Who?")
            .with("sub_question_number", number)
    };

    insta::assert_snapshot!(refused(&mut ask, ask_for(json!(0))), @"the stage `sub_question_formulation` of `self_ask`: `sub_question_number` is 0, expected an integer of at least 1");
    insta::assert_snapshot!(refused(&mut ask, ask_for(json!(1.5))), @"the stage `sub_question_formulation` of `self_ask`: `sub_question_number` is 1.5, expected an integer of at least 1");
    insta::assert_snapshot!(refused(&mut ask, ask_for(json!("1"))), @r#"the stage `sub_question_formulation` of `self_ask`: `sub_question_number` is the text "1", expected an integer of at least 1"#);
    ask.think(ask_for(json!(1.0))).unwrap();
}

#[test]
fn the_expected_total_rises_by_itself_and_by_request() {
    let mut session = Session::new(StrategyName::Linear);
    let total = |session: &Session| session.branch(BranchId::MAIN).unwrap().total_thoughts();
    session
        .think(ThoughtDraft::here("1 of 3").with_total_thoughts(3))
        .unwrap();
    session.think(ThoughtDraft::here("2 of 3")).unwrap();
    session.think(ThoughtDraft::here("3 of 3")).unwrap();
    assert_eq!(total(&session), 3);
    session
        .think(ThoughtDraft::here("4, and that is more than 3"))
        .unwrap();
    assert_eq!(total(&session), 4);
    session
        .think(ThoughtDraft::here("5, and not the last").needs_more_thoughts())
        .unwrap();
    assert_eq!(total(&session), 6);
    session
        .think(ThoughtDraft::here("6 of 8").with_total_thoughts(8))
        .unwrap();
    assert_eq!(total(&session), 8);

    // Not fewer than exist, nor more than the limit.
    session
        .think(ThoughtDraft::here("7 of 2?").with_total_thoughts(2))
        .unwrap();
    assert_eq!(total(&session), 7);
    session
        .think(ThoughtDraft::here("8").with_total_thoughts(u32::MAX))
        .unwrap();
    assert_eq!(total(&session), 100_000);
}

#[test]
fn a_revision_names_a_thought_of_its_path() {
    let mut session = Session::new(StrategyName::Linear);
    walk(
        &mut session,
        &[
            "initial_thought_planning",
            "thought_generation",
            "thought_evaluation",
        ],
    );

    let revise = || ThoughtDraft::at("thought_revision", "Better.");
    insta::assert_snapshot!(refused(&mut session, revise()), @"the stage `thought_revision` of `linear`: `revises_thought` is missing, expected the number of a thought");
    insta::assert_snapshot!(refused(&mut session, revise().revises(ThoughtId::new(4))), @"there is no thought 4; expected a number from 1 to 3");
    insta::assert_snapshot!(refused(&mut session, revise().with("revises_thought", 0)), @"the stage `thought_revision` of `linear`: `revises_thought` is 0, expected the number of a thought");
    insta::assert_snapshot!(refused(&mut session, revise().with("revises_thought", 1).revises(ThoughtId::new(2))), @"the stage `thought_revision` of `linear`: `revises_thought` is 1, expected 2, which is revised");

    let revised = session.think(revise().revises(ThoughtId::new(2))).unwrap();
    assert_eq!(
        session
            .thought(revised)
            .unwrap()
            .parameter("revises_thought"),
        Some(&json!(2))
    );

    walk(&mut session, &["continuation_decision"]);

    // A thought in any stage can revise, and the parameter alone is enough.
    session
        .think(ThoughtDraft::here("No, think again.").revises(revised))
        .unwrap();
    insta::assert_snapshot!(told(&session), @"
    1 main#1 initial_thought_planning: initial_thought_planning
    2 main#2 thought_generation: thought_generation
    3 main#3 thought_evaluation: thought_evaluation
    4 main#4 thought_revision revises 2: Better.
    5 main#5 continuation_decision: continuation_decision
    6 main#6 continuation_decision revises 4: No, think again.
    ");

    let branch = session.fork(ThoughtId::new(1), "other").unwrap();
    let before = session.clone();
    let error = session
        .think_on(
            branch,
            ThoughtDraft::here("Not mine.").revises(ThoughtId::new(2)),
        )
        .unwrap_err();
    insta::assert_snapshot!(error, @"thought 2 is not on the path of the branch `other`; choose an earlier thought of that path");
    assert_eq!(session, before);
    session
        .think_on(
            branch,
            ThoughtDraft::here("Mine.").revises(ThoughtId::new(1)),
        )
        .unwrap();
}

#[test]
fn ends_early_only_where_the_policy_allows_it() {
    let mut strict = Session::new(StrategyName::StepBack);
    walk(&mut strict, &["abstraction"]);
    insta::assert_snapshot!(refused(&mut strict, ThoughtDraft::here("It is 42.").ends()), @"the thought would end the branch in the stage `abstraction`; expected one of the final stages `final_response`, or a policy that allows it");

    let mut policy = SessionPolicy::default();
    policy.allows_early_end = true;
    let mut session = Session::with_policy(StrategyName::StepBack, policy);
    walk(&mut session, &["abstraction"]);

    session
        .think(ThoughtDraft::here("It is 42.").ends())
        .unwrap();
    assert!(session.is_complete());
    insta::assert_snapshot!(refused(&mut session, ThoughtDraft::at("approach_selection", "Yet:")), @"the branch `main` is complete; expected an open one");
    insta::assert_snapshot!(refused(&mut session, ThoughtDraft::here("Yet:")), @"the branch `main` is complete; expected an open one");
}

#[test]
fn nothing_follows_the_final_stage() {
    let mut session = Session::new(StrategyName::ChainOfThought);
    walk(
        &mut session,
        &[
            "problem_reception",
            "step_decomposition",
            "sequential_reasoning",
            "solution_formulation",
            "answer_verification",
            "final_response",
        ],
    );

    insta::assert_snapshot!(refused(&mut session, ThoughtDraft::at("final_response", "Again.")), @"`chain_of_thought` does not lead from `final_response` to `final_response`; nothing follows the final stage");
    insta::assert_snapshot!(refused(&mut session, ThoughtDraft::here("Again.")), @"the branch `main` is complete; expected an open one");
}
