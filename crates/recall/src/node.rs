use std::fmt;
use std::sync::Arc;

use cogwork_flow::nodes::IntoAction;
use cogwork_flow::{Action, BoxError, Node};

use crate::{Query, Recalled, VectorMemory};

type MakeQuery<S> = Arc<dyn Fn(&S) -> Query + Send + Sync>;
type Store<S> = Arc<dyn Fn(&mut S, Vec<Recalled>) -> Result<Action, BoxError> + Send + Sync>;

/// A node that finds passages, over any state `S`. Created by [`VectorMemory::node`].
///
/// ```
/// use cogwork_flow::Flow;
/// use cogwork_llm::embedding::HashedNgrams;
/// use cogwork_recall::{Passage, Query, Recalled, VectorMemory};
///
/// #[derive(Default)]
/// struct Chat { question: String, found: Vec<Recalled> }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let memory = VectorMemory::in_memory(HashedNgrams::new())?;
/// memory.insert([Passage::new("The office closes at six.")]).await?;
///
/// let retrieve = memory.node(
///     |chat: &Chat| Query::new(&chat.question).with_limit(3),
///     |chat, found| chat.found = found,
/// );
/// let flow = Flow::builder("chat").node("retrieve", retrieve).chain(["retrieve"]).build()?;
///
/// let mut chat = Chat { question: "When does the office close?".to_owned(), ..Chat::default() };
/// flow.run(&mut chat).await?;
/// assert_eq!(chat.found[0].text, "The office closes at six.");
/// # Ok(())
/// # }
/// ```
pub struct RetrievalNode<S> {
    memory: VectorMemory,
    query: MakeQuery<S>,
    store: Store<S>,
    actions: Vec<Action>,
}

impl VectorMemory {
    /// Creates a node that takes the query from the state, and stores the passages in it, best
    /// first.
    ///
    /// `store` may return an action; the node then must [declare](RetrievalNode::with_actions) it.
    /// The passages are recorded in a journal, so a run that is resumed continues with the same
    /// ones.
    pub fn node<S, Q, R>(
        &self,
        query: impl Fn(&S) -> Q + Send + Sync + 'static,
        store: impl Fn(&mut S, Vec<Recalled>) -> R + Send + Sync + 'static,
    ) -> RetrievalNode<S>
    where
        Q: Into<Query>,
        R: IntoAction,
    {
        RetrievalNode {
            memory: self.clone(),
            query: Arc::new(move |state| query(state).into()),
            store: Arc::new(move |state, found| store(state, found).into_result()),
            actions: vec![Action::DEFAULT],
        }
    }
}

impl<S> RetrievalNode<S> {
    /// Sets the actions that `store` may return. The default is only [`Action::DEFAULT`].
    #[must_use]
    pub fn with_actions<A: Into<Action>>(mut self, actions: impl IntoIterator<Item = A>) -> Self {
        self.actions = actions.into_iter().map(Into::into).collect();
        self
    }
}

impl<S> Node<S> for RetrievalNode<S> {
    type Prep = Query;
    type Exec = Vec<Recalled>;
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        self.actions.clone()
    }

    fn prep(&self, state: &mut S) -> Result<Query, BoxError> {
        Ok((self.query)(state))
    }

    async fn exec(&self, query: &Query) -> Result<Vec<Recalled>, BoxError> {
        Ok(self.memory.recall(query).await?)
    }

    fn post(&self, state: &mut S, _: Query, found: Vec<Recalled>) -> Result<Action, BoxError> {
        (self.store)(state, found)
    }
}

impl<S> fmt::Debug for RetrievalNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetrievalNode")
            .field("memory", &self.memory)
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}
