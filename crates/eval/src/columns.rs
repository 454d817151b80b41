//! The columns of a table, which are also what an arm can be picked by.

use Unit::{Dollars, Number, Percent, Points};

use crate::ArmResult;

/// How a number is written for people.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    /// A share of 1.
    Percent,
    /// A difference between shares.
    Points,
    Dollars,
    /// With this many decimals.
    Number(usize),
}

/// The names of the numbers of an arm, in the order in which they are shown.
pub(crate) const COLUMNS: [(&str, Unit); 21] = [
    ("accuracy", Percent),
    ("accuracy_low", Percent),
    ("accuracy_high", Percent),
    ("difference", Points),
    ("difference_low", Points),
    ("difference_high", Points),
    ("p", Number(3)),
    ("any_of_2", Percent),
    ("any_of_4", Percent),
    ("any_of_8", Percent),
    ("majority", Percent),
    ("failure_rate", Percent),
    ("calls", Number(1)),
    ("tokens", Number(0)),
    ("tokens_in", Number(0)),
    ("cached", Number(0)),
    ("tokens_out", Number(0)),
    ("seconds", Number(1)),
    ("cost", Dollars),
    ("repairs", Number(1)),
    ("asked_again", Number(1)),
];

impl Unit {
    pub(crate) fn write(self, value: f64) -> String {
        match self {
            Percent => format!("{:.1} %", value * 100.0),
            Points => format!("{:+.1}", value * 100.0),
            Dollars => format!("${value:.4}"),
            Number(decimals) => format!("{value:.decimals$}"),
        }
    }
}

/// Returns the columns that are shown to people: those that say something about any of the arms.
pub(crate) fn shown(arms: &[ArmResult]) -> impl Iterator<Item = (&'static str, Unit)> {
    COLUMNS.into_iter().filter(|(name, _)| {
        let mut numbers = arms.iter().filter_map(|arm| arm.number(name));
        // The ends of intervals are in the cell of the number itself.
        let is_end = name.ends_with("_low") || name.ends_with("_high");
        !is_end && (*name == "accuracy" || numbers.any(|number| number != 0.0))
    })
}
