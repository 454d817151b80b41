//! The columns of a table, which are also what an arm can be picked by.

use crate::ArmResult;

/// Writes a number for people.
pub(crate) type Write = fn(f64) -> String;

/// The names of the numbers of an arm, in the order in which they are shown.
pub(crate) const COLUMNS: [(&str, Write); 24] = [
    ("accuracy", percent),
    ("accuracy_low", percent),
    ("accuracy_high", percent),
    ("difference", points),
    ("difference_low", points),
    ("difference_high", points),
    ("p", |p| format!("{p:.3}")),
    ("any_of_2", percent),
    ("any_of_4", percent),
    ("any_of_8", percent),
    ("majority", percent),
    ("failure_rate", percent),
    ("calls", tenths),
    ("tokens", whole),
    ("tokens_in", whole),
    ("cached", whole),
    ("tokens_out", whole),
    ("seconds", tenths),
    ("cost", |dollars| format!("${dollars:.6}")),
    ("repairs", tenths),
    ("asked_again", tenths),
    ("judge_calls", tenths),
    ("judge_tokens", whole),
    ("judge_cost", |dollars| format!("${dollars:.6}")),
];

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Writes a difference between shares.
fn points(difference: f64) -> String {
    format!("{:+.1}", difference * 100.0)
}

fn tenths(number: f64) -> String {
    format!("{number:.1}")
}

fn whole(number: f64) -> String {
    format!("{number:.0}")
}

/// Returns the columns that are shown to people: those that say something about any of the arms.
pub(crate) fn shown(arms: &[ArmResult]) -> impl Iterator<Item = (&'static str, Write)> {
    COLUMNS.into_iter().filter(|(name, _)| {
        let mut numbers = arms.iter().filter_map(|arm| arm.number(name));
        // The ends of intervals are in the cell of the number itself.
        let is_end = name.ends_with("_low") || name.ends_with("_high");
        let is_unknown = arms.iter().any(|arm| arm.is_unknown(name));
        !is_end && (*name == "accuracy" || is_unknown || numbers.any(|number| number != 0.0))
    })
}
