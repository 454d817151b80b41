//! A visit of an agent: prep, exec, post.

mod attempt;
mod error;
mod expected;
mod node;

pub use error::{AgentError, AgentErrorKind};
pub use node::AgentNode;

use std::fmt;
use std::sync::Arc;

use cogwork_flow::IntoAction;
use cogwork_flow::engine::Operation;
use cogwork_flow::{Action, Node};
use cogwork_llm::{ChatRequest, LlmClient, Message, Messages};
use cogwork_text::check_by_schema;
use cogwork_thinking::memory::Recall;
use cogwork_thinking::{Thinking, ThinkingMode};
use cogwork_tools::Tools;
use cogwork_typed::ask::{Format, RefusedFormats};
use cogwork_typed::{AnswerReader, Prompt};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::choice::Choice;
use crate::state::Failed;
use crate::{FlowState, Template, Visit};
use expected::Expected;

/// A model with a role and tools, as a node of a flow. Its answer is a text, or a value of a
/// [type](Self::with_output).
///
/// [`node`](Self::node) makes a node over any state. Over a [`FlowState`], as in files, the agent
/// itself is a node, whose answer is the output of the node.
///
/// Over a `FlowState`, the prompt is the last output; [`with_prompt`](Self::with_prompt) sets a
/// [`Template`]. The node leaves by [`Action::DEFAULT`], or by the [action](Self::with_actions)
/// that the model chooses.
///
/// - **Tools.** If the model calls tools, they are run (concurrently, if there are several calls)
///   and the model is asked again with their results, at most [8 times](Self::with_tool_rounds) by
///   default; then it has to answer without further calls. A failed call is also a result. Calls can
///   wait for a person's [approval](Tools::with_approval).
/// - **Thinking** applies to the whole visit, not to each call: hooks see the question and the
///   answer after all tool calls, and the memory is searched once.
/// - **Streamed replies** are passed to the events of the run piece by piece, including drafts.
///
/// A reply that is cut off by the token limit or a filter is still an answer. Its output is marked
/// as [`truncated`](crate::Output::truncated), and the program decides whether to accept it.
///
/// A visit is one step of a run. In a run with a journal, each reply of the agent's client (also to
/// hooks) and each result of a tool is recorded, and a run that stops during a visit repeats none of
/// them. A visit that failed is repeated as a whole. Calls that a hook makes through a client of its
/// own aren't recorded, and the memory is searched again; if the request then differs, the model is
/// asked again.
///
/// # Errors of a run
///
/// Returns an [`AgentError`] if a call to the model fails, or if the model keeps returning empty
/// replies, calling tools, or not naming an action. The error contains every reply of the visit, and
/// so does the state: see [`FlowState::failures`]. Earlier outputs stay in the state.
///
/// # Example
///
/// ```
/// use cogwork_agents::{Agent, FlowState};
/// use cogwork_flow::Flow;
/// use cogwork_llm::ScriptedClient;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = ScriptedClient::new(["Green leaves fall.", "Too short.\n\nACTION: revise", "Leaves fall, green to gold.", "Good.\n\nACTION: accept"]);
/// let flow = Flow::builder("haiku")
///     .start("poet")
///     .node("poet", Agent::new("poet", script.clone()).with_role("You write about what you are told."))
///     .node("critic", Agent::new("critic", script.clone()).with_actions(["accept", "revise"]))
///     .edge("poet", "default", "critic")
///     .edge("critic", "revise", "poet")
///     .end("critic", "accept")
///     .build()?;
///
/// let mut state = FlowState::new("Autumn");
/// flow.run(&mut state).await?;
/// assert_eq!(state.output("poet").map(|said| said.text.as_str()), Some("Leaves fall, green to gold."));
/// assert_eq!(state.last().text, "Good.");
/// # Ok(())
/// # }
/// ```
pub struct Agent<T = String> {
    settings: Settings,
    expected: Expected<T>,
}

/// What doesn't depend on the type of the answer.
#[derive(Clone)]
struct Settings {
    id: Arc<str>,
    thinking: Thinking,
    request: ChatRequest,
    role: Option<String>,
    prompt: Template,
    tools: Tools,
    tool_rounds: u32,
    asks_again: u32,
    /// The formats of replies that the server has refused.
    refused: RefusedFormats,
}

/// The result of a visit of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentAnswer {
    visit: Visit,
    action: Action,
}

/// The input of a visit.
#[derive(Debug)]
pub struct AgentQuestion {
    request: ChatRequest,
    failed: Failed,
}

impl Agent<String> {
    /// Creates an agent that asks `client`. Its answer is stored in the state under `id`, which
    /// should be the id of the node.
    pub fn new(id: impl Into<Arc<str>>, client: impl LlmClient + 'static) -> Self {
        Self {
            settings: Settings {
                id: id.into(),
                thinking: Thinking::new(client),
                request: ChatRequest::default(),
                role: None,
                prompt: Template::default(),
                tools: Tools::new(),
                tool_rounds: 8,
                asks_again: 2,
                refused: RefusedFormats::default(),
            },
            expected: Expected {
                reader: AnswerReader::text(),
                choice: Choice::default(),
            },
        }
    }

    /// Expects a value of this type in place of a text.
    ///
    /// The model is told what the value consists of, and the server enforces its JSON Schema if it
    /// can and if there are no tools. A reply is read as by
    /// [`AnswerReader`](cogwork_typed::AnswerReader). If it can't be read, the model is asked
    /// [again](Self::with_asks_again).
    #[must_use]
    pub fn with_output<T: JsonSchema + DeserializeOwned + Send + 'static>(self) -> Agent<T> {
        self.expecting(AnswerReader::new())
    }

    /// Expects a value that a JSON Schema describes in place of a text.
    #[must_use]
    pub(crate) fn with_output_of(self, schema: &Json) -> Agent<Json> {
        let reader = AnswerReader::of_schema(schema);
        let schema = schema.clone();
        self.expecting(reader.with_check(move |value| check_by_schema(&schema, value)))
    }

    fn expecting<T>(self, reader: AnswerReader<T>) -> Agent<T> {
        Agent {
            settings: self.settings,
            expected: Expected {
                reader,
                choice: Choice::default(),
            },
        }
    }

    /// Sets the actions to choose from. The default is [`Action::DEFAULT`] alone, without a choice.
    ///
    /// The model is instructed to end its reply with a line `ACTION: <label>`, which is removed
    /// from the text. If the reply doesn't name an action, the model is asked
    /// [again](Self::with_asks_again). If it still doesn't, the action is `default` if that is one
    /// of the actions; otherwise, the visit fails.
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        let actions = actions.into_iter().map(Into::into).collect();
        self.expected.choice = Choice(actions);
        self
    }
}

impl<T> Agent<T> {
    /// Sets the role: the system text of every request. The default is none.
    #[must_use]
    pub fn with_role(mut self, role: impl Into<String>) -> Self {
        self.settings.role = Some(role.into());
        self
    }

    /// Sets the prompt for a flow over a [`FlowState`]. The default is `{last}`, the last output.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Template) -> Self {
        self.settings.prompt = prompt;
        self
    }

    /// Sets the options of every request, such as the maximum number of tokens and the temperature.
    /// Its messages and tools are ignored. The default leaves all options to the client.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.settings.request = request;
        self
    }

    /// Sets the tools that the model may call. The default is none.
    ///
    /// ```
    /// use cogwork_agents::{Agent, FlowState};
    /// use cogwork_flow::Flow;
    /// use cogwork_flow::engine::MemoryJournal;
    /// use cogwork_llm::{ChatResponse, ScriptedClient, ToolCall};
    /// use cogwork_tools::{ToolApproval, ToolError, Tools, function};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Mail { to: String }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let send = function("send", "Sends a mail.", |mail: Mail| async move {
    ///     Ok::<_, ToolError>(format!("sent to {}", mail.to))
    /// });
    /// let call = ChatResponse::new("").with_tool_calls([ToolCall::new("1", "send", r#"{"to": "Ada"}"#)]);
    /// let script = ScriptedClient::default().then(call).then("Ada doesn't want mail.");
    /// let agent = Agent::new("clerk", script).with_tools(Tools::new().with(send)?.with_approval(["send"])?);
    /// let flow = Flow::builder("office").start("clerk").node("clerk", agent).end("clerk", "default").build()?;
    ///
    /// let mut state = FlowState::new("Write to Ada.");
    /// let mut run = flow.begin().with_journal(MemoryJournal::new("7"));
    /// let paused = run.finish(&mut state).await.unwrap_err().into_paused()?;
    /// assert_eq!(paused.event, "approve send 1.1 at office/clerk#1.1");
    /// assert_eq!(paused.why, r#"the agent wants to call the tool `send` with {"to":"Ada"}"#);
    ///
    /// run.deliver(&paused.event, &ToolApproval::refused().with_reason("no mail to Ada")).await?;
    /// run.finish(&mut state).await?;
    /// assert_eq!(state.last().tools[0].result, "refused by a person: no mail to Ada");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.settings.tools = tools;
        self
    }

    /// Sets the maximum number of rounds of tool calls in a visit. The default is 8.
    #[must_use]
    pub fn with_tool_rounds(mut self, rounds: u32) -> Self {
        self.settings.tool_rounds = rounds;
        self
    }

    /// Sets how often the model is asked again when a reply is empty, can't be read, or doesn't name
    /// an [action](Agent::with_actions). The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.settings.asks_again = times;
        self
    }

    /// Adds a thinking mode after the existing ones. The default is none.
    #[must_use]
    pub fn with_mode(mut self, mode: impl ThinkingMode + 'static) -> Self {
        self.settings.thinking = self.settings.thinking.with_mode(mode);
        self
    }

    /// Sets the memory, which is searched once per visit with the prompt. The default is none.
    #[must_use]
    pub fn with_memory(mut self, memory: impl Into<Recall>) -> Self {
        self.settings.thinking = self.settings.thinking.with_memory(memory);
        self
    }

    /// Creates a node over any state. It takes the prompt from the state, and stores the answer in
    /// it. `store` may return an action; the node then must [declare](AgentNode::with_actions) it.
    ///
    /// ```
    /// use cogwork_agents::Agent;
    /// use cogwork_flow::Flow;
    /// use cogwork_llm::ScriptedClient;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Decision { refund: bool, letter: String }
    ///
    /// #[derive(Default)]
    /// struct Ticket { text: String, decision: Option<Decision> }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = ScriptedClient::new([r#"{"refund": true, "letter": "We are sorry."}"#]);
    /// let clerk = Agent::new("clerk", client)
    ///     .with_role("You decide about complaints.")
    ///     .with_output::<Decision>()
    ///     .node(|ticket: &Ticket| ticket.text.clone(), |ticket, decision| ticket.decision = Some(decision));
    ///
    /// let mut ticket = Ticket { text: "The cup is broken.".to_owned(), ..Ticket::default() };
    /// Flow::from_node("clerk", clerk)?.run(&mut ticket).await?;
    /// assert!(ticket.decision.unwrap().refund);
    /// # Ok(())
    /// # }
    /// ```
    pub fn node<S, P, R>(
        self,
        prompt: impl Fn(&S) -> P + Send + Sync + 'static,
        store: impl Fn(&mut S, T) -> R + Send + Sync + 'static,
    ) -> AgentNode<S, T>
    where
        P: Into<Prompt>,
        R: IntoAction,
    {
        AgentNode::new(
            self,
            // Boxed, so that the type of the node doesn't contain those of the functions.
            Arc::new(move |state| prompt(state).into()),
            Arc::new(move |state, value| store(state, value).into_result()),
        )
    }

    fn actions(&self) -> Vec<Action> {
        self.expected.choice.actions()
    }

    fn operation(&self) -> Operation {
        Operation::Agent {
            name: self.settings.id.to_string(),
        }
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Agent<T> {
    /// Returns the question with this conversation, which ends with what is asked.
    fn question(&self, asked: &Messages, failed: Failed) -> Result<AgentQuestion, AgentErrorKind> {
        let is_blank =
            |message: &Message| message.text().trim().is_empty() && message.blocks().is_empty();
        if asked.last().is_none_or(is_blank) {
            return Err(AgentErrorKind::NothingAsked);
        }

        // A model that is asked before would see a tool without its description.
        let settings = &self.settings;
        settings.tools.ready().map_err(AgentErrorKind::NotReady)?;

        let formats = self.formats(!settings.tools.is_empty());
        let instructions = self.expected.instructions(&formats);
        // One system message, because some servers accept no second one.
        let told = [settings.role.clone(), instructions];
        let system = told.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        let system = Some(system).filter(|text| !text.is_empty());
        let messages = system.map(Message::system).into_iter();
        let messages: Messages = messages.chain(asked.iter().cloned()).collect();

        let request = settings.request.clone().with_messages(messages);
        Ok(AgentQuestion {
            request: request.with_tools(settings.tools.definitions()),
            failed,
        })
    }

    fn formats(&self, has_tools: bool) -> Vec<Format> {
        let capabilities = self.settings.thinking.client().capabilities();
        self.expected.formats(capabilities, has_tools)
    }
}

impl<T> Node<FlowState> for Agent<T>
where
    T: JsonSchema + Serialize + DeserializeOwned + Send + 'static,
{
    type Prep = AgentQuestion;
    type Exec = AgentAnswer;
    type Error = AgentError;

    fn actions(&self) -> Vec<Action> {
        self.actions()
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn operation(&self) -> Operation {
        self.operation()
    }

    fn prep(&self, state: &mut FlowState) -> Result<AgentQuestion, AgentError> {
        let asked = self
            .settings
            .prompt
            .fill(state)
            .map_err(|error| AgentErrorKind::Prompt(error.of("`prompt`")))?;
        let asked = Message::user(asked.text).with_blocks(asked.blocks);

        let asked = [asked].into_iter().collect();
        Ok(self.question(&asked, state.failed())?)
    }

    async fn exec(&self, question: &AgentQuestion) -> Result<AgentAnswer, AgentError> {
        self.visit(question).await
    }

    fn post(
        &self,
        state: &mut FlowState,
        _: AgentQuestion,
        AgentAnswer { mut visit, action }: AgentAnswer,
    ) -> Result<Action, AgentError> {
        // A reply stays as it is if its value can't be written as JSON.
        if let Some(output) = &mut visit.output
            && let Ok(value) = serde_json::to_value(self.expected.read(&output.text)?.value)
        {
            output.text = match value {
                Json::String(text) => text,
                value => value.to_string(),
            };
        }

        state.put_visit(visit);
        Ok(action)
    }
}

impl<T> Clone for Agent<T> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            expected: self.expected.clone(),
        }
    }
}

impl<T> fmt::Debug for Agent<T> {
    /// Omits the texts, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.settings.id)
            .field("tools", &self.settings.tools)
            .field("actions", &self.actions())
            .finish_non_exhaustive()
    }
}
