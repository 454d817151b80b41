//! The prompts, filled in for one form of reply.

use cogwork_llm::{Message, Messages};
use cogwork_plan::{Plan, format_plan_for_prompt};

use super::earlier::{EarlierThought, push_thoughts};
use super::template::fill;
use super::{Example, FormPrompts, Prompts};
use crate::Reply;
use crate::form::Form;

/// The texts that request one form of reply.
pub(super) struct Words<'p> {
    prompts: &'p Prompts,
    form: Form,
}

impl<'p> Words<'p> {
    pub(super) fn new(prompts: &'p Prompts, form: Form) -> Self {
        Self { prompts, form }
    }

    /// Returns the system text and the example.
    pub(super) fn opening(&self) -> Messages {
        let mut messages = Messages::new();
        messages.push(Message::system(self.fill(&self.prompts.system, &[])));

        if let Some(example) = &self.prompts.example {
            self.push_example(&mut messages, example);
        }

        messages
    }

    /// Returns the problem.
    pub(super) fn problem(&self, problem: &str) -> String {
        fill(&self.prompts.problem, &[("problem", problem)])
    }

    /// Returns the message that requests the first thought.
    pub(super) fn first_turn(&self, problem: &str) -> String {
        let problem = self.problem(problem);
        let turn = self.fill(&self.prompts.first_turn, &[("thought_number", "1")]);
        format!("{problem}\n\n{turn}")
    }

    /// Returns the message that requests the thought after `last_number`.
    pub(super) fn later_turn(&self, last_number: u32, plan: &Plan, left_out: usize) -> String {
        let left_out = if left_out == 0 {
            String::new()
        } else {
            fill(
                &self.prompts.left_out,
                &[("left_out_count", &left_out.to_string())],
            )
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

    fn fill(&self, template: &str, values: &[(&str, &str)]) -> String {
        let form = self.form_prompts().values();
        fill(template, &[values, &form[..]].concat())
    }

    fn form_prompts(&self) -> &FormPrompts {
        match (self.form, &self.prompts.json) {
            (Form::Json, Some(json)) => json,
            _ => &self.prompts.yaml,
        }
    }

    /// Appends the example as an earlier exchange.
    fn push_example(&self, messages: &mut Messages, example: &Example) {
        let Some((last, earlier)) = example.replies.split_last() else {
            return;
        };

        match earlier.last() {
            None => messages.push(Message::user(self.first_turn(&example.problem))),
            Some(previous) => {
                messages.push(Message::user(self.problem(&example.problem)));

                let thoughts: Vec<_> = (1..)
                    .zip(earlier)
                    .map(|(number, reply)| {
                        self.prompts
                            .earlier_thought(number, &reply.current_thinking)
                    })
                    .collect();

                push_thoughts(messages, thoughts.iter(), true);

                let number = u32::try_from(earlier.len()).unwrap_or(u32::MAX);
                let turn = self.later_turn(number, &previous.planning, 0);
                messages.push(Message::user(turn));
            }
        }

        messages.push(Message::assistant(self.reply(last)));
    }

    /// Returns a plan in the form in which the model should repeat it. A plan that is too deep for
    /// JSON, which therefore no reply can contain, is shown as YAML.
    fn plan(&self, plan: &Plan) -> String {
        let json = match self.form {
            Form::Json => serde_json::to_string(plan).ok(),
            Form::Yaml => None,
        };
        json.unwrap_or_else(|| format_plan_for_prompt(plan))
    }

    fn reply(&self, reply: &Reply) -> String {
        if self.form == Form::Yaml {
            return reply.to_string();
        }

        let current_thinking = reply.current_thinking.trim_end().to_owned();
        let trimmed = Reply {
            current_thinking,
            ..reply.clone()
        };
        serde_json::to_string(&trimmed).unwrap_or_else(|_| reply.to_string())
    }
}

impl Prompts {
    /// Returns the message that asks again after a reply that could not be read.
    pub(crate) fn unreadable(&self, complaint: &str, form: Form) -> Message {
        let words = Words::new(self, form);
        Message::user(words.fill(&self.unreadable, &[("complaint", complaint)]))
    }

    /// Returns the message that asks again after a reply that was cut off.
    pub(crate) fn cut_off(&self, form: Form) -> Message {
        let words = Words::new(self, form);
        Message::user(words.fill(&self.cut_off, &[]))
    }

    /// Returns the message that asks for confirmation of an end while steps are not done.
    pub(crate) fn ended_early(&self, open_steps: &str) -> Message {
        Message::user(fill(&self.ended_early, &[("open_steps", open_steps)]))
    }

    /// Returns the messages of an earlier thought.
    pub(super) fn earlier_thought(&self, number: u32, thinking: &str) -> EarlierThought {
        let number = number.to_string();
        let thinking = thinking.trim_end();

        let lead = fill(&self.next_thought, &[("thought_number", &number)]);
        let words = fill(
            &self.thought,
            &[("thought_number", &number), ("current_thinking", thinking)],
        );
        EarlierThought {
            lead: Message::user(lead),
            words: Message::assistant(words),
        }
    }
}
