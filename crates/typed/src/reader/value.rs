//! Reads one value: fits it to the shape, and lets the type have the last word.

use cogwork_text::Name;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::meant::is_answer_key;
use super::{AnswerReader, ReadAnswer};
use crate::ask::{Repair, RepairKind};
use crate::fit::{Fitted, Fitter, UNKNOWN_KEY};
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::shape::ANSWER;
use crate::syntax::{MAX_REPAIRS, Notes, Parsed};
use crate::tree::Tree;

impl<T: JsonSchema + DeserializeOwned> AnswerReader<T> {
    pub(super) fn fit(&self, tree: &Tree) -> Fitted {
        self.fitter(tree).fit(&self.form.root, tree)
    }

    fn fitter(&self, tree: &Tree) -> Fitter<'_> {
        Fitter::new(&self.form, tree.size())
    }

    pub(super) fn read_candidate(
        &self,
        candidate: &Parsed,
    ) -> Result<ReadAnswer<T>, AnswerProblem> {
        // YAML that was cut off between two lines is still valid.
        let needs_end = self.settings.needs_end && !candidate.is_closed;
        if candidate.notes.is_cut || needs_end {
            return Err(cut_off(candidate.tree.line));
        }

        let mut notes = candidate.notes.clone();
        let tree = &candidate.tree;
        let read = match self.wrapped(tree) {
            Some(inner) => {
                let others = tree.entries().iter().filter(|(key, _)| !is_answer_key(key));
                for (key, other) in others {
                    let what = format!("{UNKNOWN_KEY} `{}`", Name(key));
                    notes.repair(RepairKind::Key, other.line, what);
                }
                self.read_value(inner, &format!("/{ANSWER}"), &notes)
            }
            None => self.read_value(tree, "", &notes),
        };
        let Some((line, doubt)) = &notes.doubt else {
            return read;
        };
        // The model corrects both at once.
        let also = read.err().map(|problem| format!(" ({problem})"));
        let also = also.unwrap_or_default();
        let form = if candidate.is_yaml { "YAML" } else { "JSON" };
        let message = format!("{doubt}; expected valid {form}{also}");
        Err(AnswerProblem::new(Kind::Malformed, *line, message))
    }

    pub(super) fn read_value(
        &self,
        tree: &Tree,
        prefix: &str,
        notes: &Notes,
    ) -> Result<ReadAnswer<T>, AnswerProblem> {
        let mut fitted = self.fit(tree);
        let located = |problem: &AnswerProblem| {
            let pointer = format!("{prefix}{}", problem.pointer());
            problem.clone().at(pointer)
        };

        if let Some(refusal) = &fitted.refusal {
            return Err(located(refusal));
        }

        // No type may accept more.
        if self.form.is_of_keys
            && let Some(problem) = joined(fitted.mismatches.iter().map(located))
        {
            return Err(problem);
        }

        // The type may know a key by an alias, or refuse unknown keys.
        let value = self.accepted(&fitted.take_value(tree)).or_else(|problem| {
            // Fitting again is only necessary for a type that refuses unknown keys.
            let known = fitted.has_unknown.then(|| {
                let mut fitter = self.fitter(tree).without_unknown();
                fitter.fit(&self.form.root, tree).take_value(tree)
            });
            known
                .and_then(|known| self.accepted(&known).ok())
                .ok_or(problem)
        });
        let value = value.map_err(|(pointer, message)| {
            // The complaint of the shape says what is expected; that of serde names types of Rust.
            let is_there = |mismatch: &&AnswerProblem| mismatch.pointer() == pointer;
            let mismatches = &fitted.mismatches;
            let reason = mismatches.iter().find(is_there).or(mismatches.first());
            reason.map(located).unwrap_or_else(|| {
                let problem = AnswerProblem::new(Kind::Mismatch, tree.line, message);
                problem.at(format!("{prefix}{pointer}"))
            })
        })?;

        let accepted = fitted.mismatches.iter().map(|mismatch| {
            let what = format!("left this to the type: {}", mismatch.message());
            Repair::new(RepairKind::Form, mismatch.line(), what)
        });
        // The type may have taken an unknown key for one that is missing.
        let is_exact = fitted.mismatches.is_empty();
        let is_known = |repair: &Repair| is_exact || !repair.what.contains(UNKNOWN_KEY);
        let repairs = notes
            .repairs
            .iter()
            .cloned()
            .chain(fitted.repairs.into_iter().filter(is_known))
            .chain(accepted);
        Ok(ReadAnswer {
            value,
            repairs: repairs.take(MAX_REPAIRS).collect(),
        })
    }

    /// Returns the value, or the pointer to what is wrong, and what is expected there.
    fn accepted(&self, value: &Value) -> Result<T, (String, String)> {
        let value = serde_path_to_error::deserialize(value)
            .map_err(|error| (pointer(error.path()), error.inner().to_string()))?;

        if let Some(check) = &self.check {
            check(&value).map_err(|problem| (String::new(), problem))?;
        }
        Ok(value)
    }
}

/// The maximum number of mismatches that one complaint lists.
const MAX_TOLD: usize = 8;

/// Returns one problem for all of them, at the place of the first one.
fn joined(mut problems: impl Iterator<Item = AnswerProblem>) -> Option<AnswerProblem> {
    let first = problems.next()?;
    let others = problems.take(MAX_TOLD - 1);
    let message = others.fold(first.message().to_owned(), |message, other| {
        let is_at_same_place = other.line() == first.line() && other.pointer() == first.pointer();
        match is_at_same_place {
            true => format!("{message}; {}", other.message()),
            false => format!("{message}; {other}"),
        }
    });
    Some(AnswerProblem::new(first.kind(), first.line(), message).at(first.pointer()))
}

fn cut_off(line: usize) -> AnswerProblem {
    let message = "the reply ends inside the value; expected all of it";
    AnswerProblem::new(Kind::CutOff, line, message)
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;

    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
            _ => None,
        })
        .collect()
}
