//! Thoughts that have been made, as messages.

use cogwork_llm::{Message, Messages};

/// The messages of an earlier thought. They are the same in every form.
#[derive(Debug, Clone)]
pub(super) struct EarlierThought {
    /// What leads to the thought. The first thought of a request goes without.
    pub(super) lead: Message,
    /// The thought in the model's own words.
    pub(super) words: Message,
}

/// Appends thoughts to a conversation. Nothing leads to the first thought of a conversation.
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
