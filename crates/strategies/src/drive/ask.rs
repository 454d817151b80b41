use std::fmt;
use std::sync::Arc;

use cogwork_llm::{Message, Messages, ReplyFormat, Role, ToolDefinition};
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::Format;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::StageReply;
use super::form::{Form, Read, THOUGHT};
use crate::{Parameter, Stage};

/// A question to the model: a conversation, and the form that the reply must have.
///
/// The form is requested in a [`Format`]. On [`Format::Text`], the model is instructed to write lines
/// such as `action: search`. If a line is missing or has a value of the wrong type, the model is
/// asked again with a description of the problem. If a single text or list is expected, a reply
/// without such lines is taken as that text or list, or as the thought if it
/// [states](cogwork_typed::ask::stated_answer) the text. Without fields, and with fewer than two
/// stages to choose from, any text is a valid reply.
///
/// In the other formats, the model is instructed to write a JSON object with the same values, and the
/// object is described by a [JSON Schema](Self::reply_format) if the server supports one. Malformed
/// JSON is repaired if its meaning is clear, and lines are accepted as well. Replies are read by an
/// [`AnswerReader`](cogwork_typed::AnswerReader).
///
/// ```
/// use cogwork_llm::Messages;
/// use cogwork_strategies::{Ask, Parameter, ParameterType};
///
/// let score = Parameter::new(ParameterType::Integer { min: Some(0.0), max: Some(10.0) }, "how good it is");
/// let ask = Ask::new(Messages::new(), "Judge the plan.")
///     .with_field("score", score)
///     .with_check(|reply| match reply.text.is_empty() {
///         true => Err("`thought` is missing, expected why".to_owned()),
///         false => Ok(()),
///     });
/// assert_eq!(ask.read("**Thought:** It is short.\n**Score:** 8/10")?.fields["score"], 8);
/// assert_eq!(ask.read("score: 8").unwrap_err(), "`thought` is missing, expected why");
/// assert_eq!(
///     ask.read("It is good.\nscore: 11").unwrap_err(),
///     "line 2, `/score`: found the number 11; expected an integer from 0 to 10",
/// );
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct Ask {
    pub(super) name: String,
    pub(super) messages: Messages,
    /// Boxed, as is the form in JSON, to keep the size of questions similar to that of other work.
    pub(super) form: Box<Form>,
    /// The description of a form in text that the driver reads by itself.
    text_form: &'static str,
    /// The form in JSON, if it differs.
    json_form: Option<Box<JsonForm>>,
    pub(super) temperature: Option<f32>,
    pub(super) tools: Vec<ToolDefinition>,
    /// The text of the last message, to which the form of the reply is added.
    pub(super) instruction: String,
    pub(super) checks: Vec<Check>,
}

/// A form in JSON that differs from the one in lines.
#[derive(Clone)]
struct JsonForm {
    form: Form,
    convert: Convert,
}

/// Converts a reply in JSON into one with the fields of the form in lines.
type Convert = Arc<dyn Fn(StageReply) -> StageReply + Send + Sync>;

/// Checks a reply that has the right form, and returns a description of the problem if there is
/// one.
type Check = Arc<dyn Fn(&StageReply) -> Result<(), String> + Send + Sync>;

impl Ask {
    /// Creates a question that is asked at the end of a conversation.
    pub fn new(conversation: Messages, instruction: impl Into<String>) -> Self {
        Self {
            name: String::new(),
            messages: conversation,
            form: Box::default(),
            text_form: "",
            json_form: None,
            temperature: None,
            tools: Vec::new(),
            instruction: instruction.into(),
            checks: Vec::new(),
        }
    }

    /// Sets the name that distinguishes the question from others that are asked at the same time.
    /// The default is empty.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds the fields of a type, which [`StageReply::value`] returns. The description of a field is
    /// its doc comment. A field `thought` is the text of the reply.
    #[must_use]
    pub fn with_fields_of<T: JsonSchema + DeserializeOwned>(mut self) -> Self {
        for key in AnswerKey::of::<T>() {
            if key.name() != THOUGHT {
                self.form.add(key);
            }
        }
        self
    }

    /// Adds a field to the form. It replaces a field of the same name.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, parameter: Parameter) -> Self {
        let name = name.into();
        // A choice may be a word such as `none`.
        if parameter.kind().has_choices() {
            self.form.literal.push(name.clone());
        }
        self.form.add(parameter.key(&name));
        self
    }

    /// Adds several fields to the form.
    #[must_use]
    pub(crate) fn with_fields<'a>(
        self,
        fields: impl IntoIterator<Item = (&'a String, &'a Parameter)>,
    ) -> Self {
        fields.into_iter().fold(self, |ask, (name, parameter)| {
            ask.with_field(name, parameter.clone())
        })
    }

    /// Removes a field.
    #[must_use]
    pub(crate) fn without_field(mut self, name: &str) -> Self {
        self.form.keys.retain(|key| key.name() != name);
        self
    }

    /// Changes what is asked for in a field, if there is one of this name.
    #[must_use]
    pub(crate) fn narrowed(
        mut self,
        name: &str,
        narrowed: impl FnOnce(AnswerKey) -> AnswerKey,
    ) -> Self {
        let key = self.form.keys.iter().find(|key| key.name() == name);
        if let Some(key) = key.cloned() {
            self.form.add(narrowed(key));
        }
        self
    }

    /// Reads a text such as `none` as a value of this field, even if the field may be left out.
    #[must_use]
    pub(crate) fn with_literal(mut self, field: impl Into<String>) -> Self {
        self.form.literal.push(field.into());
        self
    }

    /// Reads a reply without labels only if it [states](cogwork_typed::ask::stated_answer) its answer.
    #[must_use]
    pub(crate) fn with_stated_answer(mut self) -> Self {
        self.form.is_stated = true;
        self
    }

    /// Asks only for these stages, if there are any.
    #[must_use]
    pub(crate) fn narrowed_next(mut self, stages: impl IntoIterator<Item = &'static str>) -> Self {
        self.form.narrowed_next = stages.into_iter().map(str::to_owned).collect();
        self
    }

    /// Sets the description of a form that the driver reads by itself. It is only added to a
    /// question for a text.
    #[must_use]
    pub(crate) fn with_text_form(mut self, form: &'static str) -> Self {
        self.text_form = form;
        self
    }

    /// Sets different fields for a reply in JSON. `convert` returns such a reply with the fields of
    /// the form in lines.
    #[must_use]
    pub(crate) fn with_json_fields(
        mut self,
        keys: Vec<AnswerKey>,
        convert: impl Fn(StageReply) -> StageReply + Send + Sync + 'static,
    ) -> Self {
        let form = Form {
            keys,
            ..Form::default()
        };
        self.json_form = Some(Box::new(JsonForm {
            form,
            convert: Arc::new(convert),
        }));
        self
    }

    /// Adds a check for what the form can't express, such as whether a name exists.
    ///
    /// If the check fails, its message is sent to the model, which is asked again like for any
    /// other unusable reply. Replies that call tools aren't checked.
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.checks.push(Arc::new(check));
        self
    }

    /// Asks the model which of these stages comes next, if there is more than one.
    #[must_use]
    pub fn with_next<'a>(mut self, stages: impl IntoIterator<Item = &'a Stage>) -> Self {
        let told = |stage: &Stage| (stage.name().to_owned(), stage.description().to_owned());
        self.form.next = stages.into_iter().map(told).collect();
        self
    }

    /// Sets the sampling temperature. The default is that of the solver's request.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the tools that the model may call instead of writing the fields. The client must
    /// support [tools](cogwork_llm::Capability::Tools).
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Returns whether every reply must have this field.
    pub(super) fn requires(&self, name: &str) -> bool {
        let mut keys = self.form.keys.iter();
        keys.any(|key| key.name() == name && key.is_required())
    }

    /// Reads a reply that was requested as lines.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem for the model.
    pub fn read(&self, reply: &str) -> Result<StageReply, String> {
        self.read_on(Format::Text, reply)
    }

    /// Reads a reply that was requested in a format.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem for the model.
    pub fn read_on(&self, format: Format, reply: &str) -> Result<StageReply, String> {
        self.read_with_repairs(format, reply).map(|read| read.reply)
    }

    pub(super) fn read_with_repairs(&self, format: Format, reply: &str) -> Result<Read, String> {
        let read = self.read_unchecked(format, reply)?;
        self.checks
            .iter()
            .try_for_each(|check| check(&read.reply))?;
        Ok(read)
    }

    fn read_unchecked(&self, format: Format, reply: &str) -> Result<Read, String> {
        let json_form = self.json_form.as_deref().filter(|_| format.is_json());
        let Some(JsonForm { form, convert }) = json_form else {
            return self.form.read(format, reply);
        };

        match form.read(format, reply) {
            Ok(mut read) => {
                read.reply = convert(read.reply);
                Ok(read)
            }
            Err(problem) => {
                // A model may still write the fields of the form in lines.
                let read = self.form.read(format, reply).ok();
                read.filter(|read| self.passes(read)).ok_or(problem)
            }
        }
    }

    fn passes(&self, read: &Read) -> bool {
        let passes = |check: &Check| check(&read.reply).is_ok();
        !self.checks.is_empty() && self.checks.iter().all(passes)
    }

    /// Returns the formats on which the question can be asked, of those that the solver uses.
    pub(super) fn formats(&self, mut formats: Vec<Format>, max_tokens: u32) -> Vec<Format> {
        // Tools that the model calls natively are an alternative to the form.
        if !self.tools.is_empty() {
            return vec![Format::Text];
        }

        formats
            .retain(|format| !format.is_json() || self.reply_format(*format, max_tokens).is_some());
        formats
    }

    fn json_form(&self) -> &Form {
        match self.json_form.as_deref() {
            Some(json) => &json.form,
            None => &self.form,
        }
    }

    /// Returns what a request for a reply in this format asks of the server.
    ///
    /// The lengths and counts in the schema of [`Format::Schema`] are limited, so that the longest
    /// reply has at most `max_tokens` tokens. The schema of [`Format::FlatSchema`] has no limits,
    /// because some servers don't support them. Both require every value; a value that may be left
    /// out is null instead.
    ///
    /// Returns `None` for lines, or if no reply of this form fits into `max_tokens`.
    pub fn reply_format(&self, format: Format, max_tokens: u32) -> Option<ReplyFormat> {
        let reader = || self.json_form().reader();
        let tokens = usize::try_from(max_tokens).unwrap_or(usize::MAX);

        match format {
            Format::Schema => {
                let schema = reader().schema_within(tokens)?;
                Some(ReplyFormat::schema("reply", schema))
            }
            Format::FlatSchema => {
                let schema = reader().strict_schema()?;
                Some(ReplyFormat::schema("reply", schema))
            }
            Format::Json => Some(ReplyFormat::Json),
            _ => None,
        }
    }

    /// Returns the conversation with the question at its end.
    pub(super) fn conversation(&self, format: Format) -> Messages {
        let mut messages = self.messages.clone();
        add_message(&mut messages, self.question_on(format));
        messages
    }

    /// Returns the message for the model, which includes the form of the reply in lines.
    pub fn question(&self) -> Message {
        self.question_on(Format::Text)
    }

    fn json_question(&self, format: Format) -> String {
        let instruction = &self.instruction;
        let reader = self.json_form().reader();
        let keys = reader.keys();
        let question = format!("{instruction}\n\nWrite one JSON object with these keys:{keys}");

        // Small models copy the example, so it is only used if no schema shows the structure.
        if format == Format::Json {
            format!("{question}\n\nIts structure: {}", reader.example())
        } else {
            question
        }
    }

    /// Returns the message for the model, which includes the form of a reply in this format.
    pub fn question_on(&self, format: Format) -> Message {
        let instruction = &self.instruction;
        if format.is_json() {
            return Message::user(self.json_question(format));
        }

        if self.form.is_free() {
            return match self.text_form {
                "" => Message::user(instruction.as_str()),
                form => Message::user(format!("{instruction}\n\n{form}")),
            };
        }

        let write = if self.tools.is_empty() {
            "Write"
        } else {
            "If you call no tool, write"
        };
        Message::user(format!(
            "{instruction}\n\n{write} these lines, each name at the beginning of a line:{}",
            self.form.lines()
        ))
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("name", &self.name)
            .field("messages", &self.messages)
            .field("question", &self.question().text())
            .finish_non_exhaustive()
    }
}

/// Adds a message. Two consecutive user messages are merged into one, because some servers refuse
/// consecutive messages with the same role.
pub(super) fn add_message(messages: &mut Messages, message: Message) {
    let plain = |message: &Message| message.role() == Role::User && message.blocks().is_empty();
    let joined = match messages.last() {
        Some(last) if plain(last) && plain(&message) => {
            format!("{}\n\n{}", last.text(), message.text())
        }
        _ => return messages.push(message),
    };

    messages.pop();
    messages.push(Message::user(joined));
}
