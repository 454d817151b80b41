use std::fmt;
use std::sync::Arc;

use cogwork_llm::{LlmClient, Message, Messages, Role, ToolDefinition};

use super::form::Form;
use super::{StageReply, fields};
use crate::{Parameter, Stage};

/// A question to the model: a conversation, and the form that the reply must have.
///
/// Without fields, and with fewer than two stages to choose from, any text is a valid reply.
/// Otherwise, the model is instructed to write lines such as `action: search`. If a line is missing
/// or has a value of the wrong type, the model is asked again with a description of the problem. If
/// a single text or list is expected, a reply without such lines is taken as that text or list.
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
///     "`score` is 11, expected an integer from 0 to 10",
/// );
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct Ask {
    pub(super) name: String,
    pub(super) messages: Messages,
    form: Form,
    pub(super) temperature: Option<f32>,
    pub(super) tools: Vec<ToolDefinition>,
    /// The text of the last message, to which the form of the reply is added.
    pub(super) instruction: String,
    pub(super) checks: Vec<Check>,
    pub(super) client: Option<Arc<dyn LlmClient>>,
}

/// Checks a reply that has the right form, and returns a description of the problem if there is
/// one.
type Check = Arc<dyn Fn(&StageReply) -> Result<(), String> + Send + Sync>;

impl Ask {
    /// Creates a question that is asked at the end of a conversation.
    pub fn new(conversation: Messages, instruction: impl Into<String>) -> Self {
        Self {
            name: String::new(),
            messages: conversation,
            form: Form::default(),
            temperature: None,
            tools: Vec::new(),
            instruction: instruction.into(),
            checks: Vec::new(),
            client: None,
        }
    }

    /// Sets the name that distinguishes the question from others that are asked at the same time.
    /// The default is empty.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a field to the form. It replaces a field of the same name.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, parameter: Parameter) -> Self {
        let name = name.into();
        match self
            .form
            .fields
            .iter_mut()
            .find(|(known, _)| *known == name)
        {
            Some((_, known)) => *known = parameter,
            None => self.form.fields.push((name, parameter)),
        }

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

    /// Reads a text such as `none` as a value of this field, even if the field may be left out.
    #[must_use]
    pub(crate) fn with_literal(mut self, field: impl Into<String>) -> Self {
        self.form.literal.push(field.into());
        self
    }

    /// Sets what the complaint expects if this field is missing. The default is its type.
    #[must_use]
    pub(crate) fn with_expected(
        mut self,
        field: impl Into<String>,
        what: impl Into<String>,
    ) -> Self {
        self.form.expected.push((field.into(), what.into()));
        self
    }

    /// Reads a reply without labels only if it [states](cogwork_ask::stated_answer) its answer.
    #[must_use]
    pub(crate) fn with_stated_answer(mut self) -> Self {
        self.form.is_stated = true;
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

    /// Sets the client that is asked. The default is the client of the solver.
    #[must_use]
    pub fn with_client(mut self, client: Arc<dyn LlmClient>) -> Self {
        self.client = Some(client);
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

    /// Reads a reply of the model.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem for the model.
    pub fn read(&self, reply: &str) -> Result<StageReply, String> {
        let reply = fields::read(reply, &self.form)?;
        self.checks.iter().try_for_each(|check| check(&reply))?;
        Ok(reply)
    }

    /// Returns the conversation with the question at its end.
    pub(super) fn conversation(&self) -> Messages {
        let mut messages = self.messages.clone();
        add_message(&mut messages, self.question());
        messages
    }

    /// Returns the message for the model, which includes the form of the reply.
    pub fn question(&self) -> Message {
        let instruction = &self.instruction;
        if self.form.is_free() {
            return Message::user(instruction.as_str());
        }

        let write = if self.tools.is_empty() {
            "Write"
        } else {
            "If you call no tool, write"
        };
        Message::user(format!(
            "{instruction}\n\n{write} these lines, each name at the beginning of a line:{}",
            self.form
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
