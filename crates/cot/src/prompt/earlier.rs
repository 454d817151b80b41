//! Earlier thoughts as messages.

use cogwork_llm::{Message, Messages};

use super::Prompts;
use super::results::earlier_results;
use super::template::fill;
use crate::ToolCallRecord;

/// The messages of an earlier thought. They do not depend on the form.
#[derive(Debug, Clone)]
pub(super) struct EarlierThought {
    /// The text before the thought. The first thought of a request has none.
    lead: String,
    /// The thought in the model's own words.
    words: Message,
    /// What tools returned in the thought. It precedes the text after the thought; empty if no tool
    /// was called.
    pub(super) results: String,
    /// The number of bytes of the thinking and the results.
    pub(super) bytes: usize,
}

impl EarlierThought {
    pub(super) fn new(
        prompts: &Prompts,
        number: u32,
        thinking: &str,
        tool_calls: &[ToolCallRecord],
    ) -> Self {
        let number = ("thought_number", &*number.to_string());
        let words = [number, ("current_thinking", thinking.trim_end())];

        let results = match tool_calls {
            [] => String::new(),
            calls => {
                let results = earlier_results(calls);
                fill(&prompts.tools.earlier, &[number, ("results", &results)])
            }
        };

        Self {
            lead: fill(&prompts.next_thought, &[number]),
            words: Message::assistant(fill(&prompts.thought, &words)),
            bytes: thinking.len().saturating_add(results.len()),
            results,
        }
    }
}

/// Returns a text after what tools returned, if they returned anything.
pub(super) fn after_results(results: &str, text: &str) -> String {
    if results.is_empty() {
        return text.to_owned();
    }

    format!("{}\n\n{text}", results.trim_end())
}

/// Appends thoughts to a conversation.
pub(super) fn push_thoughts(messages: &mut Messages, thoughts: &[EarlierThought]) {
    let mut previous = None;
    for thought in thoughts {
        if let Some(previous) = previous.replace(thought) {
            let lead = after_results(&previous.results, &thought.lead);
            messages.push(Message::user(lead));
        }

        messages.push(thought.words.clone());
    }
}
