//! The actions of a node from which a model, a person or a text chooses.

use cogwork_flow::Action;

/// The actions to choose from. It is empty for a node without a choice.
///
/// A model chooses by a line of text, because any model on any server can write one after any other
/// text. Not all of them support schemas or tools.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice(pub(crate) Vec<Action>);

impl Choice {
    /// Returns the actions of the node, which is the default action if there is no choice.
    pub(crate) fn actions(&self) -> Vec<Action> {
        if self.0.is_empty() {
            vec![Action::DEFAULT]
        } else {
            self.0.clone()
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the instructions to the model, if there is anything to choose.
    pub(crate) fn instructions(&self) -> Option<String> {
        self.is_open().then(|| {
            format!(
                "End your reply with a line that names the action to take next: `ACTION: <label>`.\nThe label is one of: {}.",
                self.labels()
            )
        })
    }

    /// Returns the complaint to a model that didn't name an action.
    pub(crate) fn complaint(&self) -> String {
        format!(
            "Your reply does not end with a line `ACTION: <label>`. Answer with this line alone. The label is one of: {}.",
            self.labels()
        )
    }

    pub(crate) fn labels(&self) -> String {
        self.0
            .iter()
            .map(Action::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns the reply without its last line, and the action that this line names. If a fence
    /// ends the reply, the line may also be the last one inside it.
    pub(crate) fn read(&self, reply: &str) -> Option<(String, Action)> {
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
        // Models write `**Action:** accept`, `Action: "accept".` and the like.
        let line = line.trim_matches(is_mark);
        let (word, rest) = line.split_at_checked("action".len())?;
        let label = rest
            .trim_start_matches(['*', '_', '`', ' '])
            .strip_prefix(':')?;

        let is_choice = word.eq_ignore_ascii_case("action");
        self.named(label).filter(|_| is_choice).cloned()
    }

    /// Returns the action that a text names. If labels differ only in case, the exact spelling is
    /// required.
    pub(crate) fn named(&self, text: &str) -> Option<&Action> {
        let bare = text.trim_matches(is_mark);
        let spellings = [text.trim(), bare];
        let exact = self.0.iter();
        let mut exact = exact.filter(|action| spellings.contains(&action.as_str()));

        exact.next().or_else(|| {
            // People and models write `Yes` for `yes`. Of several labels that fit, none is meant for
            // certain.
            let bare = bare.to_lowercase();
            let label = |action: &Action| action.as_str().trim_matches(is_mark).to_lowercase();
            let is_same = |action: &&Action| !bare.is_empty() && label(action) == bare;
            let mut same = self.0.iter().filter(is_same);
            same.next().filter(|_| same.next().is_none())
        })
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
