use std::sync::Arc;

use cogwork_llm::ToolDefinition;
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{Format, is_offered, no_answer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::StageReply;
use super::form::{Form, THOUGHT};
use super::question::Question;
use crate::Stage;
use crate::table::Parameter;

/// The field with the answer to the problem.
pub(crate) const ANSWER: &str = "answer";

/// A question to the model, whose reply is a `T`.
///
/// [`Ask::of`] asks for the fields of a type, whose doc comments are the descriptions for the model.
/// A field `thought` is the text of the reply. [`Ask::new`] asks for a text, or for
/// [fields](Self::with_field) that are chosen when the program runs; its reply is a [`StageReply`].
///
/// The form is requested on a [`Format`]. On [`Format::Text`], the model is instructed to write lines
/// such as `action: search`. If a line is missing or has a value of the wrong type, the model is
/// asked again with a description of the problem. If a single text or list is expected, a reply
/// without such lines is taken as that text or list, or as the thought if it
/// [states](cogwork_typed::ask::stated_answer) the text. Without fields, and with fewer than two
/// stages to choose from, any text is a valid reply.
///
/// On the other formats, the model is instructed to write a JSON object with the same values, and the
/// object is described by a JSON Schema if the server supports one. Malformed
/// JSON is repaired if its meaning is clear, and lines are accepted as well. Replies are read by an
/// [`AnswerReader`](cogwork_typed::AnswerReader).
///
/// ```
/// use cogwork_strategies::Ask;
/// use cogwork_typed::ask::Format;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
/// struct Judgement {
///     thought: String,
///     /// how good it is
///     #[schemars(range(min = 0, max = 10))]
///     score: u32,
/// }
///
/// let ask = Ask::of::<Judgement>("Judge the plan.")
///     .with_check(|judgement| match judgement.thought.is_empty() {
///         true => Err("`thought` is missing, expected why".to_owned()),
///         false => Ok(()),
///     });
/// let read = ask.read_on(Format::Text, "**Thought:** It is short.\n**Score:** 8/10")?;
/// assert_eq!(read.score, 8);
/// assert_eq!(
///     ask.read_on(Format::Text, "score: 8").unwrap_err(),
///     "`thought` is missing, expected why",
/// );
/// assert_eq!(
///     ask.read_on(Format::Text, "It is good.\nscore: 11").unwrap_err(),
///     "line 2, `/score`: found the number 11; expected an integer from 0 to 10",
/// );
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct Ask<T = StageReply> {
    pub(super) question: Question,
    pub(super) value: Convert<T>,
}

/// Converts a reply into what a question asks for.
pub(super) type Convert<T> = fn(&StageReply) -> Result<T, String>;

impl Ask {
    /// Creates a question for a text.
    pub fn new(instruction: impl Into<String>) -> Self {
        Self {
            question: Question {
                instruction: instruction.into(),
                ..Question::default()
            },
            value: |reply| Ok(reply.clone()),
        }
    }

    /// Creates a question for the fields of a type.
    pub fn of<T>(instruction: impl Into<String>) -> Ask<T>
    where
        T: JsonSchema + DeserializeOwned + 'static,
    {
        let Self { question, .. } = Self::new(instruction).with_fields_of::<T>();
        let ask = Ask {
            question,
            value: StageReply::value::<T>,
        };
        // A reply is only usable if it is a value of the type.
        ask.with_check(|_| Ok(()))
    }
}

impl<T: 'static> Ask<T> {
    /// Sets the name that distinguishes the question from others that are asked at the same time.
    /// The default is empty.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.question.name = name.into();
        self
    }

    /// Adds the fields of a type.
    #[must_use]
    pub(crate) fn with_fields_of<F: JsonSchema + DeserializeOwned>(mut self) -> Self {
        let keys = AnswerKey::of::<F>().into_iter();
        let fields = keys.filter(|key| key.name() != THOUGHT);
        fields.for_each(|key| self.question.form.add(key));
        self
    }

    /// Adds a field to the form. It replaces a field of the same name.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, parameter: Parameter) -> Self {
        let name = name.into();
        let form = &mut self.question.form;
        // A choice may be a word such as `none`.
        if parameter.schema.get("enum").is_some() {
            form.literal.push(name.clone());
        }
        form.add(parameter.key(&name));
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

    /// Changes what is asked for in a field, if there is one of this name.
    #[must_use]
    pub(crate) fn narrowed(
        mut self,
        name: &str,
        narrowed: impl FnOnce(AnswerKey) -> AnswerKey,
    ) -> Self {
        if let Some(key) = self.question.form.key_mut(name) {
            *key = narrowed(key.clone());
        }
        self
    }

    /// Asks for one of these values in a field.
    #[must_use]
    pub(crate) fn choosing<V: Into<Value>>(
        self,
        name: &str,
        choices: impl IntoIterator<Item = V>,
    ) -> Self {
        let choices: Vec<Value> = choices.into_iter().map(Into::into).collect();
        self.narrowed(name, |key| key.offering(&json!({"enum": choices})))
    }

    /// Reads a text such as `none` as a value of this field, even if the field may be left out.
    #[must_use]
    pub(crate) fn with_literal(mut self, field: impl Into<String>) -> Self {
        self.question.form.literal.push(field.into());
        self
    }

    /// Reads a text such as `none` as an answer, if the problem offers it as a choice.
    #[must_use]
    pub(crate) fn with_offered_answers(self, problem: &str) -> Self {
        // The same words that say elsewhere that there is no value.
        let mut words = ["none", "n/a", "na", "null"].iter();
        match words.any(|word| is_offered(word, problem)) {
            true => self.with_literal(ANSWER),
            false => self,
        }
    }

    /// Asks for the answer to the problem in the field `answer`. A refusal, or a text such as `N/A`,
    /// isn't one; see [`no_answer`]. What is kept of the limits for the
    /// [conclusion](cogwork_typed::ask::Limits) may be used for this question.
    #[must_use]
    pub fn answering(self, problem: &str) -> Self {
        let problem = problem.to_owned();
        self.for_answer()
            .checked(move |reply| check_answer("`answer`", reply.field(ANSWER), &problem))
    }

    /// Declares that the reply is the answer to the problem.
    #[must_use]
    pub(crate) fn for_answer(mut self) -> Self {
        self.question.is_answer = true;
        self
    }

    /// Reads a reply without labels only if it [states](cogwork_typed::ask::stated_answer) its answer.
    #[must_use]
    pub(crate) fn with_stated_answer(mut self) -> Self {
        self.question.form.is_stated = true;
        self
    }

    /// Sets the description of a form that the strategy reads by itself. It is only added to a
    /// question for a text.
    #[must_use]
    pub(crate) fn with_text_form(mut self, form: &'static str) -> Self {
        self.question.text_form = form;
        self
    }

    /// Sets different fields for a reply in JSON.
    #[must_use]
    pub(crate) fn with_json_fields(mut self, keys: Vec<AnswerKey>) -> Self {
        self.question.json_form = Some(Form {
            keys,
            ..Form::default()
        });
        self
    }

    /// Adds a check for what the form can't express, such as whether a name exists.
    ///
    /// If the check fails, its message is sent to the model, which is asked again like for any
    /// other unusable reply. Replies that call tools aren't checked.
    #[must_use]
    pub fn with_check(
        self,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let value = self.value;
        self.checked(move |reply| check(&value(reply)?))
    }

    fn checked(
        mut self,
        check: impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.question.checks.push(Arc::new(check));
        self
    }

    /// Asks the model in a field `next` which of these stages comes next, if there is more than one.
    #[must_use]
    pub fn with_next<'a>(mut self, stages: impl IntoIterator<Item = &'a Stage>) -> Self {
        let told = |stage: &Stage| (stage.name.to_owned(), stage.description.to_owned());
        let stages: Vec<_> = stages.into_iter().map(told).collect();
        self.question.form.next = if stages.len() > 1 { stages } else { Vec::new() };
        self
    }

    /// Sets the sampling temperature. The default is that of the solver's request.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.question.temperature = Some(temperature);
        self
    }

    /// Sets the tools that the model may call instead of writing the fields. The client must
    /// support [tools](cogwork_llm::backend::Capability::Tools).
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.question.tools = tools.into_iter().collect();
        self
    }

    /// Reads a reply that was requested on a format.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem for the model.
    pub fn read_on(&self, format: Format, reply: &str) -> Result<T, String> {
        (self.value)(&self.question.read(format, reply)?)
    }
}

/// Checks that a text is an answer to the problem. `what` is the text, such as `the reply`.
pub(crate) fn check_answer(what: &str, text: &str, problem: &str) -> Result<(), String> {
    match no_answer(text, problem) {
        Some(reason) => Err(format!("{what} {reason}")),
        None => Ok(()),
    }
}
