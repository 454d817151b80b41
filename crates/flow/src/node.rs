use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wrap::{FailedAttempt, Fallback, Focus, Retry, Timeout};
use crate::{Action, Backoff, BoxError};

/// One kind of work on a state `S`, in three phases.
///
/// Only [`exec`](Node::exec) waits, and it sees no state: it can be repeated, timed out, raced or
/// recorded, and dropping it at any `await` leaves the state whole. [`prep`](Node::prep) and
/// [`post`](Node::post) touch the state and do not wait. With equal state and equal outcomes of
/// `exec` a run is the same again.
///
/// A node holds no state of a run: one node may serve many runs at once.
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
/// The provided methods wrap a node in another that touches `exec` only. They read in the order of
/// effect: `node.timeout(t).retry(backoff)` gives each attempt the time `t`;
/// `node.retry(backoff).timeout(t)` gives all attempts together the time `t`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node over the state `{S}`",
    label = "this node works on another state than the flow's `{S}`",
    note = "implement `Node<{S}>` for it, or wrap it: `.focus(|state: &mut {S}| &mut state.part)`"
)]
pub trait Node<S>: Send + Sync {
    /// What `prep` takes from the state for `exec`.
    type Prep: Send + Sync;
    /// What `exec` brings back. Serialisable, so that any run can be recorded.
    type Exec: Serialize + DeserializeOwned + Send;
    /// The error of all three phases. The flow keeps it as the source of its [`RunError`](crate::RunError).
    type Error: Into<BoxError> + Send;

    /// Every label that `post` may answer; the flow's check holds the wiring against it.
    ///
    /// # Default
    ///
    /// [`Action::DEFAULT`] alone.
    fn actions(&self) -> Vec<Action> {
        vec![Action::DEFAULT]
    }

    /// Takes from the state what `exec` needs. A change it makes must be safe to make again: when
    /// `exec` fails, the next attempt at this step begins with `prep`.
    ///
    /// # Errors
    ///
    /// Whatever keeps the work from starting; the run ends there.
    fn prep(&self, state: &mut S) -> Result<Self::Prep, Self::Error>;

    /// Does the work. Implementors write `async fn exec`.
    ///
    /// # Errors
    ///
    /// Whatever the work meets; wrappers may try again, else the run ends there.
    fn exec(
        &self,
        prep: &Self::Prep,
    ) -> impl Future<Output = Result<Self::Exec, Self::Error>> + Send;

    /// One attempt at `exec`, for an engine that tries again by itself; see
    /// [`Work::attempt`](crate::journal::Work::attempt). `number` counts from 1.
    ///
    /// # Default
    ///
    /// `exec`, which no engine tries again. [`Retry`](crate::wrap::Retry) leaves its attempts to the engine.
    ///
    /// # Errors
    ///
    /// As `exec`, and how long to wait before the next attempt.
    fn attempt(
        &self,
        prep: &Self::Prep,
        number: NonZeroU32,
    ) -> impl Future<Output = Result<Self::Exec, FailedAttempt<Self::Error>>> + Send {
        let _ = number;
        async {
            let exec = self.exec(prep).await;
            exec.map_err(|error| FailedAttempt {
                error,
                again_in: None,
            })
        }
    }

    /// Puts the outcome into the state and answers the action to leave by.
    ///
    /// # Errors
    ///
    /// Whatever keeps the outcome from being used; the run ends there.
    fn post(
        &self,
        state: &mut S,
        prep: Self::Prep,
        exec: Self::Exec,
    ) -> Result<Action, Self::Error>;

    /// Tries `exec` again when it fails, as often and with such delays as `backoff` says.
    fn retry(self, backoff: Backoff) -> Retry<Self>
    where
        Self: Sized,
    {
        Retry::new(self, backoff)
    }

    /// Ends `exec` with an [`Elapsed`](crate::wrap::Elapsed) error when it takes longer than `limit`.
    fn timeout(self, limit: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        Timeout::new(self, limit)
    }

    /// When `exec` fails, lets `rescue` make an outcome from what `prep` gave and the error, or fail.
    fn fallback<F>(self, rescue: F) -> Fallback<Self, F>
    where
        Self: Sized,
        F: Fn(&Self::Prep, Self::Error) -> Result<Self::Exec, Self::Error> + Send + Sync,
    {
        Fallback::new(self, rescue)
    }

    /// Puts this node, written for the state `S`, into a flow over the larger state `T`.
    fn focus<T, F>(self, part: F) -> Focus<Self, F, S>
    where
        Self: Sized,
        F: Fn(&mut T) -> &mut S + Send + Sync,
    {
        Focus::new(self, part)
    }
}
