//! Finding steps: by walk, by path, the next one to do; and counting them.

use cogwork_plan::{Plan, Status, Step, StepPath};

/// The path of a step with this position.
#[allow(clippy::unwrap_used)]
fn path(plan: &Plan, text: &str) -> StepPath {
    let mut paths = plan.walk().map(|entry| entry.path().clone());
    paths.find(|path| path.to_string() == text).unwrap()
}

fn next(plan: &Plan) -> Option<String> {
    plan.first_pending()
        .map(|(path, step)| format!("{path} {}", step.description))
}

fn multiply(children: impl IntoIterator<Item = Step>) -> Plan {
    Plan::from(vec![
        Step::done("Understand", "24 * 27"),
        Step::pending("Multiply").with_sub_steps(children),
        Step::pending("Conclude"),
    ])
}

#[test]
fn a_walk_goes_in_document_order() {
    let plan = multiply([
        Step::pending("Tens").with_sub_steps([Step::pending("20 * 7")]),
        Step::pending("Ones"),
    ]);
    let lines: Vec<String> = plan
        .walk()
        .map(|entry| {
            format!(
                "{} {} {}",
                entry.path(),
                entry.depth,
                entry.step.description
            )
        })
        .collect();

    assert_eq!(
        lines,
        [
            "1 1 Understand",
            "2 1 Multiply",
            "2.1 2 Tens",
            "2.1.1 3 20 * 7",
            "2.2 2 Ones",
            "3 1 Conclude"
        ]
    );

    assert_eq!(plan.len(), 6);
    assert!(!plan.is_empty() && Plan::new().is_empty());
}

#[test]
fn a_step_is_found_and_changed_by_its_path() {
    let mut plan = multiply([Step::pending("Tens"), Step::pending("Ones")]);
    let ones = path(&plan, "2.2");
    assert_eq!(plan.get(&ones).unwrap().description, "Ones");
    plan.get_mut(&ones).unwrap().status = Status::Done;
    assert_eq!(plan.steps()[1].sub_steps[1].status, Status::Done);

    let mut shorter = multiply([Step::pending("Tens")]);
    assert_eq!(shorter.get(&ones), None);
    assert_eq!(shorter.get_mut(&ones), None);
    assert_eq!(Plan::new().get(&ones), None);
}

#[test]
fn the_first_pending_leaf_comes_before_its_parent() {
    assert_eq!(
        next(&multiply([
            Step::done("Tens", "600"),
            Step::pending("Ones")
        ])),
        Some("2.2 Ones".into())
    );

    let inner = Step::pending("Tens").with_sub_steps([Step::pending("20 * 7")]);
    assert_eq!(next(&multiply([inner])), Some("2.1.1 20 * 7".into()));
}

#[test]
fn a_pending_parent_whose_children_are_done_is_next_to_be_closed() {
    assert_eq!(
        next(&multiply([Step::done("Tens", "600")])),
        Some("2 Multiply".into())
    );
    let inner = Step::pending("Tens").with_sub_steps([Step::done("20 * 7", "140")]);
    assert_eq!(next(&multiply([inner])), Some("2.1 Tens".into()));
}

#[test]
fn a_parent_waits_for_a_child_in_doubt_and_the_steps_after_it_do_not() {
    assert_eq!(
        next(&multiply([Step::verification_needed("Tens", "odd")])),
        Some("3 Conclude".into())
    );
}

#[test]
fn a_pending_child_of_a_step_called_done_is_still_found() {
    let plan = Plan::from(vec![
        Step::done("Add", "7").with_sub_steps([Step::pending("Carry")]),
    ]);
    assert_eq!(next(&plan), Some("1.1 Carry".into()));
}

#[test]
fn nothing_is_next_when_nothing_is_pending() {
    assert_eq!(next(&Plan::new()), None);
    assert_eq!(
        next(&Plan::from(vec![
            Step::done("Add", "7"),
            Step::verification_needed("Check", "odd")
        ])),
        None
    );
}

#[test]
fn progress_counts_the_steps_that_have_no_others_beneath_them() {
    let progress = multiply([
        Step::done("Tens", "600"),
        Step::verification_needed("Ones", "odd"),
    ])
    .progress();

    assert_eq!(
        (
            progress.done,
            progress.verification_needed,
            progress.pending
        ),
        (2, 1, 1)
    );

    assert_eq!((progress.total(), progress.fraction()), (4, 0.5));
    assert_eq!(progress.to_string(), "2 of 4 steps done, 1 to verify");
    assert_eq!(
        Plan::from(vec![Step::pending("Add")])
            .progress()
            .to_string(),
        "0 of 1 step done"
    );

    let nothing = Plan::new().progress();
    assert_eq!(
        (nothing.to_string().as_str(), nothing.fraction()),
        ("0 of 0 steps done", 0.0)
    );
}
