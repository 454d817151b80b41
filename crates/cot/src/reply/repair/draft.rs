//! A recognized but not yet validated reply.

use cogwork_plan::{Plan, Status, Step};

use super::text::in_quotes;
use super::words;
use crate::reply::Partial;
use crate::reply::keys::Key;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The column of the value, for errors about it.
    pub(super) value_column: usize,
    /// The text; `None` for `null`.
    pub(super) text: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) thinking: Option<Field>,
    /// The line of the key, and the steps.
    pub(super) planning: Option<(usize, Vec<DraftStep>)>,
    pub(super) needed: Option<Field>,
    pub(super) unknown: Vec<(String, Field)>,
}

/// A recognized step. Steps with the same content are equal, even if their places differ.
#[derive(Debug, Clone, Default)]
pub(super) struct DraftStep {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) description: Option<Field>,
    pub(super) status: Option<Field>,
    pub(super) result: Option<Field>,
    pub(super) mark: Option<Field>,
    /// The line of the key `sub_steps`, if it was given.
    pub(super) sub_steps_line: Option<usize>,
    pub(super) sub_steps: Vec<DraftStep>,
    pub(super) unknown: Vec<(String, Field)>,
}

impl DraftStep {
    pub(super) fn field(&mut self, key: Key) -> Option<&mut Option<Field>> {
        match key {
            Key::Description => Some(&mut self.description),
            Key::Status => Some(&mut self.status),
            Key::Result => Some(&mut self.result),
            Key::Mark => Some(&mut self.mark),
            _ => None,
        }
    }

    fn texts(&self) -> [Option<&str>; 4] {
        [&self.description, &self.status, &self.result, &self.mark]
            .map(|field| field.as_ref().and_then(|field| field.text.as_deref()))
    }

    /// Returns whether two steps without sub-steps have the same content.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let alone = |step: &Self| step.sub_steps.is_empty() && step.unknown.is_empty();
        alone(self) && alone(other) && self.texts() == other.texts()
    }

    /// Returns whether all texts of the step are empty, except for the status.
    pub(super) fn is_empty(&self) -> bool {
        let [description, _, result, mark] = self.texts();
        let said = |text: Option<&str>| text.is_some_and(|text| !text.trim().is_empty());
        !said(description)
            && !said(result)
            && !said(mark)
            && self.sub_steps.is_empty()
            && self.unknown.is_empty()
    }
}

/// A rewritten block that maps each line to its place in the raw text.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) text: String,
    /// The line, the column, and the column of the value.
    pub(super) places: Vec<(usize, usize, usize)>,
}

impl Written {
    fn line(&mut self, place: (usize, usize, usize), line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.places.push(place);
    }

    fn field(&mut self, indent: &str, name: &str, field: &Field) {
        let value = match (name, field.text.as_deref()) {
            (_, None) => String::new(),
            // Repairs produce these values. Anything else stays a text, which is an error.
            ("next_thought_needed", Some(text @ ("true" | "false"))) => format!(" {text}"),
            (_, Some(text)) => format!(" {}", in_quotes(text)),
        };

        let place = (field.line, field.column, field.value_column);
        self.line(place, &format!("{indent}{name}:{value}"));
    }

    fn steps(&mut self, depth: usize, steps: &[DraftStep]) {
        let dash = format!("{}- ", "  ".repeat(depth));
        let indent = "  ".repeat(depth + 1);
        for step in steps {
            let known = [
                (Key::Description, &step.description),
                (Key::Status, &step.status),
                (Key::Result, &step.result),
                (Key::Mark, &step.mark),
            ];

            let known = known
                .iter()
                .filter_map(|(key, field)| Some((key.as_str(), field.as_ref()?)));
            let unknown = step
                .unknown
                .iter()
                .map(|(name, field)| (name.as_str(), field));
            let mut before = dash.as_str();

            for (name, field) in known.chain(unknown) {
                self.field(before, name, field);
                before = &indent;
            }

            let sub_steps = if step.sub_steps.is_empty() {
                None
            } else {
                Some("sub_steps:")
            };

            if before == dash.as_str() || sub_steps.is_some() {
                self.line(
                    (step.line, step.column, step.column),
                    &format!("{before}{}", sub_steps.unwrap_or("{}")),
                );
            }

            self.steps(depth + 1, &step.sub_steps);
        }
    }
}

impl Draft {
    /// Writes the draft as plain YAML.
    pub(super) fn write(&self) -> Written {
        let mut out = Written::default();
        let thinking = self
            .thinking
            .iter()
            .map(|field| (Key::Thinking.as_str(), field));
        for (name, field) in thinking.chain(
            self.unknown
                .iter()
                .map(|(name, field)| (name.as_str(), field)),
        ) {
            out.field("", name, field);
        }

        if let Some((line, steps)) = &self.planning {
            let empty = if steps.is_empty() { " []" } else { "" };
            out.line((*line, 1, 1), &format!("planning:{empty}"));
            out.steps(0, steps);
        }

        if let Some(field) = &self.needed {
            out.field("", Key::Needed.as_str(), field);
        }

        out
    }

    /// Returns the readable parts of the draft.
    pub(super) fn partial(&self) -> Partial {
        let text = |field: &Option<Field>| field.as_ref().and_then(|field| field.text.clone());
        let steps = self
            .planning
            .as_ref()
            .map(|(_, steps)| steps.as_slice())
            .unwrap_or_default();

        Partial {
            current_thinking: text(&self.thinking).filter(|text| !text.trim().is_empty()),
            planning: Plan::from(whole(steps)),
            next_thought_needed: text(&self.needed).and_then(|text| words::truth(&text)),
        }
    }
}

/// Returns the steps that have all required parts. Drafts are no deeper than plans.
fn whole(steps: &[DraftStep]) -> Vec<Step> {
    let step = |step: &DraftStep| {
        let [description, status, result, mark] = step.texts();
        Some(Step {
            description: description?.to_owned(),
            status: status
                .and_then(words::status)
                .or(status.is_none().then_some(Status::Pending))?,
            result: result.map(str::to_owned),
            mark: mark.map(str::to_owned),
            sub_steps: whole(&step.sub_steps),
        })
    };
    steps.iter().filter_map(step).collect()
}
