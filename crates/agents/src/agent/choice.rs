//! How a model chooses the edge to leave by: a line at the end of its reply.

use cogwork_flow::Action;

/// The actions there are to choose from; none for an agent that does not choose.
///
/// A line and not a reply held to a schema, or a tool that is called: a line any model of any server can
/// write, beside a text of any form.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice(Vec<Action>);

impl Choice {
    pub(super) fn of(actions: Vec<Action>) -> Self {
        Self(actions)
    }

    pub(super) fn actions(&self) -> Vec<Action> {
        if self.0.is_empty() {
            vec![Action::DEFAULT]
        } else {
            self.0.clone()
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.0.is_empty()
    }

    /// What the model is told; nothing where there is nothing to choose.
    pub(super) fn instructions(&self) -> Option<String> {
        self.is_open().then(|| {
            format!(
                "End your reply with a line that names the action to take next: `ACTION: <label>`.\nThe label is one of: {}.",
                self.labels()
            )
        })
    }

    /// What it is told that has named none.
    pub(super) fn complaint(&self) -> String {
        format!(
            "Your reply ends with no line `ACTION: <label>`. Answer with this line alone. The label is one of: {}.",
            self.labels()
        )
    }

    pub(super) fn labels(&self) -> String {
        self.0
            .iter()
            .map(Action::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The action for a model that names none.
    pub(super) fn fallback(&self) -> Option<Action> {
        self.0
            .iter()
            .find(|action| **action == Action::DEFAULT)
            .cloned()
    }

    /// The text before the line, and the action that it names.
    pub(super) fn read(&self, reply: &str) -> Option<(String, Action)> {
        let reply = reply.trim_end();
        let (before, line) = reply.rsplit_once('\n').unwrap_or(("", reply));
        let is_mark = |c: char| c.is_whitespace() || "*_`\"'<>[]().,:".contains(c);
        let line = line.trim_matches(is_mark);
        let (word, label) = line.split_at_checked("action".len())?;

        if !word.eq_ignore_ascii_case("action")
            || !label
                .trim_start_matches(['*', '_', '`', ' '])
                .starts_with(':')
        {
            return None;
        }

        let label = label.trim_matches(is_mark);
        let same = |action: &&Action| {
            action.as_str().trim_matches(is_mark).to_lowercase() == label.to_lowercase()
        };

        // Labels may differ in case alone; then the spelling decides.
        let exact = self.0.iter().find(|action| action.as_str() == label);
        let action = exact.or_else(|| self.0.iter().find(same))?;
        Some((before.trim_end().to_owned(), action.clone()))
    }
}
