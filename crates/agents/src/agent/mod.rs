//! A visit of an agent: prep, exec, post.

mod attempt;
mod error;
mod expected;

pub use error::{AgentError, AgentErrorKind};

use std::fmt;
use std::sync::Arc;

use cogwork_flow::engine::Operation;
use cogwork_flow::{Action, Node};
use cogwork_llm::{ChatRequest, LlmClient, Message};
use cogwork_text::check_by_schema;
use cogwork_thinking::memory::Recall;
use cogwork_thinking::{Thinking, ThinkingMode};
use cogwork_tools::Tools;
use cogwork_typed::AnswerReader;
use cogwork_typed::ask::{Format, Limits, Meter, RefusedFormats, Spent};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::choice::Choice;
use crate::{FlowState, Template, Visit};
use expected::Expected;

/// A model with a role and tools, as a node over a [`FlowState`], in which its answer is the output
/// of the node. Over any other state, use a [`Model`](cogwork_typed::Model), which has instructions,
/// tools and typed answers.
///
/// The prompt is the last output; [`with_prompt`](Self::with_prompt) sets a [`Template`]. The node
/// leaves by [`Action::DEFAULT`], or by the [action](Self::with_actions) that the model chooses.
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
/// them. If a call failed or a limit was reached, only failed calls are made again; a visit whose
/// replies couldn't be used is repeated as a whole. Calls that a hook makes through a client of its
/// own aren't recorded, and the memory is searched again; if the request then differs, the model is
/// asked again.
///
/// # Errors of a run
///
/// Returns an [`AgentError`] if a call to the model fails, or if the model keeps returning empty
/// replies, calling tools, or not naming an action. The error contains every reply of the visit and
/// its cost, which the state doesn't. Earlier outputs stay in the state.
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
#[derive(Clone)]
pub struct Agent {
    id: Arc<str>,
    thinking: Thinking,
    request: ChatRequest,
    role: Option<String>,
    prompt: Template,
    tools: Tools,
    tool_rounds: u32,
    asks_again: u32,
    limits: Limits,
    /// The formats of replies that the server has refused.
    refused: RefusedFormats,
    expected: Expected,
}

/// The result of a visit of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentAnswer {
    visit: Visit,
    action: Action,
}

impl Agent {
    /// Creates an agent that asks `client`. Its answer is stored in the state under `id`, which
    /// should be the id of the node.
    pub fn new(id: impl Into<Arc<str>>, client: impl LlmClient + 'static) -> Self {
        Self {
            id: id.into(),
            thinking: Thinking::new(client),
            request: ChatRequest::default(),
            role: None,
            prompt: Template::default(),
            tools: Tools::new(),
            tool_rounds: 8,
            asks_again: 2,
            limits: Limits::default(),
            refused: RefusedFormats::default(),
            expected: Expected::default(),
        }
    }

    /// Expects a value that a JSON Schema describes in place of a text.
    #[must_use]
    pub(crate) fn with_output(mut self, schema: &Json) -> Self {
        let reader = AnswerReader::of_schema(schema);
        let schema = schema.clone();
        let reader = reader.with_check(move |value| check_by_schema(&schema, value));
        self.expected.value = Some(reader);
        self
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

    /// Sets the role: the system text of every request. The default is none.
    #[must_use]
    pub fn with_role(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// Sets the prompt for a flow over a [`FlowState`]. The default is `{last}`, the last output.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Template) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets the options of every request, such as the maximum number of tokens and the temperature.
    /// Its messages and tools are ignored. The default leaves all options to the client.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = request;
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
        self.tools = tools;
        self
    }

    /// Sets the maximum number of rounds of tool calls in a visit. The default is 8.
    #[must_use]
    pub fn with_tool_rounds(mut self, rounds: u32) -> Self {
        self.tool_rounds = rounds;
        self
    }

    /// Sets how often the model is asked again when a reply is empty, can't be read, or doesn't name
    /// an [action](Agent::with_actions). The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Sets the limits of a visit on calls, tokens, bytes and time, which include tools and thinking
    /// modes. A visit that reaches one fails. Unlimited by default.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a thinking mode after the existing ones. The default is none.
    #[must_use]
    pub fn with_mode(mut self, mode: impl ThinkingMode + 'static) -> Self {
        self.thinking = self.thinking.with_mode(mode);
        self
    }

    /// Sets the memory, which is searched once per visit with the prompt. The default is none.
    #[must_use]
    pub fn with_memory(mut self, memory: impl Into<Recall>) -> Self {
        self.thinking = self.thinking.with_memory(memory);
        self
    }

    /// Returns the request of a visit that asks this.
    fn request(&self, asked: Message) -> Result<ChatRequest, AgentErrorKind> {
        if asked.text().trim().is_empty() && asked.blocks().is_empty() {
            return Err(AgentErrorKind::NothingAsked);
        }

        // A model that is asked before would see a tool without its description.
        self.tools.ready().map_err(AgentErrorKind::NotReady)?;

        let formats = self.formats(!self.tools.is_empty());
        let instructions = self.expected.instructions(&formats);
        // One system message, because some servers accept no second one.
        let told = [self.role.clone(), instructions];
        let system = told.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        let system = Some(system).filter(|text| !text.is_empty());
        let messages = system.map(Message::system).into_iter().chain([asked]);

        let request = self.request.clone().with_messages(messages.collect());
        Ok(request.with_tools(self.tools.definitions()))
    }

    fn formats(&self, has_tools: bool) -> Vec<Format> {
        let capabilities = self.thinking.client().capabilities();
        self.expected.formats(capabilities, has_tools)
    }
}

impl Node<FlowState> for Agent {
    type Prep = (ChatRequest, Arc<Meter>);
    type Exec = AgentAnswer;
    type Error = AgentError;

    fn actions(&self) -> Vec<Action> {
        self.expected.choice.actions()
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn operation(&self) -> Operation {
        Operation::Agent {
            name: self.id.to_string(),
        }
    }

    fn prep(&self, state: &mut FlowState) -> Result<Self::Prep, AgentError> {
        let asked = self.prompt.fill_as("`prompt`", state);
        let asked = asked.map_err(AgentErrorKind::Prompt)?;
        let asked = Message::user(asked.text).with_blocks(asked.blocks);

        // Attempts of a retry that fail count for the limits, too.
        let meter = Meter::new(self.limits, Spent::default());
        Ok((self.request(asked)?, Arc::new(meter)))
    }

    async fn exec(&self, (request, meter): &Self::Prep) -> Result<AgentAnswer, AgentError> {
        self.visit(request, meter).await
    }

    fn post(
        &self,
        state: &mut FlowState,
        _: Self::Prep,
        AgentAnswer { visit, action }: AgentAnswer,
    ) -> Result<Action, AgentError> {
        state.put_visit(visit);
        Ok(action)
    }
}

impl fmt::Debug for Agent {
    /// Omits the texts, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.id)
            .field("tools", &self.tools)
            .field("actions", &self.actions())
            .finish_non_exhaustive()
    }
}
