//! Earlier thoughts as messages. They do not depend on the format of replies.

use cogwork_llm::{Message, Messages};

use super::Prompts;
use super::results::earlier_results;
use super::template::fill;
use cogwork_typed::ask::ToolUse;

/// An earlier thought.
pub(super) struct Earlier<'t> {
    number: String,
    thinking: &'t str,
    /// What tools returned in the thought, which precedes the text after it. Empty if no tool was
    /// called.
    pub(super) results: String,
}

impl Earlier<'_> {
    /// Returns the number of bytes of the thinking and the results.
    pub(super) fn bytes(&self) -> usize {
        self.thinking.len().saturating_add(self.results.len())
    }
}

impl Prompts {
    pub(super) fn earlier<'t>(
        &self,
        number: u32,
        thinking: &'t str,
        calls: &[ToolUse],
    ) -> Earlier<'t> {
        let number = number.to_string();
        let results = match calls {
            [] => String::new(),
            calls => {
                let results = earlier_results(calls);
                let values = [("thought_number", &*number), ("results", &results)];
                fill(&self.tools.earlier, &values)
            }
        };

        Earlier {
            number,
            thinking,
            results,
        }
    }

    /// Appends thoughts to a conversation. A message between two of them asks for the second one.
    pub(super) fn push_thoughts(&self, messages: &mut Messages, thoughts: &[Earlier<'_>]) {
        let mut previous: Option<&Earlier<'_>> = None;
        for thought in thoughts {
            let number = ("thought_number", thought.number.as_str());
            if let Some(previous) = previous.replace(thought) {
                let lead = fill(&self.next_thought, &[number]);
                messages.push(Message::user(after_results(&previous.results, &lead)));
            }

            // Without the plan: only the last one counts, and all of them would fill the prompt.
            let words = [number, ("current_thinking", thought.thinking.trim_end())];
            messages.push(Message::assistant(fill(&self.thought, &words)));
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
