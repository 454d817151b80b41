//! The conversation of a turn. Each turn only appends to the previous one: the plan and the
//! instructions, which change in every turn, come last, so that the server can reuse its prompt
//! cache for the rest.

use cogwork_llm::Messages;

use super::Prompts;
use super::earlier::Earlier;
use crate::{History, Reasoning};
use cogwork_typed::ask::Format;

impl Prompts {
    /// Returns the conversation that requests the next thought. `instructions` follow the system
    /// text.
    pub(crate) fn conversation(
        &self,
        reasoning: &Reasoning,
        history: History,
        format: Format,
        instructions: &str,
    ) -> Messages {
        let mut messages = self.opening(format, instructions);
        let Some(last) = reasoning.thoughts().last() else {
            messages.push(self.first_turn(reasoning.problem(), format));
            return messages;
        };

        let thoughts = reasoning.thoughts().iter().map(|thought| {
            let (number, calls) = (thought.thought_number, &thought.trace.tool_calls);
            self.earlier(number, &thought.current_thinking, calls)
        });
        let thoughts: Vec<Earlier<'_>> = thoughts.collect();
        let left_out = thoughts.len() - shown(&thoughts, history);

        messages.push(self.problem(reasoning.problem(), format));
        self.push_thoughts(&mut messages, thoughts.get(left_out..).unwrap_or_default());
        let results = thoughts.last().map_or("", |last| &last.results);
        let number = last.thought_number;
        messages.push(self.later_turn(number, &last.planning, results, left_out, format));
        messages
    }
}

/// Returns how many of the newest thoughts are part of a request; at least one.
fn shown(thoughts: &[Earlier<'_>], history: History) -> usize {
    match history {
        History::All => thoughts.len(),
        // The last thought explains the plan that is shown after it.
        History::Window(max) => thoughts.len().min(max.max(1)),
        History::Bytes(max) => {
            let mut bytes = 0_usize;
            let fitting = thoughts.iter().rev().take_while(|thought| {
                bytes = bytes.saturating_add(thought.bytes());
                bytes <= max
            });
            fitting.count().max(1)
        }
    }
}
