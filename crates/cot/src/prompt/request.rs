//! The conversation of a turn. Each turn only appends to the one before: what changes every turn,
//! the plan and the instructions, comes last, so that a server's prompt cache keeps the rest.

use std::sync::Arc;

use cogwork_llm::{Message, Messages};
use cogwork_plan::{Plan, format_plan_for_prompt};

use super::template::fill;
use super::{Example, Prompts};
use crate::{History, Thought};

/// The messages of the thoughts so far, kept between turns so that each is formatted once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    /// The texts the messages were made with; another node's texts make them anew.
    prompts: Option<Arc<Prompts>>,
    /// System text, example and problem.
    opening: Messages,
    /// An earlier thought each: what leads to it (nothing for the first one shown) and its words.
    thoughts: Vec<(Message, Message)>,
    /// The opening and all thoughts: the shared beginning of the next request.
    all: Messages,
}

impl Transcript {
    /// The conversation that asks for the thought after `thoughts`.
    pub(crate) fn conversation(
        &mut self,
        prompts: &Arc<Prompts>,
        problem: &str,
        thoughts: &[Thought],
        history: History,
    ) -> Messages {
        self.catch_up(prompts, problem, thoughts);
        let Some(last) = thoughts.last() else {
            let mut messages = opening(prompts);
            messages.push(Message::user(first_turn(prompts, problem)));
            return messages;
        };
        let shown = shown(thoughts, history);
        let mut messages = if shown == thoughts.len() { self.all.clone() } else { self.newest(shown) };
        messages.push(Message::user(later_turn(
            prompts,
            last.thought_number(),
            last.planning(),
            thoughts.len() - shown,
        )));
        messages
    }

    fn catch_up(&mut self, prompts: &Arc<Prompts>, problem: &str, thoughts: &[Thought]) {
        let same = self.prompts.as_ref().is_some_and(|known| Arc::ptr_eq(known, prompts));
        if !same || self.thoughts.len() > thoughts.len() {
            let mut opening = opening(prompts);
            opening.push(Message::user(fill(&prompts.problem, &[("problem", problem)])));
            *self = Self {
                prompts: Some(Arc::clone(prompts)),
                all: opening.clone(),
                opening,
                thoughts: Vec::new(),
            };
        }
        for thought in thoughts.get(self.thoughts.len()..).unwrap_or_default() {
            let (lead, words) =
                earlier_thought(prompts, thought.thought_number(), thought.current_thinking());
            if !self.thoughts.is_empty() {
                self.all.push(lead.clone());
            }
            self.all.push(words.clone());
            self.thoughts.push((lead, words));
        }
    }

    /// The opening and the newest so many thoughts.
    fn newest(&self, shown: usize) -> Messages {
        let mut messages = self.opening.clone();
        for (index, (lead, words)) in self.thoughts.iter().skip(self.thoughts.len() - shown).enumerate() {
            if index > 0 {
                messages.push(lead.clone());
            }
            messages.push(words.clone());
        }
        messages
    }
}

/// How many of the newest thoughts a request carries; at least the last one.
fn shown(thoughts: &[Thought], history: History) -> usize {
    match history {
        History::All => thoughts.len(),
        History::Window(most) => thoughts.len().min(most.max(1)),
        History::Bytes(most) => {
            let mut bytes = 0_usize;
            let fitting = thoughts.iter().rev().take_while(|thought| {
                bytes = bytes.saturating_add(thought.current_thinking().len());
                bytes <= most
            });
            fitting.count().max(1)
        }
    }
}

/// System text and example.
fn opening(prompts: &Prompts) -> Messages {
    let mut messages = Messages::new();
    messages.push(Message::system(prompts.system.as_str()));
    if let Some(Example { problem, replies }) = &prompts.example
        && let Some((last, earlier)) = replies.split_last()
    {
        match earlier.last() {
            None => messages.push(Message::user(first_turn(prompts, problem))),
            Some(previous) => {
                messages.push(Message::user(fill(&prompts.problem, &[("problem", problem)])));
                for (number, reply) in (1..).zip(earlier) {
                    let (lead, words) = earlier_thought(prompts, number, &reply.current_thinking);
                    if number > 1 {
                        messages.push(lead);
                    }
                    messages.push(words);
                }
                let number = u32::try_from(earlier.len()).unwrap_or(u32::MAX);
                messages.push(Message::user(later_turn(prompts, number, &previous.planning, 0)));
            }
        }
        messages.push(Message::assistant(last.to_string()));
    }
    messages
}

fn first_turn(prompts: &Prompts, problem: &str) -> String {
    let problem = fill(&prompts.problem, &[("problem", problem)]);
    format!("{problem}\n\n{}", fill(&prompts.first_turn, &[("thought_number", "1")]))
}

fn earlier_thought(prompts: &Prompts, number: u32, thinking: &str) -> (Message, Message) {
    let number = number.to_string();
    let lead = fill(&prompts.next_thought, &[("thought_number", &number)]);
    let words =
        fill(&prompts.thought, &[("thought_number", &number), ("current_thinking", thinking.trim_end())]);
    (Message::user(lead), Message::assistant(words))
}

fn later_turn(prompts: &Prompts, last_number: u32, plan: &Plan, left_out: usize) -> String {
    let left_out = match left_out {
        0 => String::new(),
        count => fill(&prompts.left_out, &[("left_out_count", &count.to_string())]),
    };
    fill(
        &prompts.later_turn,
        &[
            ("thought_number", &last_number.saturating_add(1).to_string()),
            ("last_thought_number", &last_number.to_string()),
            ("plan", format_plan_for_prompt(plan).trim_end()),
            ("left_out", &left_out),
        ],
    )
}

impl Prompts {
    /// The message that asks again after a reply that could not be read.
    pub(crate) fn unreadable(&self, complaint: &str) -> Message {
        Message::user(fill(&self.unreadable, &[("complaint", complaint)]))
    }

    /// The message that asks again after a reply that was cut off.
    pub(crate) fn cut_off(&self) -> Message {
        Message::user(self.cut_off.as_str())
    }

    /// The message that asks about an end while steps are not done.
    pub(crate) fn ended_early(&self, open_steps: &str) -> Message {
        Message::user(fill(&self.ended_early, &[("open_steps", open_steps)]))
    }
}
