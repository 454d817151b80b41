//! The texts of the prompts, filled in for one form of reply.

use cogwork_llm::{Message, Messages, ToolDefinition};
use cogwork_plan::{Plan, format_plan_for_prompt};

use super::earlier::after_results;
use super::results::results;
use super::template::fill;
use super::{Example, Prompts};
use crate::Reply;
use cogwork_typed::ask::{Format, ToolUse};

impl Prompts {
    /// Fills in one of the texts.
    pub(crate) fn fill(&self, text: &str, format: Format, values: &[(&str, &str)]) -> String {
        let form = self.json.as_ref().filter(|_| format.is_json());
        let form = form.unwrap_or(&self.yaml);
        fill(text, &[values, &form.values()].concat())
    }

    /// Fills in one of the texts, as a message to the model.
    pub(crate) fn message(&self, text: &str, format: Format, values: &[(&str, &str)]) -> Message {
        Message::user(self.fill(text, format, values))
    }

    /// Returns the system text, followed by `instructions`, and the example.
    pub(super) fn opening(&self, format: Format, instructions: &str) -> Messages {
        let mut system = self.fill(&self.system, format, &[]);
        if !instructions.is_empty() {
            system = format!("{}\n\n{}", system.trim_end(), instructions.trim_end());
        }

        let mut messages = Messages::new();
        messages.push(Message::system(system));

        if let Some(example) = &self.example {
            self.push_example(&mut messages, example, format);
        }

        messages
    }

    /// Appends the example as an earlier exchange.
    fn push_example(&self, messages: &mut Messages, example: &Example, format: Format) {
        // The example is shown as the turn that it would be in, with the reply that is wanted.
        let Some((last, earlier)) = example.replies.split_last() else {
            return;
        };

        match earlier.last() {
            None => messages.push(self.first_turn(&example.problem, format)),
            Some(previous) => {
                messages.push(self.problem(&example.problem, format));

                let thoughts: Vec<_> = (1..)
                    .zip(earlier)
                    .map(|(number, reply)| self.earlier(number, &reply.current_thinking, &[]))
                    .collect();
                self.push_thoughts(messages, &thoughts);

                let number = u32::try_from(earlier.len()).unwrap_or(u32::MAX);
                messages.push(self.later_turn(number, &previous.planning, "", 0, format));
            }
        }

        messages.push(Message::assistant(shown_reply(last, format)));
    }

    pub(super) fn problem(&self, problem: &str, format: Format) -> Message {
        self.message(&self.problem, format, &[("problem", problem)])
    }

    /// Returns the message that requests the first thought.
    pub(super) fn first_turn(&self, problem: &str, format: Format) -> Message {
        let problem = self.problem(problem, format);
        let turn = self.fill(&self.first_turn, format, &[("thought_number", "1")]);
        Message::user(format!("{}\n\n{turn}", problem.text()))
    }

    /// Returns the message that requests the thought after `last_number`. `results` is what tools
    /// returned in that thought.
    pub(super) fn later_turn(
        &self,
        last_number: u32,
        plan: &Plan,
        results: &str,
        left_out: usize,
        format: Format,
    ) -> Message {
        let left_out = match left_out {
            0 => String::new(),
            count => fill(&self.left_out, &[("left_out_count", &count.to_string())]),
        };

        let plan = shown_plan(plan, format);
        let values = [
            (
                "thought_number",
                &*last_number.saturating_add(1).to_string(),
            ),
            ("last_thought_number", &last_number.to_string()),
            ("plan", plan.trim_end()),
            ("left_out", &left_out),
        ];
        let turn = self.fill(&self.later_turn, format, &values);
        Message::user(after_results(results, &turn))
    }

    /// Makes a conversation ask for the conclusion instead of one more step.
    pub(crate) fn conclude(&self, conversation: &mut Messages, format: Format) {
        let conclude = self.fill(&self.conclude, format, &[]);
        let conclude = conclude.trim_end();

        let message = match conversation.pop() {
            // In the same message, since some servers refuse two of the user in a row.
            Some(turn) => format!("{}\n\n{conclude}", turn.text()),
            None => conclude.to_owned(),
        };

        conversation.push(Message::user(message));
    }

    /// Returns the instructions for a model that writes its tool calls into the reply.
    pub(crate) fn tools_in_reply(
        &self,
        format: Format,
        tools: impl Iterator<Item = ToolDefinition>,
    ) -> String {
        let call_form = match format.is_json() {
            true => &self.tools.json,
            false => &self.tools.yaml,
        };
        let tools: Vec<String> = tools
            .map(|tool| {
                let (name, description) = (tool.name(), tool.description());
                format!("- {name}: {description}\n  input: {}", tool.input_schema())
            })
            .collect();

        let values = [
            ("tools", &*tools.join("\n")),
            ("call_form", call_form.trim_end()),
        ];
        self.fill(&self.tools.in_reply, format, &values)
    }

    /// Returns the message with the results of tool calls. `is_last` means that no more tools may
    /// be called.
    pub(crate) fn tool_results(&self, calls: &[ToolUse], is_last: bool, format: Format) -> Message {
        let text = if is_last {
            &self.tools.last_results
        } else {
            &self.tools.results
        };

        self.message(text, format, &[("results", &results(calls))])
    }
}

/// Returns a plan in the form in which the model should repeat it. A plan that is too deep for JSON,
/// which therefore no reply can contain, is shown as YAML.
fn shown_plan(plan: &Plan, format: Format) -> String {
    // The model repeats the plan, so that it has the form of the reply.
    let json = format.is_json().then(|| serde_json::to_string(plan).ok());
    json.flatten()
        .unwrap_or_else(|| format_plan_for_prompt(plan))
}

fn shown_reply(reply: &Reply, format: Format) -> String {
    if !format.is_json() {
        return reply.to_string();
    }

    let mut reply = reply.clone();
    reply
        .current_thinking
        .truncate(reply.current_thinking.trim_end().len());
    serde_json::to_string(&reply).unwrap_or_else(|_| reply.to_string())
}
