//! The conversation of a turn. Each turn only appends to the one before: what changes every turn,
//! the plan and the instructions, comes last, so that a server's prompt cache keeps the rest.

use std::sync::Arc;

use cogwork_llm::{Message, Messages};
use cogwork_plan::{Plan, format_plan_for_prompt};

use super::template::fill;
use super::{Example, Prompts};
use crate::{History, Reply, Thought};

/// The messages of the thoughts so far, kept between turns so that each is formatted once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    /// The texts the messages were made with; another node's texts make them anew.
    prompts: Option<Arc<Prompts>>,
    /// An earlier thought each: what leads to it (nothing for the first one shown) and its words.
    thoughts: Vec<(Message, Message)>,
    yaml: Option<Grown>,
    /// Made where a client may be asked for JSON.
    json: Option<Grown>,
}

/// A conversation that asks for one form of reply. The thoughts in it are the same for each form.
#[derive(Debug, Clone)]
struct Grown {
    /// System text, example and problem.
    opening: Messages,
    /// The opening and the thoughts: the shared beginning of the next request.
    all: Messages,
    /// How many thoughts are in it.
    thoughts: usize,
}

impl Transcript {
    /// The conversation that asks for the thought after `thoughts`, in JSON or in YAML.
    pub(crate) fn conversation(
        &mut self,
        prompts: &Arc<Prompts>,
        problem: &str,
        thoughts: &[Thought],
        history: History,
        json: bool,
    ) -> Messages {
        self.catch_up(prompts, thoughts);
        let words = Words { prompts, json };
        let grown = if json { &mut self.json } else { &mut self.yaml };
        let grown = grown.get_or_insert_with(|| {
            let mut opening = words.opening();
            opening.push(Message::user(fill(&prompts.problem, &[("problem", problem)])));
            Grown { all: opening.clone(), opening, thoughts: 0 }
        });
        let Some(last) = thoughts.last() else {
            let mut messages = words.opening();
            messages.push(Message::user(words.first_turn(problem)));
            return messages;
        };
        grown.catch_up(&self.thoughts);
        let shown = shown(thoughts, history);
        let mut messages = if shown == thoughts.len() {
            grown.all.clone()
        } else {
            let mut messages = grown.opening.clone();
            push(&mut messages, self.thoughts.iter().skip(self.thoughts.len() - shown), true);
            messages
        };
        let turn = words.later_turn(last.thought_number(), last.planning(), thoughts.len() - shown);
        messages.push(Message::user(turn));
        messages
    }

    fn catch_up(&mut self, prompts: &Arc<Prompts>, thoughts: &[Thought]) {
        let same = self.prompts.as_ref().is_some_and(|known| Arc::ptr_eq(known, prompts));
        if !same || self.thoughts.len() > thoughts.len() {
            *self = Self { prompts: Some(Arc::clone(prompts)), ..Self::default() };
        }
        for thought in thoughts.get(self.thoughts.len()..).unwrap_or_default() {
            self.thoughts.push(earlier_thought(
                prompts,
                thought.thought_number(),
                thought.current_thinking(),
            ));
        }
    }
}

impl Grown {
    fn catch_up(&mut self, thoughts: &[(Message, Message)]) {
        push(&mut self.all, thoughts.iter().skip(self.thoughts), self.thoughts == 0);
        self.thoughts = thoughts.len();
    }
}

/// Adds thoughts to a conversation. Nothing leads to the first one it shows.
fn push<'t>(
    messages: &mut Messages,
    thoughts: impl Iterator<Item = &'t (Message, Message)>,
    mut first: bool,
) {
    for (lead, words) in thoughts {
        if !std::mem::take(&mut first) {
            messages.push(lead.clone());
        }
        messages.push(words.clone());
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

/// The texts as they ask for one form of reply.
struct Words<'p> {
    prompts: &'p Prompts,
    json: bool,
}

impl Words<'_> {
    fn fill(&self, template: &str, values: &[(&str, &str)]) -> String {
        let form = self.prompts.json.as_ref().filter(|_| self.json).unwrap_or(&self.prompts.yaml);
        fill(template, &[values, &form.values()[..]].concat())
    }

    /// System text and example.
    fn opening(&self) -> Messages {
        let prompts = self.prompts;
        let mut messages = Messages::new();
        messages.push(Message::system(self.fill(&prompts.system, &[])));
        if let Some(Example { problem, replies }) = &prompts.example
            && let Some((last, earlier)) = replies.split_last()
        {
            match earlier.last() {
                None => messages.push(Message::user(self.first_turn(problem))),
                Some(previous) => {
                    messages.push(Message::user(fill(&prompts.problem, &[("problem", problem)])));
                    let thoughts: Vec<_> = (1..)
                        .zip(earlier)
                        .map(|(number, reply)| earlier_thought(prompts, number, &reply.current_thinking))
                        .collect();
                    push(&mut messages, thoughts.iter(), true);
                    let number = u32::try_from(earlier.len()).unwrap_or(u32::MAX);
                    messages.push(Message::user(self.later_turn(number, &previous.planning, 0)));
                }
            }
            messages.push(Message::assistant(self.reply(last)));
        }
        messages
    }

    fn first_turn(&self, problem: &str) -> String {
        let problem = fill(&self.prompts.problem, &[("problem", problem)]);
        format!("{problem}\n\n{}", self.fill(&self.prompts.first_turn, &[("thought_number", "1")]))
    }

    fn later_turn(&self, last_number: u32, plan: &Plan, left_out: usize) -> String {
        let left_out = match left_out {
            0 => String::new(),
            count => fill(&self.prompts.left_out, &[("left_out_count", &count.to_string())]),
        };
        self.fill(
            &self.prompts.later_turn,
            &[
                ("thought_number", &last_number.saturating_add(1).to_string()),
                ("last_thought_number", &last_number.to_string()),
                ("plan", self.plan(plan).trim_end()),
                ("left_out", &left_out),
            ],
        )
    }

    /// A plan as a model is to give it back. One too deep for JSON, which no reply brings, stays readable.
    fn plan(&self, plan: &Plan) -> String {
        let json = self.json.then(|| serde_json::to_string(plan).ok()).flatten();
        json.unwrap_or_else(|| format_plan_for_prompt(plan))
    }

    fn reply(&self, reply: &Reply) -> String {
        if !self.json {
            return reply.to_string();
        }
        let thinking = reply.current_thinking.trim_end().to_owned();
        let json = serde_json::to_string(&Reply { current_thinking: thinking, ..reply.clone() });
        json.unwrap_or_else(|_| reply.to_string())
    }
}

fn earlier_thought(prompts: &Prompts, number: u32, thinking: &str) -> (Message, Message) {
    let number = number.to_string();
    let lead = fill(&prompts.next_thought, &[("thought_number", &number)]);
    let words =
        fill(&prompts.thought, &[("thought_number", &number), ("current_thinking", thinking.trim_end())]);
    (Message::user(lead), Message::assistant(words))
}

impl Prompts {
    /// The message that asks again after a reply that could not be read.
    pub(crate) fn unreadable(&self, complaint: &str, json: bool) -> Message {
        Message::user(Words { prompts: self, json }.fill(&self.unreadable, &[("complaint", complaint)]))
    }

    /// The message that asks again after a reply that was cut off.
    pub(crate) fn cut_off(&self, json: bool) -> Message {
        Message::user(Words { prompts: self, json }.fill(&self.cut_off, &[]))
    }

    /// The message that asks about an end while steps are not done.
    pub(crate) fn ended_early(&self, open_steps: &str) -> Message {
        Message::user(fill(&self.ended_early, &[("open_steps", open_steps)]))
    }
}
