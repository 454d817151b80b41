//! The prompts, filled in for one form of reply.

use cogwork_llm::{Message, Messages, ToolDefinition};
use cogwork_plan::{Plan, format_plan_for_prompt};

use super::earlier::{EarlierThought, after_results, push_thoughts};
use super::results::{earlier_results, results};
use super::template::fill;
use super::{Example, FormPrompts, Prompts};
use crate::form::Form;
use crate::{Reply, ToolCallRecord};

/// The texts that request one form of reply.
pub(super) struct Words<'p> {
    prompts: &'p Prompts,
    form: Form,
}

impl<'p> Words<'p> {
    pub(super) fn new(prompts: &'p Prompts, form: Form) -> Self {
        Self { prompts, form }
    }

    /// Returns the system text, followed by `instructions`, and the example.
    pub(super) fn opening(&self, instructions: &str) -> Messages {
        let mut system = self.fill(&self.prompts.system, &[]);
        if !instructions.is_empty() {
            system = format!("{}\n\n{}", system.trim_end(), instructions.trim_end());
        }

        let mut messages = Messages::new();
        messages.push(Message::system(system));

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
    /// `results` is what tools returned in that thought.
    pub(super) fn later_turn(
        &self,
        last_number: u32,
        plan: &Plan,
        results: &str,
        left_out: usize,
    ) -> String {
        let left_out = if left_out == 0 {
            String::new()
        } else {
            fill(
                &self.prompts.left_out,
                &[("left_out_count", &left_out.to_string())],
            )
        };

        let turn = self.fill(
            &self.prompts.later_turn,
            &[
                ("thought_number", &last_number.saturating_add(1).to_string()),
                ("last_thought_number", &last_number.to_string()),
                ("plan", self.plan(plan).trim_end()),
                ("left_out", &left_out),
            ],
        );
        after_results(results, &turn)
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
                            .earlier_thought(number, &reply.current_thinking, &[])
                    })
                    .collect();

                push_thoughts(messages, &thoughts, 0, 0);

                let number = u32::try_from(earlier.len()).unwrap_or(u32::MAX);
                let turn = self.later_turn(number, &previous.planning, "", 0);
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

    /// Returns the instructions for a model on a server that supports tools.
    pub(crate) fn native_tools(&self, form: Form) -> String {
        Words::new(self, form).fill(&self.tools.native, &[])
    }

    /// Returns the instructions for a model that writes its tool calls into the reply.
    pub(crate) fn tools_in_reply(
        &self,
        form: Form,
        tools: impl Iterator<Item = ToolDefinition>,
    ) -> String {
        let call_form = match form {
            Form::Yaml => &self.tools.yaml,
            Form::Json => &self.tools.json,
        };
        let tools: Vec<String> = tools
            .map(|tool| {
                let (name, description) = (tool.name(), tool.description());
                format!("- {name}: {description}\n  input: {}", tool.input_schema())
            })
            .collect();

        Words::new(self, form).fill(
            &self.tools.in_reply,
            &[
                ("tools", &tools.join("\n")),
                ("call_form", call_form.trim_end()),
            ],
        )
    }

    /// Returns the message with the results of tool calls. `is_last` means that no more tools may
    /// be called.
    pub(crate) fn tool_results(
        &self,
        uses: &[ToolCallRecord],
        is_last: bool,
        form: Form,
    ) -> Message {
        let template = if is_last {
            &self.tools.last_results
        } else {
            &self.tools.results
        };

        let words = Words::new(self, form);
        Message::user(words.fill(template, &[("results", &results(uses))]))
    }

    /// Returns the message that asks again after tool calls that could not be read.
    pub(crate) fn unreadable_calls(&self, complaint: &str, form: Form) -> Message {
        let words = Words::new(self, form);
        Message::user(words.fill(&self.tools.unreadable, &[("complaint", complaint)]))
    }

    /// Returns the message that asks for a reply without tool calls.
    pub(crate) fn tools_used_up(&self, form: Form) -> Message {
        let words = Words::new(self, form);
        Message::user(words.fill(&self.tools.used_up, &[]))
    }

    /// Returns a conversation that asks for the conclusion instead of one more step.
    pub(crate) fn concluding(&self, mut conversation: Messages, form: Form) -> Messages {
        let conclude = Words::new(self, form).fill(&self.conclude, &[]);
        let conclude = conclude.trim_end();

        let message = match conversation.pop() {
            Some(turn) => format!("{}\n\n{conclude}", turn.text()),
            None => conclude.to_owned(),
        };

        conversation.push(Message::user(message));
        conversation
    }

    /// Returns the messages of an earlier thought.
    pub(super) fn earlier_thought(
        &self,
        number: u32,
        thinking: &str,
        tool_calls: &[ToolCallRecord],
    ) -> EarlierThought {
        let number = number.to_string();
        let thinking_bytes = thinking.len();
        let thinking = thinking.trim_end();

        let lead = fill(&self.next_thought, &[("thought_number", &number)]);
        let words = fill(
            &self.thought,
            &[("thought_number", &number), ("current_thinking", thinking)],
        );

        let results = self.earlier_results(&number, tool_calls);
        EarlierThought {
            lead,
            words: Message::assistant(words),
            bytes: thinking_bytes.saturating_add(results.len()),
            results,
        }
    }

    fn earlier_results(&self, thought_number: &str, tool_calls: &[ToolCallRecord]) -> String {
        if tool_calls.is_empty() {
            return String::new();
        }

        let results = earlier_results(tool_calls);
        fill(
            &self.tools.earlier,
            &[("thought_number", thought_number), ("results", &results)],
        )
    }
}
