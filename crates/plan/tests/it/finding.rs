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
    let lines = plan.walk().map(|entry| {
        let name = &entry.step.description;
        format!("{} {} {name}", entry.path(), entry.depth)
    });
    let lines = lines.collect::<Vec<_>>().join(", ");
    let expected =
        "1 1 Understand, 2 1 Multiply, 2.1 2 Tens, 2.1.1 3 20 * 7, 2.2 2 Ones, 3 1 Conclude";
    assert_eq!(lines, expected);
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
fn the_next_step_is_the_first_that_can_be_done() {
    let tens = |child| Step::pending("Tens").with_sub_steps([child]);
    let in_doubt = || Step::verification_needed("Tens", "odd");
    let carry = Step::done("Add", "7").with_sub_steps([Step::pending("Carry")]);
    for (plan, expected) in [
        // A leaf comes before its parent.
        (
            multiply([Step::done("Tens", "600"), Step::pending("Ones")]),
            "2.2 Ones",
        ),
        (multiply([tens(Step::pending("20 * 7"))]), "2.1.1 20 * 7"),
        // A parent whose children are done is to be closed.
        (multiply([Step::done("Tens", "600")]), "2 Multiply"),
        (multiply([tens(Step::done("20 * 7", "140"))]), "2.1 Tens"),
        // It waits for a child in doubt, and the steps after it don't.
        (multiply([in_doubt()]), "3 Conclude"),
        // A child of a step called done is still found.
        (Plan::from(vec![carry]), "1.1 Carry"),
        (Plan::from(vec![Step::done("Add", "7"), in_doubt()]), "none"),
        (Plan::new(), "none"),
    ] {
        assert_eq!(next(&plan).as_deref().unwrap_or("none"), expected);
    }
}

#[test]
fn progress_counts_the_steps_that_have_no_others_beneath_them() {
    let progress = multiply([
        Step::done("Tens", "600"),
        Step::verification_needed("Ones", "odd"),
    ])
    .progress();

    let counts = [
        progress.done,
        progress.verification_needed,
        progress.pending,
    ];
    assert_eq!(counts, [2, 1, 1]);
    assert_eq!((progress.total(), progress.fraction()), (4, 0.5));
    assert_eq!(progress.to_string(), "2 of 4 steps done, 1 to verify");
    let one = Plan::from(vec![Step::pending("Add")]).progress();
    assert_eq!(one.to_string(), "0 of 1 step done");

    let nothing = Plan::new().progress();
    assert_eq!(nothing.to_string(), "0 of 0 steps done");
    assert_eq!(nothing.fraction(), 0.0);
}
