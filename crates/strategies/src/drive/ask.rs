use std::fmt;
use std::sync::Arc;

use cogwork_llm::{LlmClient, Message, Messages, Role, ToolDefinition};

use super::{StageReply, fields};
use crate::{Parameter, Stage};

/// A question to the model: a conversation, and what the reply must have.
///
/// Without fields and with fewer than two stages to choose from, any text is a reply. Else the model is
/// told to write lines such as `action: search`, and a reply that lacks one, or has one of another type, is
/// asked for again with the complaint. Where one text or one list is all that is asked for, a reply without
/// any such line is that text or list.
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
    /// In the order in which the model is to write them.
    pub(super) fields: Vec<(String, Parameter)>,
    pub(super) next: Vec<(String, String)>,
    pub(super) temperature: Option<f32>,
    pub(super) tools: Vec<ToolDefinition>,
    /// What is sent as the last message, once the fields are known.
    pub(super) instruction: String,
    pub(super) check: Option<Check>,
    pub(super) client: Option<Arc<dyn LlmClient>>,
}

/// Says what is wrong with a reply beyond its form.
type Check = Arc<dyn Fn(&StageReply) -> Result<(), String> + Send + Sync>;

impl Ask {
    /// A question at the end of a conversation.
    pub fn new(conversation: Messages, instruction: impl Into<String>) -> Self {
        Self {
            name: String::new(),
            messages: conversation,
            fields: Vec::new(),
            next: Vec::new(),
            temperature: None,
            tools: Vec::new(),
            instruction: instruction.into(),
            check: None,
            client: None,
        }
    }

    /// What tells it from others that are asked side by side. Unset: empty.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Asks for a field, after those there are; a field of the same name is asked for in its place.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, parameter: Parameter) -> Self {
        let name = name.into();
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = parameter,
            None => self.fields.push((name, parameter)),
        }

        self
    }

    /// Asks for fields.
    #[must_use]
    pub fn with_fields(self, fields: impl IntoIterator<Item = (String, Parameter)>) -> Self {
        fields.into_iter().fold(self, |ask, (name, parameter)| {
            ask.with_field(name, parameter)
        })
    }

    /// What a reply in the right form must hold besides: a number that is known, a name that is free. What
    /// the check says is wrong goes to the model, which is asked again as of any reply that cannot be used.
    /// Replies that call tools are not checked.
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Asks another client than that of the solver.
    #[must_use]
    pub fn with_client(mut self, client: Arc<dyn LlmClient>) -> Self {
        self.client = Some(client);
        self
    }

    /// Asks which of these stages is next. With one alone nothing is asked.
    #[must_use]
    pub fn with_next<'a>(mut self, stages: impl IntoIterator<Item = &'a Stage>) -> Self {
        let told = |stage: &Stage| (stage.name().to_owned(), stage.description().to_owned());
        self.next = stages.into_iter().map(told).collect();
        self
    }

    /// The temperature of the sampling. Unset: that of the solver's request.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Tools that the model may call instead of writing the fields. For clients that know
    /// [tools](cogwork_llm::Capability::Tools).
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// What a reply of the model says.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words for the model.
    pub fn read(&self, reply: &str) -> Result<StageReply, String> {
        let reply = fields::read(reply, &self.fields, &self.next)?;
        self.check.iter().try_for_each(|check| check(&reply))?;
        Ok(reply)
    }

    /// The conversation with the question at its end.
    pub(super) fn conversation(&self) -> Messages {
        let mut messages = self.messages.clone();
        tell(&mut messages, self.question());
        messages
    }

    /// The question as the model reads it, with the form of the reply.
    pub fn question(&self) -> Message {
        Message::user(fields::instruction(
            &self.instruction,
            &self.fields,
            &self.next,
            !self.tools.is_empty(),
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

/// Adds a message. What is said to the model twice in a row is said in one message, since some servers
/// refuse two of one role.
pub(super) fn tell(messages: &mut Messages, message: Message) {
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
