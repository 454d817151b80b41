use std::fmt;
use std::sync::Arc;

use cogwork_flow::engine::Operation;
use cogwork_flow::{Action, BoxError, Node};
use cogwork_typed::Prompt;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Agent, AgentAnswer, AgentError, AgentQuestion};
use crate::Visit;
use crate::state::Failed;

type MakePrompt<S> = Arc<dyn Fn(&S) -> Prompt + Send + Sync>;
type Store<S, T> = Arc<dyn Fn(&mut S, T) -> Result<Action, BoxError> + Send + Sync>;
type Observe<S> = Arc<dyn Fn(&mut S, &Visit) + Send + Sync>;

/// An [`Agent`] as a node over any state `S`. Created by [`Agent::node`].
///
/// A run fails with an [`AgentError`] if the model gives no usable answer, and with the error of the
/// function that stores the answer.
pub struct AgentNode<S, T = String> {
    agent: Agent<T>,
    prompt: MakePrompt<S>,
    store: Store<S, T>,
    actions: Vec<Action>,
    observe: Option<Observe<S>>,
}

impl<S, T> AgentNode<S, T> {
    pub(super) fn new(agent: Agent<T>, prompt: MakePrompt<S>, store: Store<S, T>) -> Self {
        Self {
            actions: agent.actions(),
            agent,
            prompt,
            store,
            observe: None,
        }
    }

    /// Sets the actions that the function that stores the answer may return. The default is
    /// [`Action::DEFAULT`], or the actions that the [model chooses](Agent::with_actions) from.
    #[must_use]
    pub fn with_actions<A: Into<Action>>(mut self, actions: impl IntoIterator<Item = A>) -> Self {
        self.actions = actions.into_iter().map(Into::into).collect();
        self
    }

    /// Calls `observe` with all replies, tool calls and the cost, before the answer is stored.
    #[must_use]
    pub fn with_log(mut self, observe: impl Fn(&mut S, &Visit) + Send + Sync + 'static) -> Self {
        self.observe = Some(Arc::new(observe));
        self
    }
}

impl<S, T: JsonSchema + DeserializeOwned + Send + 'static> Node<S> for AgentNode<S, T> {
    type Prep = AgentQuestion;
    type Exec = AgentAnswer;
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        self.actions.clone()
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn operation(&self) -> Operation {
        self.agent.operation()
    }

    fn prep(&self, state: &mut S) -> Result<AgentQuestion, BoxError> {
        let asked = (self.prompt)(state).into_messages();
        let question = self.agent.question(&asked, Failed::default());
        Ok(question.map_err(AgentError::from)?)
    }

    async fn exec(&self, question: &AgentQuestion) -> Result<AgentAnswer, BoxError> {
        Ok(self.agent.visit(question).await?)
    }

    fn post(
        &self,
        state: &mut S,
        _: AgentQuestion,
        AgentAnswer { visit, action }: AgentAnswer,
    ) -> Result<Action, BoxError> {
        let text = visit.output.as_ref().map_or("", |output| &output.text);
        let value = self.agent.expected.read(text).map(|read| read.value);
        // Before anything is stored: a program that has changed may expect another type
        // than the recorded reply has.
        let value = value.map_err(AgentError::from)?;

        if let Some(observe) = &self.observe {
            observe(state, &visit);
        }
        match (self.store)(state, value)? {
            // A function that returns nothing leaves the choice to the model.
            stored if stored == Action::DEFAULT => Ok(action),
            stored => Ok(stored),
        }
    }
}

impl<S, T> fmt::Debug for AgentNode<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentNode")
            .field("agent", &self.agent)
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}
