//! Earlier thoughts as messages.

use cogwork_llm::{Message, Messages};

/// The messages of an earlier thought. They do not depend on the form.
#[derive(Debug, Clone)]
pub(super) struct EarlierThought {
    /// The message before the thought. The first thought of a request has none.
    pub(super) lead: Message,
    /// The thought in the model's own words.
    pub(super) words: Message,
}

/// Appends thoughts to a conversation. No message precedes the first one.
pub(super) fn push_thoughts<'t>(
    messages: &mut Messages,
    thoughts: impl Iterator<Item = &'t EarlierThought>,
    starts: bool,
) {
    for (index, thought) in thoughts.enumerate() {
        let is_first = starts && index == 0;

        if !is_first {
            messages.push(thought.lead.clone());
        }

        messages.push(thought.words.clone());
    }
}
