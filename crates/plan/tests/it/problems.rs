//! The problems of plans, with the text of each kind.

use cogwork_plan::{Plan, Status, Step};

#[test]
fn every_kind_is_reported_with_its_path() {
    let done = |description: &str| Step {
        status: Status::Done,
        ..Step::pending(description)
    };
    let plan = Plan::from(vec![
        done("Multiply").with_sub_steps([Step::done("Tens", "600"), Step::pending("Ones")]),
        Step {
            result: Some("7".into()),
            ..Step::pending("Add")
        },
        Step::pending(" \n"),
        done("Subtract"),
        Step::done("Divide", " "),
        Step {
            status: Status::VerificationNeeded,
            ..Step::pending("Check")
        },
        Step::verification_needed("", ""),
    ]);

    let sentences: Vec<String> = plan.problems().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(sentences.join("\n"), @"
    Step 1 is done before all its sub-steps are.
    Step 2 has a result though it is pending.
    Step 3 has an empty description.
    Step 4 is done without a result.
    Step 5 is done without a result.
    Step 6 needs verification without a mark that says why.
    Step 7 has an empty description.
    Step 7 needs verification without a mark that says why.
    ");
}

#[test]
fn a_step_too_deep_is_reported_once_and_what_lies_beneath_it_is_not_checked() {
    let bottom = Step::pending("");
    let step = (1..40).fold(bottom, |step, _| {
        Step::pending("level").with_sub_steps([step])
    });
    let sentences: Vec<String> = Plan::from(vec![step])
        .problems()
        .iter()
        .map(ToString::to_string)
        .collect();

    let path = vec!["1"; 33].join(".");
    assert_eq!(
        sentences,
        [format!("Step {path} is nested deeper than 32 levels.")]
    );
}

#[test]
fn a_sound_plan_has_none() {
    let plan = Plan::from(vec![
        Step {
            status: Status::Done,
            ..Step::pending("Multiply").with_sub_steps([Step::done("Tens", "600")])
        },
        Step {
            result: Some("42".into()),
            ..Step::verification_needed("Add", "too small")
        },
        Step::pending("Conclude"),
    ]);
    assert_eq!(plan.problems(), []);
}
