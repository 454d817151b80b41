use std::collections::BTreeSet;
use std::fmt::Write;

use crate::{ArmResult, Table};

const STYLE: &str = include_str!("page.css");

/// The size of the drawing.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
/// The space around it for labels.
const EDGE: f64 = 48.0;

/// Writes a table as one HTML page, which needs no network: the table, a drawing of accuracy against
/// cost with intervals and the Pareto front, bars by tag, and all runs with their answers. `place` is
/// where the journals of the runs are, for the command that shows one of them.
pub fn page(table: &Table, place: &str) -> String {
    let title = escaped(&table.suite);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n\
         <p>{} problems, {} each. Intervals are at 95 %. Runs that failed count as wrong.</p>\n",
        table.problems, table.repetitions
    );

    html.push_str(&html_table(table));
    html.push_str(&drawing(table));
    html.push_str(&bars(table));
    html.push_str(&runs(table, place));
    html.push_str("</body></html>\n");
    html
}

fn escaped(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

fn row<T: AsRef<str>>(tag: &str, cells: &[T]) -> String {
    let cells = cells
        .iter()
        .map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell.as_ref())));
    format!("<tr>{}</tr>\n", cells.collect::<String>())
}

fn html_table(table: &Table) -> String {
    let rows = table.rows();
    let rows = rows.iter().enumerate();
    let rows = rows.map(|(index, cells)| row(if index == 0 { "th" } else { "td" }, cells));
    format!(
        "<div class=\"wide\"><table>{}</table></div>\n",
        rows.collect::<String>()
    )
}

/// Draws accuracy against cost, or against tokens or calls if nothing costs money.
fn drawing(table: &Table) -> String {
    let tokens = |arm: &ArmResult| arm.tokens[0] + arm.tokens[1];
    let is_positive =
        |measure: &dyn Fn(&ArmResult) -> f64| table.arms.iter().any(|arm| measure(arm) > 0.0);
    let (unit, cost): (&str, &dyn Fn(&ArmResult) -> f64) = if is_positive(&|arm| arm.money) {
        ("US dollars", &|arm| arm.money)
    } else if is_positive(&tokens) {
        ("tokens", &tokens)
    } else {
        ("calls", &|arm| arm.calls)
    };
    let highest = table
        .arms
        .iter()
        .map(cost)
        .fold(0.0, f64::max)
        .max(f64::MIN_POSITIVE);
    let x = |arm: &ArmResult| EDGE + cost(arm) / highest * (WIDTH - 4.0 * EDGE);
    let y = |rate: f64| HEIGHT - EDGE - rate * (HEIGHT - 2.0 * EDGE);

    let mut svg = String::new();
    for rate in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (at, percent) = (y(rate), rate * 100.0);
        let right = WIDTH - EDGE;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{EDGE}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"4\" y=\"{at:.1}\">{percent} %</text>"
        );
    }

    let front = pareto(&table.arms, cost);
    let points: Vec<_> = front
        .iter()
        .map(|arm| format!("{:.1},{:.1}", x(arm), y(arm.accuracy)))
        .collect();
    let _ = write!(
        svg,
        "<polyline class=\"front\" points=\"{}\"/>",
        points.join(" ")
    );
    for arm in &table.arms {
        let [low, high] = arm.interval;
        let (x, at) = (x(arm), y(arm.accuracy));
        let _ = write!(
            svg,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/><circle cx=\"{x:.1}\" cy=\"{at:.1}\" r=\"4\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            y(low),
            y(high),
            x + 7.0,
            at - 5.0,
            escaped(&arm.name)
        );
    }

    let axis = format!("{unit} of a run, up to {}", (highest * 1e4).round() / 1e4);
    let bottom = HEIGHT - 12.0;
    format!(
        "<h2>Accuracy against cost</h2>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Accuracy against \
         cost\">{svg}<text x=\"{EDGE}\" y=\"{bottom}\">{axis}</text></svg>\n\
         <p>The line connects the arms that no other arm beats in both.</p>\n"
    )
}

/// Returns the arms that no other arm beats in both accuracy and cost, the cheapest first.
fn pareto(arms: &[ArmResult], cost: impl Fn(&ArmResult) -> f64) -> Vec<&ArmResult> {
    let is_beaten = |arm: &ArmResult| {
        arms.iter().any(|other| {
            let (more, less) = (cost(arm), cost(other));
            less <= more
                && other.accuracy >= arm.accuracy
                && (less < more || other.accuracy > arm.accuracy)
        })
    };
    let mut front: Vec<_> = arms.iter().filter(|arm| !is_beaten(arm)).collect();
    front.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    front
}

fn bars(table: &Table) -> String {
    let tags: BTreeSet<_> = table
        .arms
        .iter()
        .flat_map(|arm| arm.by_tag.keys())
        .collect();
    let mut html = String::new();
    for tag in &tags {
        let _ = write!(html, "<h3>{}</h3>\n<table class=\"bars\">", escaped(tag));
        for arm in &table.arms {
            let Some(share) = arm.by_tag.get(*tag) else {
                continue;
            };
            let percent = share.accuracy * 100.0;
            let _ = writeln!(
                html,
                "<tr><td>{}</td><td><meter min=\"0\" max=\"100\" value=\"{percent:.1}\"></meter></td>\
                 <td>{percent:.0} % of {}</td></tr>",
                escaped(&arm.name),
                share.problems
            );
        }
        html.push_str("</table>\n");
    }

    if tags.is_empty() {
        html
    } else {
        format!("<h2>By tag</h2>\n{html}")
    }
}

fn runs(table: &Table, place: &str) -> String {
    let place = escaped(place);
    let mut html = format!(
        "<h2>Runs</h2>\n<p><code>cogwork trace RUN --journal {place} -o run.html</code> makes a page of a run.</p>\n"
    );
    for arm in &table.arms {
        let name = escaped(&arm.name);
        let _ = writeln!(
            html,
            "<details><summary>{name}</summary><div class=\"wide\"><table>"
        );
        html.push_str(&row("th", &["problem", "", "answer", "run"]));

        for run in &arm.runs {
            let said = run.answer.as_ref().or(run.error.as_ref());
            let mark = match (&run.error, run.right) {
                (Some(_), _) => "failed",
                (None, true) => "right",
                (None, false) => "wrong",
            };
            let said = said.map_or("", String::as_str);
            html.push_str(&row("td", &[&run.problem, mark, said, &run.run]));
        }
        html.push_str("</table></div></details>\n");
    }
    html
}
