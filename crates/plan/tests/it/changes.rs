//! The changes between two plans.

use cogwork_plan::{ChangeKind, Plan, Status, Step};

fn plan(names: &[&str]) -> Plan {
    names.iter().map(|name| Step::pending(*name)).collect()
}

fn lines(later: &Plan, earlier: &Plan) -> String {
    let changes = later.changes_since(earlier);
    let lines: Vec<_> = changes.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn an_evolution_is_told_in_the_order_of_the_new_plan() {
    let earlier = Plan::from(vec![
        Step::pending("Understand the problem"),
        Step::pending("Multiply"),
        Step::done("Guess the sum", "700"),
        Step::verification_needed("Add the parts", "a carry is missing"),
        Step::pending("Conclude"),
        Step::pending("Check").with_sub_steps([
            Step::pending("By division"),
            Step::pending("By estimate"),
            Step::pending("By eye"),
        ]),
    ]);

    let later = Plan::from(vec![
        Step::done("Understand the problem", "24 * 27"),
        Step::pending("Multiply").with_sub_steps([Step::pending("Tens"), Step::pending("Ones")]),
        Step::done("Add the parts", "648"),
        Step::pending("Check").with_sub_steps([
            Step::pending("By eye"),
            Step::pending("By dividing"),
            Step::pending("By estimate"),
            Step::pending("By another way"),
        ]),
        Step::pending("Conclude"),
    ]);

    insta::assert_snapshot!(lines(&later, &earlier), @r#"
    1 Pending → Done: Understand the problem
    1 result 24 * 27: Understand the problem
    2 broken into 2 sub-steps: Multiply
    3 removed: Guess the sum
    3 Verification Needed → Done: Add the parts
    3 result 648: Add the parts
    3 mark dropped: Add the parts
    4 moved from 6: Check
    4.1 moved from 6.3: By eye
    4.2 reworded from "By division": By dividing
    4.4 added: By another way
    "#);
}

#[test]
fn a_plan_is_unchanged_against_itself() {
    let same = plan(&["a", "b", "a", "a"]);
    assert_eq!(same.changes_since(&same.clone()), []);
}

#[test]
fn results_and_marks_come_and_go() {
    let with = |result: Option<&str>, mark: Option<&str>| {
        Plan::from(vec![Step {
            result: result.map(Into::into),
            mark: mark.map(Into::into),
            ..Step::pending("Add")
        }])
    };

    insta::assert_snapshot!(lines(&with(Some("7"), Some("odd")), &with(None, None)), @"
    1 result 7: Add
    1 mark odd: Add
    ");
    insta::assert_snapshot!(lines(&with(Some("8"), None), &with(Some("7"), Some("odd"))), @"
    1 result 7 → 8: Add
    1 mark dropped: Add
    ");

    // Not shown as such, but not the same either.
    let changes = with(Some(""), None).changes_since(&with(None, None));
    assert_eq!(changes.len(), 1);
}

/// Each word is a step.
#[test]
fn steps_are_matched_by_their_descriptions_in_order() {
    let words = |text: &str| plan(&text.split(' ').collect::<Vec<_>>());
    for (later, earlier, expected) in [
        // Those of equal description.
        ("Check Add Check Check", "Check Add Check", "4 added: Check"),
        // An insertion moves nothing, and as few as possible are called moved.
        ("new a b c", "a b c", "1 added: new"),
        ("b c", "a b c", "1 removed: a"),
        ("c a b", "a b c", "1 moved from 3: c"),
        ("b c a", "a b c", "3 moved from 1: a"),
    ] {
        assert_eq!(lines(&words(later), &words(earlier)), expected);
    }

    let mut later = words("Check Check");
    later.steps_mut()[1].status = Status::Done;
    let told = lines(&later, &words("Check Check"));
    assert_eq!(told, "2 Pending → Done: Check");
}

#[test]
fn leftovers_between_the_same_neighbours_are_reworded() {
    insta::assert_snapshot!(lines(&plan(&["a", "Add tens", "b", "new"]), &plan(&["a", "Add", "Sum", "b"])), @r#"
    2 reworded from "Add": Add tens
    3 removed: Sum
    4 added: new
    "#);
}

#[test]
fn a_step_that_went_to_another_parent_is_removed_and_added() {
    let earlier = Plan::from(vec![
        Step::pending("a").with_sub_steps(plan(&["x", "y"]).into_steps()),
        Step::pending("b").with_sub_steps([Step::pending("z")]),
    ]);
    let later = Plan::from(vec![
        Step::pending("a").with_sub_steps([Step::pending("x")]),
        Step::pending("b").with_sub_steps(plan(&["z", "y"]).into_steps()),
    ]);
    insta::assert_snapshot!(lines(&later, &earlier), @"
    1.2 removed: y
    2.2 added: y
    ");
}

#[test]
fn what_comes_and_goes_with_its_parent_is_not_told_again() {
    let tree = Step::pending("tree").with_sub_steps(plan(&["x", "y"]).into_steps());
    let with = Plan::from(vec![Step::pending("a"), tree]);
    let [without, alone] = [plan(&["a"]), plan(&["a", "tree"])];
    assert_eq!(lines(&with, &without), "2 added: tree");
    assert_eq!(lines(&without, &with), "2 removed: tree");
    assert_eq!(lines(&with, &alone), "2 broken into 2 sub-steps: tree");
    assert_eq!(lines(&alone, &with), "2.1 removed: x\n2.2 removed: y");
}

#[test]
fn a_change_stays_on_its_line() {
    let later = Plan::from(vec![Step::done("two\nlines", "\u{1b}[2Jgone\r\n")]);
    let earlier = Plan::from(vec![Step::pending("two\nlines")]);
    insta::assert_snapshot!(lines(&later, &earlier), @"
    1 Pending → Done: two lines
    1 result �[2Jgone: two lines
    ");
}

#[test]
fn ten_thousand_steps_in_reverse_are_compared() {
    let names: Vec<String> = (0..10_000).map(|number| format!("step {number}")).collect();
    let earlier: Plan = names.iter().map(Step::pending).collect();
    let later: Plan = names.iter().rev().map(Step::pending).collect();
    let changes = later.changes_since(&earlier);

    assert_eq!(changes.len(), 9_999);
    let mut kinds = changes.iter().map(|change| &change.kind);
    assert!(kinds.all(|kind| matches!(kind, ChangeKind::Moved { .. })));
}
