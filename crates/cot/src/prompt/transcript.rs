//! The conversation of a turn. Each turn only appends to the previous one: the plan and the
//! instructions, which change in every turn, come last, so that the server can reuse its prompt
//! cache for the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use cogwork_llm::{Message, Messages};

use super::Prompts;
use super::earlier::{EarlierThought, push_thoughts};
use super::words::Words;
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

/// A conversation that requests one form of reply.
#[derive(Debug, Clone)]
struct Conversation {
    /// The instructions about tools that the opening contains.
    instructions: String,
    /// System text, example and problem.
    opening: Messages,
    /// The opening and the thoughts, which are the part that this request shares with the next one.
    all: Messages,
    /// The number of thoughts in `all`.
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
        let words = Words::new(prompts, form);

        let Some(last) = record.thoughts.last() else {
            let mut messages = words.opening(instructions);
            messages.push(Message::user(words.first_turn(&record.problem)));
            return messages;
        };

        let shown = shown(&self.thoughts, history);
        let left_out = self.thoughts.len() - shown;
        let mut messages = self.earlier(&words, form, record, left_out, instructions);

        let results = self.thoughts.last().map(|last| last.results.as_str());
        let turn = words.later_turn(
            last.thought_number(),
            last.planning(),
            results.unwrap_or_default(),
            left_out,
        );
        messages.push(Message::user(turn));
        messages
    }

    /// Formats the thoughts that have been added since the last turn.
    fn catch_up(&mut self, prompts: &Arc<Prompts>, thoughts: &[Thought]) {
        let is_same = self
            .prompts
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, prompts));
        let has_shrunk = self.thoughts.len() > thoughts.len();

        if !is_same || has_shrunk {
            *self = Self {
                prompts: Some(Arc::clone(prompts)),
                ..Self::default()
            };
        }

        let known = self.thoughts.len();
        for thought in thoughts.iter().skip(known) {
            let number = thought.thought_number();
            let tool_calls = &thought.trace().tool_calls;
            let earlier = prompts.earlier_thought(number, thought.current_thinking(), tool_calls);
            self.thoughts.push(earlier);
        }
    }

    /// Returns the conversation up to the last thought, without the first `left_out` thoughts.
    fn earlier(
        &mut self,
        words: &Words<'_>,
        form: Form,
        record: &ReasoningRecord,
        left_out: usize,
        instructions: &str,
    ) -> Messages {
        let is_other = |known: &Conversation| known.instructions != instructions;
        if self.conversations.get(&form).is_some_and(is_other) {
            self.conversations.remove(&form);
        }

        let conversation = self.conversations.entry(form).or_insert_with(|| {
            let mut opening = words.opening(instructions);
            opening.push(Message::user(words.problem(&record.problem)));
            Conversation {
                instructions: instructions.to_owned(),
                all: opening.clone(),
                opening,
                thoughts: 0,
            }
        });

        conversation.catch_up(&self.thoughts);

        if left_out == 0 {
            return conversation.all.clone();
        }

        let mut messages = conversation.opening.clone();
        push_thoughts(&mut messages, &self.thoughts, left_out, left_out);
        messages
    }
}

impl Conversation {
    fn catch_up(&mut self, thoughts: &[EarlierThought]) {
        push_thoughts(&mut self.all, thoughts, 0, self.thoughts);
        self.thoughts = thoughts.len();
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
