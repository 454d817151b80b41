//! One visit of an agent: prep, exec, post.

mod choice;
mod error;
mod generation;
mod question;

pub use error::AgentError;

use std::fmt;
use std::sync::Arc;

use cogwork_flow::{Action, Node};
use cogwork_llm::{ChatRequest, LlmClient, Message, Messages};
use cogwork_thinking::{ModeLimits, Recall, Thinking, ThinkingMode};
use cogwork_tools::Tools;
use serde::{Deserialize, Serialize};

use crate::{FlowState, Output, Template};
use choice::Choice;

/// A model with a role, as a node of a flow over [`FlowState`]: it is asked, may call tools, and its answer
/// is what the node says.
///
/// It is asked with what was said last, or with a [`Template`]. It leaves by [`Action::DEFAULT`], or by the
/// [action](Self::with_actions) that it chooses.
///
/// - **Tools.** While the model calls tools they are run, side by side where it calls several at once, and it
///   is asked again with what they gave: at most [8 times](Self::with_tool_rounds). A call that fails is an answer too.
/// - **Thinking** is around the visit and not around each call of it: hooks see the question and the answer, with
///   all calls of tools between them done, and the memory is searched once.
/// - **A reply that streams** is told piece by piece to those who watch the run, drafts too.
///
/// A reply that is cut off, at the limit of tokens or by a filter, is an answer still, and its output says so
/// ([`Output::truncated`]): whether half an answer will do is for the program to say.
///
/// A visit is one step of a run. Where a run that is on record breaks off inside it, the visit begins again
/// from its start, and so do its tools.
///
/// # Errors of a run
///
/// An [`AgentError`]: a call to the model fails, the model says nothing, calls tools without end, or names no
/// action. What was said before stays in the state.
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
}

/// What an agent brings back from a visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentAnswer {
    output: Output,
    action: Action,
}

impl Agent {
    /// An agent that asks this client. `id` is the name under which its answer is kept in the state, best
    /// that of the node.
    pub fn new(id: impl Into<Arc<str>>, client: impl LlmClient + 'static) -> Self {
        Self {
            id: id.into(),
            thinking: Thinking::new(Arc::new(client)),
            request: ChatRequest::default(),
            role: None,
            prompt: Template::default(),
            tools: Tools::new(),
            tool_rounds: 8,
            asks_again: 2,
            choice: Choice::default(),
        }
    }

    /// Who the agent is and what it does: the system text of every request. Default: none.
    #[must_use]
    pub fn with_role(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// What it is asked. Default: `{last}`, what was said last.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Template) -> Self {
        self.prompt = prompt;
        self
    }

    /// The settings of every request: tokens of a reply, temperature and so on. Its messages and tools are
    /// not used. Default: all left to the client.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = request;
        self
    }

    /// The tools it may call. Default: none.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// How often in a visit the model may call tools before it has to answer. Default: 8.
    #[must_use]
    pub fn with_tool_rounds(mut self, rounds: u32) -> Self {
        self.tool_rounds = rounds;
        self
    }

    /// Sets how often the model is asked again when a reply is empty or names no
    /// [action](Self::with_actions). The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Adds a way of thinking behind those there are. Default: none.
    #[must_use]
    pub fn with_mode(mut self, mode: impl ThinkingMode + 'static) -> Self {
        self.thinking = self.thinking.with_mode(mode);
        self
    }

    /// What the hooks of a visit may take. Default: that of [`ModeLimits`].
    #[must_use]
    pub fn with_thinking_limits(mut self, limits: ModeLimits) -> Self {
        self.thinking = self.thinking.with_limits(limits);
        self
    }

    /// The memory that is searched once a visit, with what the agent is asked. Default: none.
    #[must_use]
    pub fn with_memory(mut self, memory: impl Into<Recall>) -> Self {
        self.thinking = self.thinking.with_memory(memory);
        self
    }

    /// The actions it chooses from. Default: [`Action::DEFAULT`] alone, and nothing is chosen.
    ///
    /// The model is told to end its reply with a line `ACTION: <label>`, which is removed from the
    /// text. If it names no action, it is asked for the line [again](Self::with_asks_again). If it still
    /// names none, the action is `default` if that is one of them; otherwise, the visit fails.
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        self.choice = Choice::of(actions.into_iter().map(Into::into).collect());
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
    type Prep = ChatRequest;
    type Exec = AgentAnswer;
    type Error = AgentError;

    fn actions(&self) -> Vec<Action> {
        self.choice.actions()
    }

    fn prep(&self, state: &mut FlowState) -> Result<ChatRequest, AgentError> {
        let asked = self
            .prompt
            .fill(state)
            .map_err(|error| AgentError::Prompt(error.of("`prompt`")))?;
        if asked.text.trim().is_empty() && asked.blocks.is_empty() {
            return Err(AgentError::NothingAsked);
        }

        let request = self
            .request
            .clone()
            .with_messages(self.conversation(&asked));
        Ok(request.with_tools(self.tools.definitions()))
    }

    async fn exec(&self, request: &ChatRequest) -> Result<AgentAnswer, AgentError> {
        self.generate(request.clone()).await
    }

    fn post(
        &self,
        state: &mut FlowState,
        _: ChatRequest,
        answer: AgentAnswer,
    ) -> Result<Action, AgentError> {
        state.put(&self.id, answer.output);
        Ok(answer.action)
    }
}

impl fmt::Debug for Agent {
    /// Without its texts, in which anything may stand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.id)
            .field("tools", &self.tools)
            .field("actions", &self.choice.actions())
            .finish_non_exhaustive()
    }
}
