use std::fmt;
use std::sync::Arc;

use crate::ask::{Meter, Repair};
use cogwork_flow::{Action, BoxError, IntoAction, Node};
use cogwork_llm::{Message, Messages};
use serde::{Deserialize, Serialize};

use crate::{Answered, AskError, AskLog, ChatMemory, Model, Prompt};

type MakePrompt<S> = Arc<dyn Fn(&S) -> Prompt + Send + Sync>;
type Store<S, T> = Arc<dyn Fn(&mut S, T) -> Result<Action, BoxError> + Send + Sync>;
type FindMemory<S> = Arc<dyn Fn(&mut S) -> &mut ChatMemory + Send + Sync>;
type Observe<S> = Arc<dyn Fn(&mut S, &AskLog, &[Repair]) + Send + Sync>;
type Failed<S> = (Action, Arc<dyn Fn(&mut S, &AskError) + Send + Sync>);

/// A node that asks a model, over any state `S`. Created by [`Model::node`].
///
/// ```
/// use cogwork_flow::Flow;
/// use cogwork_llm::ScriptedClient;
/// use cogwork_typed::Model;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Invoice { vendor: String, total: f64 }
///
/// #[derive(Default)]
/// struct Inbox { mail: String, invoice: Option<Invoice> }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([r#"{"vendor": "ACME", "total": 120}"#]);
/// let read = Model::<Invoice>::typed(client)
///     .node(|inbox: &Inbox| format!("Read this invoice: {}", inbox.mail), |inbox, invoice| inbox.invoice = Some(invoice));
///
/// let flow = Flow::builder("inbox").start("read").node("read", read).end("read", "default").build()?;
/// let mut inbox = Inbox { mail: "ACME, 120 €".to_owned(), ..Inbox::default() };
/// flow.run(&mut inbox).await?;
///
/// assert_eq!(inbox.invoice.unwrap().vendor, "ACME");
/// # Ok(())
/// # }
/// ```
pub struct ModelNode<S, T = String> {
    model: Model<T>,
    prompt: MakePrompt<S>,
    store: Store<S, T>,
    actions: Vec<Action>,
    memory: Option<FindMemory<S>>,
    observe: Option<Observe<S>>,
    failed: Option<Failed<S>>,
}

/// The question of a [`ModelNode`].
#[derive(Debug)]
pub struct NodeQuestion {
    prompt: Prompt,
    /// The cost of all attempts.
    meter: Meter,
}

/// The outcome of a [`ModelNode`].
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct NodeAnswer<T> {
    result: Result<Received<T>, AskError>,
}

#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct Received<T> {
    /// The value; read again from the reply if the outcome was recorded.
    #[serde(skip)]
    value: Option<T>,
    repairs: Vec<Repair>,
    log: AskLog,
    messages: Vec<Message>,
}

impl<T> fmt::Debug for NodeAnswer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            Ok(received) => f.debug_tuple("NodeAnswer").field(&received.log).finish(),
            Err(error) => f.debug_tuple("NodeAnswer").field(error).finish(),
        }
    }
}

impl<S, T> fmt::Debug for ModelNode<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelNode")
            .field("model", &self.model)
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Model<T> {
    /// Creates a node that takes the prompt from the state, and stores the answer in it.
    ///
    /// `store` may return an action; the node then must [declare](ModelNode::with_actions) it.
    pub fn node<S, P, R>(
        self,
        prompt: impl Fn(&S) -> P + Send + Sync + 'static,
        store: impl Fn(&mut S, T) -> R + Send + Sync + 'static,
    ) -> ModelNode<S, T>
    where
        P: Into<Prompt>,
        R: IntoAction,
    {
        ModelNode {
            model: self,
            prompt: Arc::new(move |state| prompt(state).into()),
            store: Arc::new(move |state, value| store(state, value).into_result()),
            actions: vec![Action::DEFAULT],
            memory: None,
            observe: None,
            failed: None,
        }
    }
}

impl<S, T> ModelNode<S, T> {
    /// Sets the actions that `store` may return. The default is only [`Action::DEFAULT`].
    #[must_use]
    pub fn with_actions<A: Into<Action>>(mut self, actions: impl IntoIterator<Item = A>) -> Self {
        self.actions = actions.into_iter().map(Into::into).collect();
        self
    }

    /// Keeps the conversation in the state: the prompt is added to it, and so are the tool calls,
    /// their results and the reply.
    #[must_use]
    pub fn with_memory(
        mut self,
        memory: impl Fn(&mut S) -> &mut ChatMemory + Send + Sync + 'static,
    ) -> Self {
        self.memory = Some(Arc::new(memory));
        self
    }

    /// Calls `observe` with all replies, the cost, and what was corrected, before the answer is
    /// stored. The cost includes the attempts of a [retry](Node::retry) that failed.
    #[must_use]
    pub fn with_log(
        mut self,
        observe: impl Fn(&mut S, &AskLog, &[Repair]) + Send + Sync + 'static,
    ) -> Self {
        self.observe = Some(Arc::new(observe));
        self
    }

    /// Follows this action if there is no answer, instead of stopping the run with the error.
    #[must_use]
    pub fn with_failure(
        mut self,
        action: impl Into<Action>,
        store: impl Fn(&mut S, &AskError) + Send + Sync + 'static,
    ) -> Self {
        self.failed = Some((action.into(), Arc::new(store)));
        self
    }

    fn prompt(&self, state: &mut S) -> Prompt {
        let asked = (self.prompt)(state);
        let Some(memory) = &self.memory else {
            return asked;
        };

        let mut messages: Messages = memory(state).conversation();
        for message in asked.0.iter() {
            messages.push(message.clone());
        }
        Prompt(messages)
    }

    fn remember(&self, state: &mut S, prompt: &Prompt, messages: Vec<Message>) {
        let Some(memory) = &self.memory else {
            return;
        };

        let known = memory(state).messages().len();
        let asked = prompt.0.iter().skip(known).cloned().collect::<Vec<_>>();
        memory(state).extend(asked.into_iter().chain(messages));
    }
}

impl<S, T: Send + 'static> Node<S> for ModelNode<S, T> {
    type Prep = NodeQuestion;
    type Exec = NodeAnswer<T>;
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        let failed = self.failed.iter().map(|(action, _)| action.clone());
        self.actions.iter().cloned().chain(failed).collect()
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, state: &mut S) -> Result<NodeQuestion, BoxError> {
        Ok(NodeQuestion {
            prompt: self.prompt(state),
            meter: self.model.meter(),
        })
    }

    async fn exec(&self, question: &NodeQuestion) -> Result<NodeAnswer<T>, BoxError> {
        let NodeQuestion { prompt, meter } = question;
        let asked = self.model.answer(prompt.clone(), meter, None).await;

        let result = match asked {
            Ok(answered) => Ok(Received::from(answered)),
            Err(error) if self.failed.is_some() => Err(error),
            Err(error) => return Err(error.into()),
        };
        Ok(NodeAnswer { result })
    }

    fn post(
        &self,
        state: &mut S,
        question: NodeQuestion,
        exec: NodeAnswer<T>,
    ) -> Result<Action, BoxError> {
        let received = match (exec.result, &self.failed) {
            (Ok(received), _) => received,
            (Err(error), None) => return Err(error.into()),
            (Err(error), Some((action, store))) => {
                store(state, &error);
                return Ok(action.clone());
            }
        };

        let value = match received.value {
            Some(value) => value,
            None => self.model.read_again(&received.log)?,
        };

        if let Some(observe) = &self.observe {
            observe(state, &received.log, &received.repairs);
        }
        self.remember(state, &question.prompt, received.messages);
        (self.store)(state, value)
    }
}

impl<T: Send + 'static> Model<T> {
    /// Reads the value of a recorded answer.
    fn read_again(&self, log: &AskLog) -> Result<T, AskError> {
        let reply = log.tries.last().map_or("", |last| last.reply.as_str());
        let read = (self.answer.read)(reply);
        read.map(|read| read.value)
            .map_err(|problem| AskError::unusable(problem, log.clone()))
    }
}

impl<T> From<Answered<T>> for Received<T> {
    fn from(answered: Answered<T>) -> Self {
        Self {
            value: Some(answered.value),
            repairs: answered.repairs,
            log: answered.log,
            messages: answered.messages,
        }
    }
}
