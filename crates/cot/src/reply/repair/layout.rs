//! Turns entries into a draft: assigns keys to steps, and steps to lists. As in YAML, this depends
//! on the columns. If they are ambiguous, a key is assigned to the nearest step that lacks it.

use cogwork_plan::MAX_DEPTH;
use cogwork_typed::ask::RepairKind;

use super::draft::{Draft, DraftStep, Field};
use super::repairs::{Report, excerpt};
use super::scan::{Entry, Name};
use super::text::Value;
use super::words;
use crate::reply::keys::Key;

/// A list of steps that is being read. The last step may still get more keys.
struct Level {
    /// The columns of the first dash, of the last one, and of the keys of the last step.
    first: usize,
    dash: usize,
    keys: Option<usize>,
    /// Whether the last step is a bare text, so that anything deeper belongs to it.
    bare: bool,
    steps: Vec<DraftStep>,
}

struct Layout<'r> {
    draft: Draft,
    levels: Vec<Level>,
    /// The level whose last step has just received its key `sub_steps`.
    opened: Option<usize>,
    /// The column at which keys belong to the innermost step, although it is the column of that
    /// step's dash. Set by the first key that is assigned this way.
    beside: Option<usize>,
    report: &'r mut Report,
}

/// Builds a draft from the entries. Returns `None` if its steps are nested too deeply.
pub(super) fn lay_out(entries: &[Entry<'_>], report: &mut Report) -> Option<Draft> {
    let mut layout = Layout {
        draft: Draft::default(),
        levels: Vec::new(),
        opened: None,
        beside: None,
        report,
    };

    for entry in entries {
        layout.add(entry)?;
    }

    layout.close_plan();
    Some(layout.draft)
}

impl Layout<'_> {
    fn add(&mut self, entry: &Entry<'_>) -> Option<()> {
        let value = &entry.value;
        let opened = self.opened.take();
        match &entry.name {
            Name::Key(Key::Thinking) => {
                let text = value.text(Key::Thinking.as_str(), self.report);
                let field = field(value, text);
                set(
                    &mut self.draft.thinking,
                    field,
                    Key::Thinking.as_str(),
                    self.report,
                );
            }
            Name::Key(Key::Needed) => {
                let text = Some(value.one_line()).filter(|text| !text.is_empty());
                set(
                    &mut self.draft.needed,
                    field(value, text),
                    Key::Needed.as_str(),
                    self.report,
                );
            }
            Name::Key(Key::Planning) => self.planning(value),
            Name::Key(key) => self.key(*key, entry, opened)?,
            Name::Bare => {
                // A step that consists only of text has no dash if the plan is not a list.
                let dash = entry.dash.unwrap_or(value.column);
                self.step(dash, value, opened)?;
                self.text(value);
            }
            Name::Unknown(name) => {
                let unknown = (name.clone(), field(value, Some(value.one_line())));
                match self
                    .owner(value.column)
                    .and_then(|level| self.levels.get_mut(level)?.steps.last_mut())
                {
                    Some(step) if value.column > 0 || entry.dash.is_some() => {
                        step.unknown.push(unknown)
                    }
                    _ => self.draft.unknown.push(unknown),
                }
            }
        }

        Some(())
    }

    /// Handles the key `planning`, which is followed by steps, or by a text on the same line.
    fn planning(&mut self, value: &Value<'_>) {
        self.close_plan();
        let mut steps = Vec::new();
        if let Some(text) = self.list_as_text(value, Key::Planning) {
            steps = text;
        }

        let older = self.draft.planning.take();
        if let Some((line, _)) = &older {
            let what = format!("used the last `planning` and left out the one of line {line}");
            self.report.add(RepairKind::DuplicateKey, value.line, what);
        }

        self.draft.planning = Some((value.line, steps));
    }

    /// Returns the steps of a list that is given as a text, one per line.
    fn list_as_text(&mut self, value: &Value<'_>, key: Key) -> Option<Vec<DraftStep>> {
        let head = value.head.as_str();
        if head.is_empty() || head.starts_with('#') {
            return None;
        }

        let mut ignored = Report::default();
        let text = value.text(key.as_str(), &mut ignored).unwrap_or_default();
        if words::is_nothing(&text) {
            // `[]` for an empty list is not reported; other words for it are.
            if key == Key::SubSteps && !matches!(head, "[]" | "~" | "null" | "Null" | "NULL") {
                let what = format!("read `{}` behind `sub_steps` as none", excerpt(head));
                self.report.add(RepairKind::Form, value.line, what);
            }
            return None;
        }

        self.report.add(
            RepairKind::Form,
            value.line,
            format!("read the text behind `{}` as steps", key.as_str()),
        );

        let lines = text
            .lines()
            .map(|line| unnumbered(line.trim()))
            .filter(|line| !line.is_empty());
        let step = |line: &str| DraftStep {
            line: value.line,
            column: value.column + 1,
            description: Some(field(value, Some(line.to_owned()))),
            ..DraftStep::default()
        };

        Some(lines.map(step).collect())
    }

    fn key(&mut self, key: Key, entry: &Entry<'_>, opened: Option<usize>) -> Option<()> {
        let value = &entry.value;
        let mut level = match entry.dash {
            Some(dash) => {
                self.step(dash, value, opened)?;
                self.levels.len().saturating_sub(1)
            }
            None if self.is_beneath(opened, value.column) => {
                self.report
                    .add(RepairKind::Form, value.line, "read the mapping as a step");
                self.step(value.column.saturating_sub(1), value, opened)?;
                self.levels.len().saturating_sub(1)
            }
            None => match self.owner(value.column) {
                Some(level) => level,
                // The plan is a single mapping, whose keys are those of a step.
                None => {
                    self.begin_without_dash(value)?;
                    0
                }
            },
        };

        if entry.dash.is_none() {
            level = self.nearest_without(key, level, value.column);
            if key == Key::Description && self.says_otherwise(level, &value.head) {
                self.close_to(level);
                self.report.add(
                    RepairKind::Form,
                    value.line,
                    "began a step where `description` came again",
                );

                let list = self.levels.last_mut()?;
                list.steps.push(DraftStep {
                    line: value.line,
                    column: value.column + 1,
                    ..DraftStep::default()
                });
            }
        }

        self.close_to(level);
        self.check_column(level, value);
        if key == Key::SubSteps {
            self.opened = Some(level);
            let before = self
                .last(level)
                .and_then(|step| step.sub_steps_line.replace(value.line));
            if let Some(before) = before {
                let what = format!("joined the steps with those of `sub_steps` in line {before}");
                self.report.add(RepairKind::DuplicateKey, value.line, what);
            }

            if let Some(steps) = self.list_as_text(value, key)
                && let Some(step) = self.last(level)
            {
                step.sub_steps.extend(steps);
            }

            return Some(());
        }

        let text = match key {
            Key::Status => Some(value.one_line()).filter(|text| !text.is_empty()),
            _ => value.text(key.as_str(), self.report),
        };
        let list = self.levels.get_mut(level)?;
        list.bare = false;

        if let Some(slot) = list.steps.last_mut()?.field(key) {
            set(slot, field(value, text), key.as_str(), self.report);
        }

        Some(())
    }

    /// Returns whether a column is deeper than the keys of the step that has just received
    /// `sub_steps`.
    fn is_beneath(&self, opened: Option<usize>, column: usize) -> bool {
        let level = opened.and_then(|level| self.levels.get(level));
        level
            .and_then(|level| level.keys)
            .is_some_and(|keys| column > keys)
    }

    /// Reports a key whose column differs from that of the other keys of its step.
    fn check_column(&mut self, level: usize, value: &Value<'_>) {
        let Some(list) = self.levels.get_mut(level) else {
            return;
        };

        match list.keys {
            Some(column) if column != value.column => {
                self.report.add(
                    RepairKind::Indentation,
                    value.line,
                    "moved a key to the column of its step",
                );
            }
            Some(_) => {}
            None => list.keys = Some(value.column),
        }
    }

    /// Returns the innermost level whose last step can own a key at this column.
    fn owner(&self, column: usize) -> Option<usize> {
        let exact = self
            .levels
            .iter()
            .rposition(|level| level.keys == Some(column) && level.dash <= column);
        let inside = self.levels.iter().rposition(|level| level.dash < column);
        let beside = self.levels.iter().rposition(|level| level.dash == column);

        exact
            .max(inside)
            .or(beside)
            .or(self.levels.len().checked_sub(1))
    }

    /// Returns `level`, unless the step there already has the key and the innermost step, whose
    /// dash is at the same column, lacks it. In that case, returns the innermost level.
    fn nearest_without(&mut self, key: Key, level: usize, column: usize) -> usize {
        let innermost = self.levels.len().saturating_sub(1);
        let has = |step: Option<&mut DraftStep>| {
            step.and_then(|step| step.field(key).map(|field| field.is_some()))
                .unwrap_or(true)
        };
        let beside = self
            .levels
            .get(innermost)
            .is_some_and(|level| level.dash == column);
        let began = self.beside == Some(column);

        if level != innermost
            && beside
            && (began || has(self.last(level)))
            && !has(self.last(innermost))
        {
            self.beside = Some(column);
            innermost
        } else {
            level
        }
    }

    /// Returns whether the description of the last step of a level differs from this one.
    fn says_otherwise(&self, level: usize, description: &str) -> bool {
        let step = self.levels.get(level).and_then(|level| level.steps.last());
        let known = step.and_then(|step| step.description.as_ref());

        known.is_some_and(|known| known.text.as_deref() != Some(description))
    }

    fn last(&mut self, level: usize) -> Option<&mut DraftStep> {
        self.levels.get_mut(level)?.steps.last_mut()
    }

    /// Starts a step at the column of its dash.
    fn step(&mut self, dash: usize, value: &Value<'_>, opened: Option<usize>) -> Option<()> {
        let inner = self.levels.last();
        let child = match (opened, inner) {
            (_, None) => true,
            (Some(level), _) => {
                self.close_to(level);
                self.levels
                    .get(level)
                    .is_some_and(|level| dash > level.dash)
            }
            (None, Some(level)) => level.bare && dash > level.dash,
        };

        if child {
            if self.levels.len() >= MAX_DEPTH {
                return None;
            }
            self.levels.push(Level {
                first: dash,
                dash,
                keys: None,
                bare: false,
                steps: Vec::new(),
            });
        } else {
            let nearest = self.levels.iter().rposition(|level| level.dash <= dash);
            let last = self.levels.len().saturating_sub(1);
            let exact = self.levels.iter().rposition(|level| level.dash == dash);
            let begun = self.levels.iter().rposition(|level| level.first == dash);
            let level = exact
                .or(begun)
                .unwrap_or(nearest.map_or(0, |level| (level + 1).min(last)));

            self.close_to(level);
            let list = self.levels.last_mut()?;
            if list.dash != dash {
                let what = "moved a step to the column of its list";
                self.report.add(RepairKind::Indentation, value.line, what);
                list.dash = dash;
            }
        }

        let list = self.levels.last_mut()?;
        (list.keys, list.bare, self.beside) = (None, false, None);
        list.steps.push(DraftStep {
            line: value.line,
            column: dash + 1,
            ..DraftStep::default()
        });

        Some(())
    }

    fn begin_without_dash(&mut self, value: &Value<'_>) -> Option<()> {
        self.draft.planning.as_ref()?;
        self.report
            .add(RepairKind::Form, value.line, "read the mapping as a step");
        let dash = value.column.saturating_sub(1);
        let first = DraftStep {
            line: value.line,
            column: value.column + 1,
            ..DraftStep::default()
        };

        self.levels.push(Level {
            first: dash,
            dash,
            keys: None,
            bare: false,
            steps: vec![first],
        });

        Some(())
    }

    /// Sets the text of a bare step.
    fn text(&mut self, value: &Value<'_>) {
        let Some(list) = self.levels.last_mut() else {
            return;
        };

        list.bare = true;
        let Some(step) = list.steps.last_mut() else {
            return;
        };

        let mut ignored = Report::default();
        if let Some(text) = value.text(Key::Description.as_str(), &mut ignored) {
            super::steps::read_bare(step, value, &text, self.report);
        }
    }

    /// Moves the lists that are deeper than a level into the steps that contain them.
    fn close_to(&mut self, level: usize) {
        while self.levels.len() > level + 1 {
            let Some(inner) = self.levels.pop() else {
                return;
            };

            if let Some(step) = self
                .levels
                .last_mut()
                .and_then(|outer| outer.steps.last_mut())
            {
                step.sub_steps.extend(inner.steps);
            }
        }
    }

    fn close_plan(&mut self) {
        self.close_to(0);
        if let (Some(list), Some((_, steps))) = (self.levels.pop(), &mut self.draft.planning) {
            steps.extend(list.steps);
        }

        self.opened = None;
    }
}

fn field(value: &Value<'_>, text: Option<String>) -> Field {
    Field {
        line: value.line,
        column: value.column + 1,
        value_column: value.value_column,
        text,
    }
}

/// Sets a value. Of two values, the last one that isn't empty is used.
fn set(slot: &mut Option<Field>, field: Field, name: &str, report: &mut Report) {
    if let Some(before) = slot {
        let what = format!(
            "used the last `{name}` and left out the one of line {}",
            before.line
        );
        report.add(RepairKind::DuplicateKey, field.line, what);
        if field.text.is_none() {
            return;
        }
    }

    *slot = Some(field);
}

/// Returns a line without its leading number or bullet.
fn unnumbered(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', '•']).trim_start();
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match behind.strip_prefix(['.', ')']) {
        Some(rest) if behind.len() < line.len() && rest.starts_with(' ') => rest.trim_start(),
        _ => line,
    }
}
