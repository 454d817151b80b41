use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::result::page_name;
use crate::{ArmResult, Table};

/// An arm in the drawing. All numbers but the cost are rates, and the cost is one of the highest.
#[derive(Serialize)]
struct Dot<'a> {
    name: &'a str,
    cost: f64,
    accuracy: f64,
    low: f64,
    high: f64,
    /// The height of the name, which doesn't touch that of another arm.
    label: f64,
    /// Whether no other arm is better in both accuracy and cost.
    front: bool,
}

/// The size of a name in the drawing.
const WIDTH: f64 = 0.3;
const HEIGHT: f64 = 0.05;

/// Writes a table as one HTML page, which needs no network: the table, a drawing of accuracy against
/// cost with intervals and the Pareto front, bars by tag, and all runs with their answers. With `pages`,
/// a folder relative to the page, runs are links to their pages, whose names are those of
/// [`RunResult::page_name`](crate::RunResult::page_name).
///
/// # Errors
///
/// Returns an error if the table has a number that isn't finite.
pub fn page(table: &Table, pages: Option<&str>) -> Result<String, minijinja::Error> {
    let (unit, digits, cost) = axis(table);
    let highest = table.arms.iter().map(cost).fold(0.0, f64::max);

    let mut environment = Environment::new();
    environment.add_filter("page_name", page_name);
    environment.add_template("page.html", include_str!("page.html"))?;
    environment.get_template("page.html")?.render(context! {
        table => Serde(table),
        rows => table.shown_rows(),
        notes => table.notes(),
        parts => Serde(table.parts()),
        dots => Serde(dots(&table.arms, |arm| cost(arm) / highest.max(f64::MIN_POSITIVE))),
        unit,
        digits,
        highest,
        pages,
    })
}

/// Returns what is drawn to the right, and with how many digits: money, or tokens or calls if nothing
/// costs money.
fn axis(table: &Table) -> (&'static str, i32, fn(&ArmResult) -> f64) {
    let any = |cost: fn(&ArmResult) -> f64| table.arms.iter().any(|arm| cost(arm) > 0.0);
    if any(|arm| arm.cost.money) {
        ("US dollars", 4, |arm| arm.cost.money)
    } else if any(|arm| arm.cost.tokens()) {
        ("tokens", 0, |arm| arm.cost.tokens())
    } else {
        ("calls", 1, |arm| arm.cost.calls)
    }
}

/// Returns the arms by cost.
fn dots(arms: &[ArmResult], cost: impl Fn(&ArmResult) -> f64) -> Vec<Dot<'_>> {
    let mut dots: Vec<_> = arms
        .iter()
        .map(|arm| Dot {
            name: &arm.name,
            cost: cost(arm),
            accuracy: arm.accuracy,
            low: arm.interval[0],
            high: arm.interval[1],
            label: arm.accuracy,
            front: false,
        })
        .collect();
    dots.sort_by(|one, other| {
        let by_cost = one.cost.total_cmp(&other.cost);
        by_cost.then(other.accuracy.total_cmp(&one.accuracy))
    });

    // Of arms that cost more, only those that are better than all before are in front.
    let mut best = f64::NEG_INFINITY;
    let mut labels: Vec<(f64, f64)> = Vec::new();
    for dot in &mut dots {
        dot.front = dot.accuracy > best;
        best = best.max(dot.accuracy);

        let touches = |label: f64| {
            let mut near = labels.iter().filter(|(cost, _)| dot.cost - cost < WIDTH);
            near.any(|(_, other)| (label - other).abs() < HEIGHT)
        };
        while touches(dot.label) {
            dot.label += 1.1 * HEIGHT;
        }
        labels.push((dot.cost, dot.label));
    }
    dots
}
