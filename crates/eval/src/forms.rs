//! The forms of a table, which are templates over the same columns.

use std::collections::BTreeSet;
use std::fmt;

use cogwork_text::OneLine;
use minijinja::value::Serde;
use minijinja::{Environment, Error, context};

use crate::columns::{self, COLUMNS};
use crate::{ArmResult, Table};

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An error here would be a panic in `to_string`.
        f.write_str(&self.written("table.txt", None).unwrap_or_default())
    }
}

impl Table {
    /// Writes all numbers as CSV, with a line for each arm. A text that a spreadsheet would take for a
    /// formula begins with `'`.
    pub fn csv(&self) -> String {
        self.written("table.csv", None).unwrap_or_default()
    }

    /// Writes the table as one HTML page, which needs no network: the table, a drawing of accuracy
    /// against cost with intervals and the Pareto front, bars by tag, and all runs with their answers.
    /// With `pages`, a folder relative to the page, runs are links to their pages, whose names are in
    /// [`RunResult::page`](crate::RunResult::page).
    pub fn page(&self, pages: Option<&str>) -> String {
        self.written("page.html", pages).unwrap_or_default()
    }

    /// Returns the table in one of its forms. Fails only if there is a mistake in the template.
    fn written(&self, form: &str, pages: Option<&str>) -> Result<String, Error> {
        let mut environment = Environment::new();
        environment.add_filter("aligned", aligned);
        environment.add_filter("csv", csv);
        environment.add_filter("markdown", markdown);
        environment.add_template("page.html", include_str!("forms/page.html"))?;
        environment.add_template("table.csv", include_str!("forms/table.csv"))?;
        environment.add_template("table.txt", include_str!("forms/table.txt"))?;

        environment.get_template(form)?.render(context! {
            table => Serde(self),
            columns => COLUMNS.map(|(name, _)| name),
            rows => self.rows(),
            tags => Serde(self.tags()),
            judge => self.judge.map(|judge| judge.to_string()),
            pages,
        })
    }

    /// Returns what says something as text, with a column for each arm.
    fn rows(&self) -> Vec<Vec<String>> {
        let row = |name: &str, cell: &dyn Fn(&ArmResult) -> String| {
            let mut row = vec![name.to_owned()];
            row.extend(self.arms.iter().map(cell));
            row
        };

        let mut rows = vec![row("", &|arm| arm.name.clone())];
        let shown = columns::shown(&self.arms);
        rows.extend(shown.map(|(name, write)| row(name, &|arm| arm.text(name, write))));
        rows.extend(self.tags().into_iter().map(|tag| {
            let share = |arm: &ArmResult| Some(arm.by_tag.get(tag)?.to_string());
            row(tag, &|arm| share(arm).unwrap_or_default())
        }));
        rows
    }

    /// Returns all tags and difficulties with runs.
    fn tags(&self) -> BTreeSet<&String> {
        self.arms.iter().flat_map(|arm| arm.by_tag.keys()).collect()
    }
}

/// Writes rows in Markdown, with columns of equal width.
fn aligned(rows: Vec<Vec<String>>) -> String {
    // Markdown needs no equal widths, but people who read it in a terminal do.
    let mut widths = Vec::new();
    for row in &rows {
        widths.resize(row.len(), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = markdown(cell).chars().count().max(*width);
        }
    }

    let mut lines = Vec::new();
    for row in &rows {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| format!("| {:width$} ", markdown(cell)));
        lines.push(cells.collect::<String>() + "|");
    }
    let rule = widths.iter().map(|width| format!("|-{:-<width$}-", ""));
    lines.insert(1, rule.collect::<String>() + "|");
    lines.join("\n")
}

/// Escapes what would be markup.
fn markdown(text: &str) -> String {
    // A tag may have line breaks or control characters, which would leave the cell.
    let text = text.replace('|', "\\|").replace('<', "&lt;");
    OneLine::new(text).to_string()
}

/// Writes a text as a cell, in quotes if it has separators, and so that it is no formula.
fn csv(text: &str) -> String {
    // Spreadsheets run what begins like this, and a suite may come from somebody else.
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}
