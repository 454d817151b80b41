//! The conversation of a turn. Each turn only appends to the previous one: the plan and the
//! instructions, which change in every turn, come last, so that the server can reuse its prompt
//! cache for the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use cogwork_llm::Messages;

use super::Prompts;
use super::earlier::{EarlierThought, push_thoughts};
use crate::form::Form;
use crate::record::ReasoningRecord;
use crate::{History, Thought};

/// The messages of the thoughts so far. They are kept between turns, so that each is formatted only
/// once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    /// The texts that the messages were built with. If the texts change, the messages are built
    /// again.
    prompts: Option<Arc<Prompts>>,
    thoughts: Vec<EarlierThought>,
    conversations: BTreeMap<Form, Conversation>,
}

/// The part of a conversation that requests one form of reply which a request shares with the next
/// one: system text, example, problem and thoughts.
#[derive(Debug, Clone)]
struct Conversation {
    /// The instructions about tools that the system text contains.
    instructions: String,
    messages: Messages,
    /// The number of thoughts in `messages`.
    thoughts: usize,
}

impl Transcript {
    /// Returns the conversation that requests the next thought. `instructions` follow the system
    /// text.
    pub(crate) fn conversation(
        &mut self,
        prompts: &Arc<Prompts>,
        record: &ReasoningRecord,
        history: History,
        form: Form,
        instructions: &str,
    ) -> Messages {
        self.catch_up(prompts, &record.thoughts);

        let opening = || prompts.opening(form, instructions);
        let Some(last) = record.thoughts.last() else {
            let mut messages = opening();
            messages.push(prompts.first_turn(&record.problem, form));
            return messages;
        };

        let opening = || {
            let mut messages = opening();
            messages.push(prompts.problem(&record.problem, form));
            messages
        };
        let left_out = self.thoughts.len() - shown(&self.thoughts, history);
        let mut messages = match self.thoughts.get(left_out..) {
            Some(shown) if left_out > 0 => {
                let mut messages = opening();
                push_thoughts(&mut messages, None, shown);
                messages
            }
            _ => self.all(form, instructions, opening),
        };

        let results = self.thoughts.last().map(|last| last.results.as_str());
        messages.push(prompts.later_turn(
            last.thought_number(),
            last.planning(),
            results.unwrap_or_default(),
            left_out,
            form,
        ));
        messages
    }

    /// Formats the thoughts that have been added since the last turn.
    fn catch_up(&mut self, prompts: &Arc<Prompts>, thoughts: &[Thought]) {
        let known = self.prompts.as_ref();
        let is_same = known.is_some_and(|known| Arc::ptr_eq(known, prompts));
        let has_shrunk = self.thoughts.len() > thoughts.len();

        if !is_same || has_shrunk {
            *self = Self {
                prompts: Some(Arc::clone(prompts)),
                ..Self::default()
            };
        }

        for thought in thoughts.iter().skip(self.thoughts.len()) {
            let number = thought.thought_number();
            let calls = &thought.trace().tool_calls;
            let earlier = EarlierThought::new(prompts, number, thought.current_thinking(), calls);
            self.thoughts.push(earlier);
        }
    }

    /// Returns the conversation up to the last thought, which begins with `opening`.
    fn all(
        &mut self,
        form: Form,
        instructions: &str,
        opening: impl FnOnce() -> Messages,
    ) -> Messages {
        let known = self.conversations.remove(&form);
        let known = known.filter(|known| known.instructions == instructions);
        let mut conversation = known.unwrap_or_else(|| Conversation {
            instructions: instructions.to_owned(),
            messages: opening(),
            thoughts: 0,
        });

        let (known, new) = self.thoughts.split_at(conversation.thoughts);
        push_thoughts(&mut conversation.messages, known.last(), new);
        conversation.thoughts = self.thoughts.len();

        let messages = conversation.messages.clone();
        self.conversations.insert(form, conversation);
        messages
    }
}

/// Returns how many of the newest thoughts are part of a request; at least one.
fn shown(thoughts: &[EarlierThought], history: History) -> usize {
    match history {
        History::All => thoughts.len(),
        History::Window(max) => thoughts.len().min(max.max(1)),
        History::Bytes(max) => {
            let mut bytes = 0_usize;
            let fitting = thoughts.iter().rev().take_while(|thought| {
                bytes = bytes.saturating_add(thought.bytes);
                bytes <= max
            });
            fitting.count().max(1)
        }
    }
}
