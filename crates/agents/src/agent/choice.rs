//! The choice of an edge by the model: a line at the end of its reply.

use cogwork_flow::Action;

/// The actions to choose from; none for an agent that does not choose.
///
/// The model writes a line, because any model of any server can do that after a text of any form;
/// not all of them support schemas or tools.
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

    /// Returns the instructions to the model, if there is anything to choose.
    pub(super) fn instructions(&self) -> Option<String> {
        self.is_open().then(|| {
            format!(
                "End your reply with a line that names the action to take next: `ACTION: <label>`.\nThe label is one of: {}.",
                self.labels()
            )
        })
    }

    /// Returns the complaint to a model that named no action.
    pub(super) fn complaint(&self) -> String {
        format!(
            "Your reply does not end with a line `ACTION: <label>`. Answer with this line alone. The label is one of: {}.",
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

    /// Returns the action for a model that names none.
    pub(super) fn fallback(&self) -> Option<Action> {
        self.0
            .iter()
            .find(|action| **action == Action::DEFAULT)
            .cloned()
    }

    /// Returns the reply without its last line, and the action that this line names. The line may
    /// be the last one inside a fence that ends the reply.
    pub(super) fn read(&self, reply: &str) -> Option<(String, Action)> {
        let reply = reply.trim_end();
        let fenced = reply
            .strip_suffix(FENCE)
            .filter(|inside| inside.ends_with('\n'));

        let body = fenced.unwrap_or(reply).trim_end();
        let (before, line) = body.rsplit_once('\n').unwrap_or(("", body));
        let action = self.named_by(line)?;

        let before = before.trim_end();
        let text = match fenced {
            Some(_) => closed(before),
            None => before.to_owned(),
        };
        Some((text, action))
    }

    fn named_by(&self, line: &str) -> Option<Action> {
        let line = line.trim_matches(is_mark);
        let (word, rest) = line.split_at_checked("action".len())?;
        let label = rest
            .trim_start_matches(['*', '_', '`', ' '])
            .strip_prefix(':')?
            .trim_matches(is_mark);

        if !word.eq_ignore_ascii_case("action") {
            return None;
        }

        // Labels may differ in case alone; then the spelling decides.
        let exact = self.0.iter().find(|action| action.as_str() == label);
        let action = exact.or_else(|| {
            let label = label.to_lowercase();
            let is_same =
                |action: &&Action| action.as_str().trim_matches(is_mark).to_lowercase() == label;
            self.0.iter().find(is_same)
        });
        action.cloned()
    }
}

const FENCE: &str = "```";

fn is_mark(character: char) -> bool {
    character.is_whitespace() || "*_`\"'<>[]().,:".contains(character)
}

/// Closes the fence that is open at the end of a text, or removes it if nothing is inside.
fn closed(text: &str) -> String {
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));

    if last.trim_start().starts_with(FENCE) {
        return before.trim_end().to_owned();
    }
    format!("{text}\n{FENCE}")
}
