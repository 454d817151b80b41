//! A question, whatever its reply is converted to: its message, its format, and how a reply is read.

use std::sync::Arc;

use cogwork_llm::{Message, ReplyFormat, ToolDefinition};
use cogwork_typed::ask::{Format, call_label};

use super::StageReply;
use super::form::Form;

/// A question, whatever its reply is converted to.
#[derive(Clone, Default)]
pub(super) struct Question {
    pub(super) name: String,
    pub(super) form: Form,
    /// The description of a form in text that the strategy reads by itself.
    pub(super) text_form: &'static str,
    /// The form in JSON, if it differs.
    pub(super) json_form: Option<Form>,
    pub(super) temperature: Option<f32>,
    pub(super) tools: Vec<ToolDefinition>,
    /// The text of the last message, to which the form of the reply is added.
    pub(super) instruction: String,
    /// Whether the reply is the answer to the problem.
    pub(super) is_answer: bool,
    pub(super) checks: Vec<Check>,
}

/// Checks a reply that has the right form, and returns a description of the problem if there is
/// one.
type Check = Arc<dyn Fn(&StageReply) -> Result<(), String> + Send + Sync>;

impl Question {
    /// Reads a reply and checks it.
    pub(super) fn read(&self, format: Format, reply: &str) -> Result<StageReply, String> {
        let checked = |form: &Form| {
            let read = form.read(format, reply)?;
            self.checks.iter().try_for_each(|check| check(&read))?;
            Ok(read)
        };

        match self.json_form.as_ref().filter(|_| format.is_json()) {
            None => checked(&self.form),
            // A model may still write the fields of the form in lines.
            Some(form) => checked(form).or_else(|problem| checked(&self.form).or(Err(problem))),
        }
    }

    /// Returns whether a reply is of use although its end is missing: a thought, or a whole object.
    pub(super) fn may_be_cut(&self, format: Format, reply: &str) -> bool {
        let is_whole = || reply.trim_end_matches(['`', '\n', ' ']).ends_with('}');
        let is_thought = self.form.is_free()
            && self.text_form.is_empty()
            && self.tools.is_empty()
            && !self.is_answer;
        is_thought || (format.is_json() && is_whole())
    }

    /// Returns what distinguishes the question from others.
    pub(super) fn label(&self, stage: &str) -> String {
        call_label(
            format!("{stage} {}", self.name).trim_end(),
            &self.instruction,
        )
    }

    fn json_form(&self) -> &Form {
        self.json_form.as_ref().unwrap_or(&self.form)
    }

    /// Returns the format that a request on this format requires, or `None` for lines, or if no
    /// reply of this form fits into `max_tokens`.
    ///
    /// The lengths and counts in the schema of [`Format::Schema`] are limited, so that the longest
    /// reply has at most `max_tokens` tokens. The schema of [`Format::FlatSchema`] has no limits,
    /// because some servers don't support them. Both require every value; a value that may be left
    /// out is null instead.
    pub(super) fn reply_format(&self, format: Format, max_tokens: u32) -> Option<ReplyFormat> {
        let reader = self.json_form().reader();
        reader.reply_format(format, Some(max_tokens))
    }

    /// Returns the message for the model, which includes the form of a reply on this format.
    pub(super) fn message(&self, format: Format) -> Message {
        let form = if format.is_json() {
            self.json_form().reader().instruction("Write", format)
        } else if self.form.is_free() {
            self.text_form.to_owned()
        } else {
            let write = match self.tools.is_empty() {
                true => "Write",
                false => "If you call no tool, write",
            };
            let lines = self.form.reader().lines();
            format!("{write} these lines, each name at the beginning of a line:{lines}")
        };

        match form.as_str() {
            "" => Message::user(self.instruction.as_str()),
            form => Message::user(format!("{}\n\n{form}", self.instruction)),
        }
    }
}
