//! Texts from models are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use cogwork_plan::{Change, ChangeKind, Plan, Step};
use hostile::{assert_line_is_safe, assert_lines_are_safe, texts};

#[test]
fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_renderings(&text);
        show_changes(&text);
    }
}

fn show_renderings(text: &str) {
    let step = Step {
        result: Some(text.to_owned()),
        ..Step::verification_needed(text, text)
    };
    let plan = Plan::from(vec![step.clone().with_sub_steps([step.clone()]), step]);

    assert_lines_are_safe(&plan.outline());
    assert_lines_are_safe(&plan.mermaid());
    assert_eq!(
        plan.outline().to_string().lines().count(),
        3,
        "a step stays on its line"
    );
}

fn show_changes(text: &str) {
    let other = || Some(text.to_owned());
    let before = Plan::from(vec![
        Step::pending("first"),
        Step::done("second", "a result"),
        Step::verification_needed("third", "a mark"),
        Step::pending(text),
    ]);

    let after = Plan::from(vec![
        Step::done(format!("first {text}"), text),
        Step {
            result: other(),
            ..Step::done("second", "")
        },
        Step {
            mark: other(),
            ..Step::verification_needed("third", "")
        },
        Step::pending("new").with_sub_steps([Step::pending(text)]),
    ]);

    let changes = after.changes_since(&before);
    assert!(!changes.is_empty());
    changes
        .iter()
        .chain(&before.changes_since(&after))
        .for_each(|change| assert_line_is_safe(change));
    kinds(text).for_each(|change| assert_line_is_safe(&change));
}

/// A change of every kind that holds a text.
fn kinds(text: &str) -> impl Iterator<Item = Change> {
    let other = || Some(text.to_owned());
    let mut change = Plan::from(vec![Step::pending(text)])
        .changes_since(&Plan::new())
        .remove(0);

    [
        ChangeKind::ResultChanged {
            from: other(),
            to: other(),
        },
        ChangeKind::MarkChanged {
            from: other(),
            to: other(),
        },
        ChangeKind::Reworded {
            from: text.to_owned(),
        },
    ]
    .into_iter()
    .map(move |kind| {
        change.kind = kind;
        change.clone()
    })
}
