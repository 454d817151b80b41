use std::{fmt, iter};

use serde::{Deserialize, Serialize};

use crate::Suite;
use crate::result::{ArmResult, Difference, RunResult, Share};

/// The results of an evaluation.
///
/// `{}` writes it as text, which is also Markdown; [`csv`](Self::csv) and serde write it in other forms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Table {
    /// The name of the suite.
    pub suite: String,
    /// The number of problems.
    pub problems: usize,
    /// How often each arm was to try each problem.
    pub repetitions: u32,
    /// The number of runs that were not made, because a limit was reached or the evaluation was
    /// stopped.
    pub not_run: usize,
    /// How often the judge agrees with its labels.
    pub judge: Option<Share>,
    /// The arms, in the order of the suite.
    pub arms: Vec<ArmResult>,
}

/// A column: its name, and its text for an arm.
type Column = (&'static str, fn(&ArmResult) -> String);

const COLUMNS: [Column; 16] = [
    ("arm", |arm| arm.name.clone()),
    ("accuracy", |arm| percent(arm.accuracy)),
    ("95 %", |arm| range(arm.interval)),
    ("difference", |arm| {
        arm.difference.map_or_else(String::new, |difference| {
            let points = difference.accuracy * 100.0;
            format!("{points:+.1} ({})", range(difference.interval))
        })
    }),
    ("p", |arm| {
        let p = arm.difference.map(|difference| difference.p);
        p.map_or_else(String::new, |p| format!("{p:.3}"))
    }),
    ("any of k", |arm| {
        let most = arm.pass_at.last_key_value().filter(|(k, _)| **k > 1);
        most.map_or_else(String::new, |(k, chance)| {
            format!("{k}: {}", percent(*chance))
        })
    }),
    ("majority", |arm| match arm.pass_at.len() {
        0 | 1 => String::new(),
        _ => percent(arm.majority),
    }),
    ("failed", |arm| arm.failures().to_string()),
    ("calls", |arm| format!("{:.1}", arm.cost.calls)),
    ("tokens in", |arm| format!("{:.0}", arm.cost.prompt_tokens)),
    ("cached", |arm| format!("{:.0}", arm.cost.cached_tokens)),
    ("tokens out", |arm| {
        format!("{:.0}", arm.cost.completion_tokens)
    }),
    ("seconds", |arm| format!("{:.1}", arm.cost.seconds)),
    ("cost", |arm| format!("${:.4}", arm.cost.money)),
    ("repairs", |arm| format!("{:.1}", arm.cost.repairs)),
    ("asked again", |arm| format!("{:.1}", arm.cost.asked_again)),
];

/// The columns that are always shown. The others only if they say something.
const ALWAYS: usize = 3;

fn percent(rate: f64) -> String {
    format!("{:.1} %", rate * 100.0)
}

fn range([low, high]: [f64; 2]) -> String {
    format!("{:.1} to {:.1}", low * 100.0, high * 100.0)
}

impl Table {
    /// Creates a table of results by arm.
    pub(crate) fn of(
        suite: &Suite,
        by_arm: Vec<Vec<RunResult>>,
        runs: usize,
        judge: Option<Share>,
    ) -> Self {
        let made: usize = by_arm.iter().map(Vec::len).sum();
        let arms = suite.arms.iter().zip(by_arm);
        let arms = arms.map(|(arm, runs)| ArmResult::of(&arm.name, runs, &suite.problems));
        let mut table = Self {
            suite: suite.name.clone(),
            problems: suite.problems.len(),
            repetitions: suite.repetitions,
            not_run: runs.saturating_sub(made),
            judge,
            arms: arms.collect(),
        };

        let baseline = suite.baseline.as_deref().and_then(|name| table.arm(name));
        if let Some(baseline) = baseline.cloned() {
            let others = table
                .arms
                .iter_mut()
                .filter(|arm| arm.name != baseline.name);
            others.for_each(|arm| arm.difference = Some(Difference::of(arm, &baseline)));
        }
        table
    }

    /// Returns the arm with this name.
    pub fn arm(&self, name: &str) -> Option<&ArmResult> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    /// Writes the table as CSV, with a column for each tag and difficulty. A text that a spreadsheet
    /// would take for a formula begins with `'`.
    pub fn csv(&self) -> String {
        let mut rows = self.rows();
        for (label, shares) in self.parts() {
            let cells = shares.iter().map(|share| percent(share.accuracy));
            let cells = iter::once(label).chain(cells);
            rows.iter_mut()
                .zip(cells)
                .for_each(|(row, cell)| row.push(cell));
        }

        let rows = rows.into_iter().map(|cells| {
            let cells: Vec<_> = cells.iter().map(|cell| csv_cell(cell)).collect();
            cells.join(",") + "\n"
        });
        rows.collect()
    }

    /// Returns the cells of all columns, with their names first.
    fn rows(&self) -> Vec<Vec<String>> {
        let head = COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let rows = self.arms.iter().map(|arm| {
            let cells = COLUMNS.iter().map(|(_, text)| text(arm));
            cells.collect()
        });
        iter::once(head).chain(rows).collect()
    }

    /// Returns the cells of the columns that say something.
    pub(crate) fn shown_rows(&self) -> Vec<Vec<String>> {
        let rows = self.rows();
        let says_something = |column: usize| {
            let mut cells = rows.iter().skip(1).filter_map(|row| row.get(column));
            cells.any(|cell| cell.contains(|character: char| ('1'..='9').contains(&character)))
        };
        let shown: Vec<_> = (0..COLUMNS.len())
            .map(|column| column < ALWAYS || says_something(column))
            .collect();

        let rows = rows.into_iter().map(|row| {
            let cells = row.into_iter().zip(&shown);
            cells
                .filter_map(|(cell, shown)| shown.then_some(cell))
                .collect()
        });
        rows.collect()
    }

    /// Returns the accuracy of all arms by tag and difficulty, with the names of the arms first.
    fn rows_by_tag(&self) -> Vec<Vec<String>> {
        let names = self.arms.iter().map(|arm| arm.name.clone());
        let head = iter::once("accuracy by".to_owned()).chain(names);
        let rows = self.parts().into_iter().map(|(label, shares)| {
            let problems = shares.first().map_or(0, |share| share.problems);
            let cells = shares
                .iter()
                .map(|share| format!("{} ({})", percent(share.accuracy), range(share.interval)));
            iter::once(format!("{label} ({problems})"))
                .chain(cells)
                .collect()
        });
        iter::once(head.collect()).chain(rows).collect()
    }

    /// Returns the results by tag and by difficulty, each with those of all arms.
    pub(crate) fn parts(&self) -> Vec<(String, Vec<Share>)> {
        let Some(first) = self.arms.first() else {
            return Vec::new();
        };
        let parts = first.by_tag.keys().map(|tag| {
            let shares = self.arms.iter().filter_map(|arm| arm.by_tag.get(tag));
            (tag.clone(), shares.copied().collect())
        });
        parts.collect()
    }

    /// Returns what else is to be said: why runs failed, how many were not made, and how good the judge
    /// is.
    pub(crate) fn notes(&self) -> Vec<String> {
        let failed = self.arms.iter().flat_map(|arm| {
            let failed = arm.failed.iter();
            failed.map(|(reason, count)| format!("{}: {count} failed: {reason}", arm.name))
        });
        let mut notes: Vec<_> = failed.collect();

        if self.not_run > 0 {
            notes.push(format!("{} runs were not made.", self.not_run));
        }
        if let Some(judge) = &self.judge {
            let (rate, range) = (percent(judge.accuracy), range(judge.interval));
            let labels = judge.problems;
            notes.push(format!(
                "The judge agrees with {rate} ({range}) of {labels} labels."
            ));
        }
        notes
    }
}

fn csv_cell(cell: &str) -> String {
    // A number may begin with a sign.
    let is_number = cell.trim_end_matches([' ', '%']).parse::<f64>().is_ok();
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    let guard = if is_formula { "'" } else { "" };

    let cell = format!("{guard}{cell}");
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (suite, repetitions) = (markdown(&self.suite), self.repetitions);
        writeln!(
            f,
            "{suite}: {} problems, {repetitions} × each\n",
            self.problems
        )?;
        write_rows(f, self.shown_rows())?;

        let by_tag = self.rows_by_tag();
        if by_tag.len() > 1 {
            writeln!(f)?;
            write_rows(f, by_tag)?;
        }
        let notes = self.notes();
        notes
            .iter()
            .try_for_each(|note| writeln!(f, "\n{}", markdown(note)))
    }
}

/// Writes rows in Markdown, with columns of equal width.
fn write_rows(f: &mut fmt::Formatter<'_>, rows: Vec<Vec<String>>) -> fmt::Result {
    let mut widths = Vec::new();
    for row in &rows {
        widths.resize(row.len(), 3);
        let lengths = row.iter().map(|cell| markdown(cell).chars().count());
        widths
            .iter_mut()
            .zip(lengths)
            .for_each(|(width, length)| *width = length.max(*width));
    }

    for (index, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            write!(f, "| {:width$} ", markdown(cell))?;
        }
        writeln!(f, "|")?;
        if index == 0 {
            widths
                .iter()
                .try_for_each(|width| write!(f, "|-{:-<width$}-", ""))?;
            writeln!(f, "|")?;
        }
    }
    Ok(())
}

/// Escapes what would be markup.
fn markdown(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
