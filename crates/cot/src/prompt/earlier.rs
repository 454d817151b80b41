//! Earlier thoughts as messages.

use cogwork_llm::{Message, Messages};

/// The messages of an earlier thought. They do not depend on the form.
#[derive(Debug, Clone)]
pub(super) struct EarlierThought {
    /// The text before the thought. The first thought of a request has none.
    pub(super) lead: String,
    /// The thought in the model's own words.
    pub(super) words: Message,
    /// What tools returned in the thought. It precedes the text after the thought; empty if no tool
    /// was called.
    pub(super) results: String,
    /// The number of bytes of the thinking and the results.
    pub(super) bytes: usize,
}

impl EarlierThought {
    /// Returns the message after this thought.
    pub(super) fn followed_by(&self, text: &str) -> Message {
        Message::user(after_results(&self.results, text))
    }
}

/// Returns a text after what tools returned, if they returned anything.
pub(super) fn after_results(results: &str, text: &str) -> String {
    if results.is_empty() {
        return text.to_owned();
    }

    format!("{}\n\n{text}", results.trim_end())
}

/// Appends the thoughts from index `from` to a conversation. No message precedes the thought with
/// index `first`.
pub(super) fn push_thoughts(
    messages: &mut Messages,
    thoughts: &[EarlierThought],
    first: usize,
    from: usize,
) {
    let mut previous = from.checked_sub(1).and_then(|before| thoughts.get(before));

    for (index, thought) in thoughts.iter().enumerate().skip(from) {
        if let Some(previous) = previous.filter(|_| index > first) {
            messages.push(previous.followed_by(&thought.lead));
        }

        messages.push(thought.words.clone());
        previous = Some(thought);
    }
}
