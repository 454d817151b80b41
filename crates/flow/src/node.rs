use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::nodes::{Fallback, Focus, Retry, Timeout, Wrapped};
use crate::{Action, Backoff, BoxError};

/// A unit of work on a state `S`, in three phases.
///
/// Only [`exec`](Node::exec) is async, and it has no access to the state. It can therefore be
/// retried, timed out, raced or recorded, and dropping it at any `await` leaves the state intact.
/// [`prep`](Node::prep) and [`post`](Node::post) access the state and are synchronous. Given the
/// same state and the same outcomes of `exec`, a run takes the same steps again.
///
/// A node doesn't hold the state of a run, so many runs can use the same node at once.
///
/// # Example
///
/// ```
/// use cogwork_flow::{Action, Node};
///
/// struct Order { amount: u32, receipt: Option<String> }
///
/// struct Charge;
///
/// impl Node<Order> for Charge {
///     type Prep = u32;
///     type Exec = String;
///     type Error = std::io::Error;
///
///     fn prep(&self, order: &mut Order) -> Result<u32, Self::Error> {
///         Ok(order.amount)
///     }
///
///     async fn exec(&self, amount: &u32) -> Result<String, Self::Error> {
///         Ok(format!("charged {amount}")) // here a program would call a service
///     }
///
///     fn post(&self, order: &mut Order, _: u32, receipt: String) -> Result<Action, Self::Error> {
///         order.receipt = Some(receipt);
///         Ok(Action::DEFAULT)
///     }
/// }
/// ```
///
/// # Wrappers
///
/// The provided methods wrap a node in another node that only changes `exec`. They apply in the
/// order in which they are written: `node.timeout(t).retry(backoff)` limits each attempt to `t`;
/// `node.retry(backoff).timeout(t)` limits all attempts together to `t`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node over the state `{S}`",
    label = "this node works on another state than the flow's `{S}`",
    note = "if it is a closure: `from_fn(|state: &mut {S}| …)`, or `from_phases` for async work",
    note = "otherwise implement `Node<{S}>`, or wrap it: `.focus(|state: &mut {S}| &mut state.part)`"
)]
pub trait Node<S>: Send + Sync {
    /// The input of `exec`, taken from the state by `prep`.
    type Prep: Send + Sync;
    /// The outcome of `exec`. It is serialisable so that any run can be recorded.
    type Exec: Serialize + DeserializeOwned + Send;
    /// The error of all three phases. It becomes the source of the [`RunError`](crate::RunError).
    type Error: Into<BoxError> + Send;

    /// Returns all actions that `post` may return. The wiring of the flow is checked against them.
    ///
    /// # Default
    ///
    /// Only [`Action::DEFAULT`].
    fn actions(&self) -> Vec<Action> {
        vec![Action::DEFAULT]
    }

    /// Returns whether `exec` makes calls that are recorded one by one with
    /// [`journal::recorded`](crate::engine::recorded).
    ///
    /// If the run is resumed after a crash, `exec` of a composite node runs again, and each call
    /// returns its recorded outcome. For any other node, only the outcome of `exec` as a whole is
    /// recorded. A wrapper around a node must return what the node returns.
    ///
    /// # Default
    ///
    /// Returns `false`.
    fn is_composite(&self) -> bool {
        false
    }

    /// Returns what `exec` does, for traces. A wrapper around a node must return what the node
    /// returns.
    ///
    /// # Default
    ///
    /// Returns [`Operation::Step`].
    fn operation(&self) -> Operation {
        Operation::Step
    }

    /// Takes the input of `exec` from the state. Any change that this makes to the state must be
    /// safe to repeat: if `exec` fails, the next attempt at this step starts with `prep`.
    ///
    /// # Errors
    ///
    /// Returns an error if the work cannot start. The run then stops.
    fn prep(&self, state: &mut S) -> Result<Self::Prep, Self::Error>;

    /// Does the work. Implementations can be written as `async fn exec`.
    ///
    /// # Errors
    ///
    /// Returns an error if the work fails. Wrappers may retry it; otherwise, the run stops.
    fn exec(
        &self,
        prep: &Self::Prep,
    ) -> impl Future<Output = Result<Self::Exec, Self::Error>> + Send;

    /// Stores the outcome in the state and returns the action to follow.
    ///
    /// # Errors
    ///
    /// Returns an error if the outcome cannot be used. The run then stops.
    fn post(
        &self,
        state: &mut S,
        prep: Self::Prep,
        exec: Self::Exec,
    ) -> Result<Action, Self::Error>;

    /// Retries `exec` when it fails. `backoff` sets the number of attempts and the delays between
    /// them.
    fn retry(self, backoff: Backoff) -> Wrapped<Self, Retry<Self::Error>>
    where
        Self: Sized,
    {
        Wrapped {
            node: self,
            wrapper: Retry {
                backoff,
                when: Box::new(|_| true),
            },
        }
    }

    /// Fails `exec` with an [`Elapsed`](crate::nodes::Elapsed) error if it takes longer than
    /// `limit`.
    fn timeout(self, limit: Duration) -> Wrapped<Self, Timeout>
    where
        Self: Sized,
    {
        Wrapped {
            node: self,
            wrapper: Timeout { limit },
        }
    }

    /// Calls the async closure `rescue` with the input and the error when `exec` fails. It returns a
    /// replacement for the outcome, or an error. See [`Fallback`].
    fn fallback<F, R>(self, rescue: F) -> Wrapped<Self, Fallback<F>>
    where
        Self: Sized,
        Self::Prep: Clone,
        F: Fn(Self::Prep, Self::Error) -> R + Send + Sync, // To use a client: `fallback_with`.
        R: Future<Output = Result<Self::Exec, BoxError>> + Send, // `async |input, error| …`
    {
        Wrapped {
            node: self,
            wrapper: Fallback(rescue),
        }
    }

    /// Adds a [`fallback`](Node::fallback) with a value that it uses, such as a second client. Each
    /// call of `rescue` receives a clone of it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cogwork_flow::{Node, from_exec};
    ///
    /// let known = Arc::new([("EUR", 108_u32), ("GBP", 127)]);
    /// let rate = from_exec(|code: String| async move { Err::<u32, _>(format!("no rate of {code}")) })
    ///     .fallback_with(known, |known, code, error| async move {
    ///         let rate = known.iter().find(|(name, _)| *name == code);
    ///         Ok(rate.ok_or(error)?.1)
    ///     });
    /// # let _: &dyn std::any::Any = &Node::<String>::actions(&rate);
    /// ```
    #[expect(clippy::type_complexity, reason = "a closure has no name")]
    fn fallback_with<C, F, R>(
        self,
        value: C,
        rescue: F,
    ) -> Wrapped<Self, Fallback<impl Fn(Self::Prep, Self::Error) -> R + Send + Sync>>
    where
        Self: Sized,
        Self::Prep: Clone,
        C: Clone + Send + Sync,
        F: Fn(C, Self::Prep, Self::Error) -> R + Send + Sync,
        R: Future<Output = Result<Self::Exec, BoxError>> + Send,
    {
        self.fallback(move |prep, error| rescue(value.clone(), prep, error))
    }

    /// Adapts this node over the state `S` to flows over a larger state `T`. `part` returns the
    /// part of the larger state that the node uses.
    fn focus<T, F>(self, part: F) -> Focus<Self, F, S>
    where
        Self: Sized,
        F: Fn(&mut T) -> &mut S + Send + Sync,
    {
        Focus {
            node: self,
            part,
            state: PhantomData,
        }
    }
}

/// A phase of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Takes the input of `exec` from the state.
    Prep,
    /// Does the work.
    Exec,
    /// Stores the outcome and chooses the action.
    Post,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prep => "prep",
            Self::Exec => "exec",
            Self::Post => "post",
        })
    }
}

/// What the `exec` of a node does, for tools that show traces.
///
/// The `tracing` span of each step of the node is named after its operation, with
/// the names of OpenTelemetry's conventions for generative AI.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Operation {
    /// Nothing in particular.
    #[default]
    Step,
    /// An agent works on a task.
    Agent {
        /// The name of the agent.
        name: String,
    },
    /// A model makes or changes a plan.
    Plan,
}
