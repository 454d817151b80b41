use std::marker::PhantomData;

use crate::engine::Operation;
use crate::{Action, Node};

/// A node over `S` in a larger state. Created by [`Node::focus`].
///
/// ```
/// use cogwork_flow::{Flow, Node, from_fn};
///
/// struct App { visits: u32 }
///
/// let count = from_fn(|visits: &mut u32| *visits += 1);
/// let flow = Flow::builder("app")
///     .start("count")
///     .node("count", count.focus(|app: &mut App| &mut app.visits))
///     .end("count", "default")
///     .build()?;
/// # Ok::<(), cogwork_flow::BuildError>(())
/// ```
pub struct Focus<N, F, S> {
    pub(crate) node: N,
    pub(crate) part: F,
    pub(crate) state: PhantomData<fn(&mut S)>,
}

impl<S, T, N, F> Node<T> for Focus<N, F, S>
where
    N: Node<S>,
    F: Fn(&mut T) -> &mut S + Send + Sync,
{
    type Prep = N::Prep;
    type Exec = N::Exec;
    type Error = N::Error;

    fn actions(&self) -> Vec<Action> {
        self.node.actions()
    }

    fn is_composite(&self) -> bool {
        self.node.is_composite()
    }

    fn operation(&self) -> Operation {
        self.node.operation()
    }

    fn prep(&self, state: &mut T) -> Result<Self::Prep, Self::Error> {
        self.node.prep((self.part)(state))
    }

    fn exec(
        &self,
        prep: &Self::Prep,
    ) -> impl Future<Output = Result<Self::Exec, Self::Error>> + Send {
        self.node.exec(prep)
    }

    fn post(
        &self,
        state: &mut T,
        prep: Self::Prep,
        exec: Self::Exec,
    ) -> Result<Action, Self::Error> {
        self.node.post((self.part)(state), prep, exec)
    }
}
