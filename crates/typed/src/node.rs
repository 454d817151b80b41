use std::sync::Arc;

use cogwork_flow::IntoAction;
use cogwork_flow::engine::reach_limit;
use cogwork_flow::{Action, BoxError, Node};
use cogwork_llm::{Message, Messages};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::ask::{AskLog, Meter, Repair};
use crate::{AskError, AskErrorKind, ChatMemory, Model};

type MakePrompt<S> = Arc<dyn Fn(&S) -> Messages + Send + Sync>;
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
///
/// A [fallback](Node::fallback_with) gets the conversation so far, the prompt and the meter. It returns
/// the log, the repairs and the messages of its [answer](crate::Answered).
pub struct ModelNode<S, T = String> {
    model: Model<T>,
    prompt: MakePrompt<S>,
    store: Store<S, T>,
    actions: Vec<Action>,
    memory: Option<FindMemory<S>>,
    observe: Option<Observe<S>>,
    failed: Option<Failed<S>>,
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Model<T> {
    /// Creates a node that takes the prompt from the state, and stores the answer in it.
    ///
    /// `store` may return an action; the node then must [declare](ModelNode::with_actions) it.
    pub fn node<S, P, R>(
        self,
        prompt: impl Fn(&S) -> P + Send + Sync + 'static,
        store: impl Fn(&mut S, T) -> R + Send + Sync + 'static,
    ) -> ModelNode<S, T>
    where
        P: Into<Messages>,
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

    /// Follows this action without an answer, instead of stopping the run with the error.
    #[must_use]
    pub fn with_failure(
        mut self,
        action: impl Into<Action>,
        store: impl Fn(&mut S, &AskError) + Send + Sync + 'static,
    ) -> Self {
        self.failed = Some((action.into(), Arc::new(store)));
        self
    }
}

impl<S, T: JsonSchema + DeserializeOwned + Send + 'static> Node<S> for ModelNode<S, T> {
    /// The conversation so far, the prompt, and the cost of all attempts.
    type Prep = (Messages, Messages, Arc<Meter>);
    /// What came of the question, without the value: it is read again from the last reply, so that a
    /// run that continues from its journal gets the same one.
    type Exec = Result<(AskLog, Vec<Repair>, Vec<Message>), AskError>;
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        let failed = self.failed.iter().map(|(action, _)| action.clone());
        self.actions.iter().cloned().chain(failed).collect()
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, state: &mut S) -> Result<Self::Prep, BoxError> {
        let prompt = (self.prompt)(state);
        let memory = self.memory.as_ref().map(|memory| memory(state));
        let earlier = memory.iter().flat_map(|memory| memory.messages());

        let meter = Arc::new(self.model.meter());
        Ok((earlier.cloned().collect(), prompt, meter))
    }

    async fn exec(&self, (earlier, prompt, meter): &Self::Prep) -> Result<Self::Exec, BoxError> {
        let mut conversation = earlier.clone();
        conversation.extend(prompt.iter().cloned());

        match self.model.answer(conversation, meter, None).await {
            Err(error) if self.failed.is_none() => {
                if error.kind() == AskErrorKind::Limit {
                    reach_limit();
                }
                Err(error.into())
            }
            answered => {
                Ok(answered.map(|answered| (answered.log, answered.repairs, answered.messages)))
            }
        }
    }

    fn post(
        &self,
        state: &mut S,
        (_, prompt, _): Self::Prep,
        answer: Self::Exec,
    ) -> Result<Action, BoxError> {
        let (log, repairs, messages) = match (answer, &self.failed) {
            (Ok(answer), _) => answer,
            (Err(error), None) => return Err(error.into()),
            (Err(error), Some((action, store))) => {
                store(state, &error);
                return Ok(action.clone());
            }
        };

        // Of the replies, the last one was accepted.
        let reply = log.tries.last().map_or("", |last| last.reply.as_str());
        let value = self.model.reader.read(reply)?.value;

        if let Some(observe) = &self.observe {
            observe(state, &log, &repairs);
        }
        if let Some(memory) = &self.memory {
            memory(state).extend(prompt.iter().cloned().chain(messages));
        }
        (self.store)(state, value)
    }
}
