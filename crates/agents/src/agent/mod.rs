//! A visit of an agent: prep, exec, post.

mod approval;
mod attempt;
mod attempted;
mod choice;
mod error;
mod generation;
mod question;
mod recorded;

pub use error::{AgentError, AgentErrorKind};

use std::fmt;
use std::sync::Arc;

use cogwork_flow::{Action, Node, Operation};
use cogwork_llm::{ChatRequest, LlmClient, Message, Messages};
use cogwork_thinking::{Recall, Thinking, ThinkingMode};
use cogwork_tools::Tools;
use cogwork_typed::ask::{Spent, Try};
use serde::{Deserialize, Serialize};

use crate::load::LoadedSecrets;
use crate::state::Failures;
use crate::{FlowState, Output, Template, Visit};
use approval::Approval;
use attempt::Attempt;
use attempted::Attempted;
use choice::Choice;
use recorded::RecordedClient;

/// A model with a role, as a node of a flow over [`FlowState`]. The model may call tools, and its
/// answer is the output of the node.
///
/// By default, the prompt is the last output; [`with_prompt`](Self::with_prompt) sets a
/// [`Template`]. The node leaves by [`Action::DEFAULT`], or by the [action](Self::with_actions)
/// that the model chooses.
///
/// - **Tools.** If the model calls tools, they are run (concurrently, if there are several calls)
///   and the model is asked again with their results, at most [8 times](Self::with_tool_rounds) by
///   default. A failed call is also a result.
/// - **Thinking** applies to the whole visit, not to each call: hooks see the question and the
///   answer after all tool calls, and the memory is searched once.
/// - **Streamed replies** are passed to the events of the run piece by piece, including drafts.
///
/// A reply that is cut off by the token limit or a filter is still an answer. Its output is marked
/// as [`truncated`](Output::truncated), and the program decides whether to accept it.
///
/// - **Approval.** Calls of some tools can [wait](Self::with_approval) for a person's approval.
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
#[derive(Clone)]
pub struct Agent {
    id: Arc<str>,
    thinking: Thinking<Arc<dyn LlmClient>>,
    request: ChatRequest,
    role: Option<String>,
    prompt: Template,
    tools: Tools,
    tool_rounds: u32,
    asks_again: u32,
    choice: Choice,
    approval: Approval,
}

/// The result of a visit of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentAnswer {
    output: Output,
    action: Action,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tries: Vec<Try>,
    #[serde(default, skip_serializing_if = "Spent::is_zero")]
    spent: Spent,
}

impl AgentAnswer {
    fn new(output: Output, action: Action) -> Self {
        Self {
            output,
            action,
            tries: Vec::new(),
            spent: Spent::default(),
        }
    }

    /// Adds what the attempt did and what it cost.
    fn after(mut self, attempted: Attempted) -> Self {
        self.output.tools = attempted.tools;
        self.output.calls = attempted.spent.calls;
        self.output.usage = attempted.spent.usage;
        self.tries = attempted.tries;
        self.spent = attempted.spent;
        self
    }
}

/// The input of a visit.
#[derive(Debug)]
pub struct AgentQuestion {
    request: ChatRequest,
    /// Where to keep a failed attempt, which has no access to the state.
    failures: Failures,
}

impl Agent {
    /// Creates an agent that asks `client`. Its answer is stored in the state under `id`, which
    /// should be the id of the node.
    pub fn new(id: impl Into<Arc<str>>, client: impl LlmClient + 'static) -> Self {
        Self {
            id: id.into(),
            thinking: Thinking::new(Arc::new(RecordedClient::new(client))),
            request: ChatRequest::default(),
            role: None,
            prompt: Template::default(),
            tools: Tools::new(),
            tool_rounds: 8,
            asks_again: 2,
            choice: Choice::default(),
            approval: Approval::default(),
        }
    }

    /// Sets the role: the system text of every request. The default is none.
    #[must_use]
    pub fn with_role(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// Sets the prompt. The default is `{last}`, the last output.
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
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the tools whose calls need a person's approval. The default is none.
    ///
    /// The run needs a journal. Before such a call, it [pauses](cogwork_flow::RunError::paused) once
    /// all other calls of the same reply are complete. The event of the pause is unique to the call,
    /// and the reason contains the tool and its arguments, of which at most 4,000 characters. The
    /// answer is a [`ToolApproval`](crate::ToolApproval), or simply `true` or `false`. If the call is refused, the model
    /// receives the error `refused by a person` with the person's reason, and continues.
    ///
    /// Calls with arguments that aren't a JSON object fail without a question.
    ///
    /// ```
    /// use cogwork_agents::{Agent, FlowState, ToolApproval, Tools};
    /// use cogwork_flow::journal::MemoryJournal;
    /// use cogwork_flow::Flow;
    /// use cogwork_llm::{ChatResponse, ScriptedClient, ToolCall};
    /// use cogwork_tools::{ToolError, function};
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
    /// let agent = Agent::new("clerk", script).with_tools(Tools::new().with(send)?).with_approval(["send"]);
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
    pub fn with_approval<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.approval.tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the maximum number of rounds of tool calls in a visit. The default is 8.
    #[must_use]
    pub fn with_tool_rounds(mut self, rounds: u32) -> Self {
        self.tool_rounds = rounds;
        self
    }

    /// Sets how often the model is asked again when a reply is empty or doesn't name an
    /// [action](Self::with_actions). The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
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

    /// Sets the actions to choose from. The default is [`Action::DEFAULT`] alone, without a choice.
    ///
    /// The model is instructed to end its reply with a line `ACTION: <label>`, which is removed
    /// from the text. If the reply doesn't name an action, the model is asked
    /// [again](Self::with_asks_again). If it still doesn't, the action is `default` if that is one
    /// of the actions; otherwise, the visit fails.
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        self.choice = Choice::of(actions.into_iter().map(Into::into).collect());
        self
    }

    /// Hides secrets in what a person is asked.
    pub(crate) fn with_secrets(mut self, secrets: LoadedSecrets) -> Self {
        self.approval.secrets = secrets;
        self
    }

    fn conversation(&self, asked: &Output) -> Messages {
        let told = [self.role.clone(), self.choice.instructions()];
        let system = told.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        let system = Some(system)
            .filter(|text| !text.is_empty())
            .map(Message::system);
        let user = Message::user(asked.text.as_str()).with_blocks(asked.blocks.iter().cloned());

        system.into_iter().chain([user]).collect()
    }
}

impl Node<FlowState> for Agent {
    type Prep = AgentQuestion;
    type Exec = AgentAnswer;
    type Error = AgentError;

    fn actions(&self) -> Vec<Action> {
        self.choice.actions()
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn operation(&self) -> Operation {
        Operation::Agent {
            name: self.id.to_string(),
        }
    }

    fn prep(&self, state: &mut FlowState) -> Result<AgentQuestion, AgentError> {
        let asked = self
            .prompt
            .fill(state)
            .map_err(|error| AgentErrorKind::Prompt(error.of("`prompt`")))?;
        if asked.text.trim().is_empty() && asked.blocks.is_empty() {
            return Err(AgentErrorKind::NothingAsked.into());
        }
        self.tools.ready().map_err(AgentErrorKind::NotReady)?;

        let request = self
            .request
            .clone()
            .with_messages(self.conversation(&asked));
        // The same visit begins again, unless this is another one.
        state.failures_to_keep().resume(&self.id);

        Ok(AgentQuestion {
            request: request.with_tools(self.tools.definitions()),
            failures: state.failures_to_keep(),
        })
    }

    async fn exec(&self, question: &AgentQuestion) -> Result<AgentAnswer, AgentError> {
        let attempt = Attempt::new(&self.id, &question.failures);
        let request = question.request.clone();

        match self.generate(request, &attempt).await {
            Ok(answer) => Ok(answer.after(attempt.succeed())),
            Err(kind) => Err(attempt.fail(kind)),
        }
    }

    fn post(
        &self,
        state: &mut FlowState,
        _: AgentQuestion,
        answer: AgentAnswer,
    ) -> Result<Action, AgentError> {
        let visit = Visit::answered(&self.id, answer.output).with_tries(answer.tries);
        state.put_visit(visit.with_spent(answer.spent));
        Ok(answer.action)
    }
}

impl fmt::Debug for Agent {
    /// Omits the texts, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.id)
            .field("tools", &self.tools)
            .field("actions", &self.choice.actions())
            .finish_non_exhaustive()
    }
}
