//! Lets the model choose an edge by a line at the end of its reply.

use cogwork_flow::Action;

/// The actions that the model can choose from. It is empty for an agent without a choice.
///
/// The choice is a line of text, because any model on any server can write one after any other
/// text. Not all of them support schemas or tools.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice(pub(super) Vec<Action>);

impl Choice {
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

    /// Returns the complaint to a model that didn't name an action.
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

    /// Returns the reply without its last line, and the action that this line names. If a fence
    /// ends the reply, the line may also be the last one inside it.
    pub(super) fn read(&self, reply: &str) -> Option<(String, Action)> {
        let reply = reply.trim_end();
        // Small models put the whole reply into a fence, with the action inside.
        let fenced = reply
            .strip_suffix(FENCE)
            .filter(|inside| inside.ends_with('\n'));

        let body = fenced.unwrap_or(reply).trim_end();
        // Only the last line counts: models discuss the actions before they choose.
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
        // Models write `**Action:** accept`, `Action: "accept".` and the like.
        let (word, rest) = line.split_at_checked("action".len())?;
        let label = rest
            .trim_start_matches(['*', '_', '`', ' '])
            .strip_prefix(':')?
            .trim_matches(is_mark);

        if !word.eq_ignore_ascii_case("action") {
            return None;
        }

        // If labels differ only in case, the exact spelling is required.
        let exact = self.0.iter().find(|action| action.as_str() == label);
        let action = exact.or_else(|| {
            let label = label.to_lowercase();
            let is_same =
                |action: &&Action| action.as_str().trim_matches(is_mark).to_lowercase() == label;
            let mut same = self.0.iter().filter(is_same);
            // Of several labels that fit, none is meant for certain.
            same.next().filter(|_| same.next().is_none())
        });
        action.cloned()
    }
}

const FENCE: &str = "```";

fn is_mark(character: char) -> bool {
    character.is_whitespace() || "*_`\"'<>[]().,:".contains(character)
}

/// Closes a fence that is still open at the end of a text, or removes it if it is empty.
fn closed(text: &str) -> String {
    // Without the line of the action, nothing may be left inside the fence.
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));

    if last.trim_start().starts_with(FENCE) {
        return before.trim_end().to_owned();
    }
    format!("{text}\n{FENCE}")
}
