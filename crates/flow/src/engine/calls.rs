//! Recorded calls inside the `exec` of a composite node.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::current;
use crate::engine::{Awaited, CallError, CannotWait, Json, WorkError, recordable};
use crate::execute::recorder::{Exec, accept, shortened};

/// Makes a call inside the `exec` of a [composite](crate::Node::is_composite) node, and records its
/// outcome before returning it. If the run is resumed and the outcome is recorded, it is returned
/// without calling `work`.
///
/// A program that is killed inside `exec` only repeats the calls that were in progress:
///
/// ```
/// use cogwork_flow::{Action, BoxError, Flow, Node};
/// use cogwork_flow::engine::{recorded, MemoryJournal};
///
/// struct Research;
///
/// impl Node<String> for Research {
///     type Prep = String;
///     type Exec = String;
///     type Error = BoxError;
///
///     fn is_composite(&self) -> bool {
///         true
///     }
///
///     fn prep(&self, topic: &mut String) -> Result<String, BoxError> {
///         Ok(topic.clone())
///     }
///
///     async fn exec(&self, topic: &String) -> Result<String, BoxError> {
///         let pages = recorded("search", || search(topic)).await?;
///         let report = recorded("summarize", || summarize(pages)).await?;
///         Ok(report)
///     }
///
///     fn post(&self, topic: &mut String, _: String, report: String) -> Result<Action, BoxError> {
///         *topic = report;
///         Ok(Action::DEFAULT)
///     }
/// }
///
/// async fn search(topic: &str) -> Result<Vec<String>, std::io::Error> {
///     Ok(vec![format!("a page about {topic}")]) // here a program would call a service
/// }
///
/// async fn summarize(pages: Vec<String>) -> Result<String, std::io::Error> {
///     Ok(pages.join("\n"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("report").start("research").node("research", Research).end("research", "default").build()?;
/// let mut topic = "tides".to_owned();
/// flow.begin().with_journal(MemoryJournal::new("7")).finish(&mut topic).await?;
/// assert_eq!(topic, "a page about tides");
/// # Ok(())
/// # }
/// ```
///
/// # Names
///
/// A call is identified by its step, the number of the attempt at `exec`, its label, and its number
/// among the calls with this label, counted when the returned future is first polled. The future
/// must be polled by `exec` itself, not by a spawned task. Given the same outcomes of its calls,
/// `exec` must make the same calls again:
///
/// - Anything else that `exec` decides by, such as the time or a random number, has to be the
///   outcome of a call.
/// - Futures that run concurrently and make one call after another need different labels, because
///   either may be faster. For single calls, as in `join_all`, one label is enough.
/// - If the journal is [in order](crate::engine::Journal::in_order), concurrent calls must be made
///   in the same order. `join_all` does that; `tokio::join!` polls in changing order.
/// - A time limit for a call belongs inside its work. Dropping the returned future leaves open
///   whether the call is recorded.
///
/// # Failures
///
/// A failed call is recorded with the text of its error, because `exec` may have decided by it. If
/// `exec` fails then without another call, the next attempt (by a [`Retry`](crate::nodes::Retry) or
/// when the run is resumed) only makes the calls again that failed. If `exec` has [reached a
/// limit](reach_limit), the next attempt makes none of them again. If `exec` fails for another reason or panics, the next
/// attempt makes all calls of the step again. If the run stops in any other way, it continues with
/// the same attempt.
///
/// # Without a journal
///
/// In a run without a journal, in a node that isn't composite, inside the work of a different call,
/// and outside of `exec`, this only calls `work`.
///
/// # Errors
///
/// Returns the error of `work`, or the text of its error if the call is recorded as failed. If the
/// journal fails or the outcome cannot be recorded, `exec` is dropped instead. An outcome has the
/// [maximum size](crate::Run::with_max_outcome) of outcomes of steps.
pub async fn recorded<T, E, F>(
    label: &str,
    work: impl FnOnce() -> F + Send,
) -> Result<T, CallError<E>>
where
    T: Serialize + DeserializeOwned + Send,
    E: Display + Send,
    F: Future<Output = Result<T, E>> + Send,
{
    recorded_unless(label, |_| false, work).await.0
}

/// Where the outcome of a recorded call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeSource {
    /// The call was made.
    Made,
    /// The record of a run that is resumed.
    Record,
    /// An attempt that is continued: `exec` has got the outcome before, with the same result of
    /// `prep`.
    Attempt,
}

/// Makes a call as [`recorded`] does, and says where the outcome comes from. An outcome for which
/// `has_failed` returns `true` counts as a [failure](recorded#failures), too, for an error that is
/// recorded as a value.
///
/// # Errors
///
/// Returns the same errors as [`recorded`].
pub async fn recorded_unless<T, E, F>(
    label: &str,
    has_failed: impl FnOnce(&T) -> bool + Send,
    work: impl FnOnce() -> F + Send,
) -> (Result<T, CallError<E>>, OutcomeSource)
where
    T: Serialize + DeserializeOwned + Send,
    E: Display + Send,
    F: Future<Output = Result<T, E>> + Send,
{
    let Some(calls) = current::calls() else {
        let outcome = work().await.map_err(CallError::Failed);
        return (outcome, OutcomeSource::Made);
    };

    // The journal only sees the outcome as JSON, and `exec` what is read back from that.
    let mut made = None;
    let (outcome, key) = {
        let mut work: Exec<'_> = Box::pin(async {
            // The text of an error is recorded, and the error itself returned, as long as there is
            // one.
            let (outcome, error) = match work().await {
                Ok(outcome) => (Ok(outcome), None),
                Err(error) => (Err(shortened(&error.to_string())), Some(error)),
            };
            // Checked inside the work, so that the journal never gets what cannot be read back.
            let recordable = recordable(&outcome, calls.step.attached.max_outcome());
            let (json, outcome) = recordable.map_err(WorkError::new)?;

            made = Some(match error {
                Some(error) => Err(CallError::Failed(error)),
                None => outcome.map_err(CallError::Recorded),
            });
            Ok(json)
        });
        calls.call(label, &mut work).await
    };

    let was_made = outcome.was_made;
    let outcome = match made.filter(|_| was_made) {
        Some(made) => made,
        None => match outcome.json.read::<Result<T, String>>() {
            Ok(recorded) => recorded.map_err(CallError::Recorded),
            // The record is at fault and not the call, so the run stops and `exec` doesn't see it.
            Err(problem) => calls.stop_at(problem).await,
        },
    };

    let was_returned = calls.ended(key, outcome.as_ref().map_or(true, has_failed));
    let source = match (was_made, was_returned) {
        (true, _) => OutcomeSource::Made,
        (false, false) => OutcomeSource::Record,
        (false, true) => OutcomeSource::Attempt,
    };
    (outcome, source)
}

/// Says that the current attempt at a [composite](crate::Node::is_composite) step fails because of a
/// limit, and not because of what its calls have brought. The next attempt continues with all
/// recorded outcomes, and gets further if the limit has been raised. Does nothing in any other step.
pub fn reach_limit() {
    if let Some(calls) = current::calls() {
        calls.reach_limit();
    }
}

/// Waits for an external event inside the `exec` of a [composite](crate::Node::is_composite) node,
/// such as a person's decision. Returns the answer, or `None` if `timeout` has passed since the
/// first call.
///
/// If the event hasn't arrived, the run [pauses](crate::RunError::paused) as at a
/// [`Wait`](crate::Wait), once no other recorded call of the step is in progress, and `exec` is
/// dropped. After [`Run::deliver`](crate::Run::deliver), the next call of `step` or `finish` runs
/// `exec` again, with the recorded outcomes of its calls, and this returns the answer. An answer
/// that isn't a `T` is discarded, and the run stops with an error; deliver a different one to
/// continue.
///
/// The name of the event is also the label of the call; see [Names](recorded#names). Each answer is
/// used once, so steps that wait for the same event at the same time would compete for it;
/// [`scoped_event`] returns a name that no other step uses. `reason` is for the person who answers,
/// and may be empty. A store refuses answers that don't match the `schema`, a JSON Schema, and makes
/// a form of it.
///
/// ```
/// use cogwork_flow::{Action, BoxError, Flow, Node};
/// use cogwork_flow::engine::{scoped_event, wait_for, MemoryJournal};
///
/// struct Publish;
///
/// impl Node<String> for Publish {
///     type Prep = String;
///     type Exec = bool;
///     type Error = BoxError;
///
///     fn is_composite(&self) -> bool {
///         true
///     }
///
///     fn prep(&self, text: &mut String) -> Result<String, BoxError> {
///         Ok(text.clone())
///     }
///
///     async fn exec(&self, text: &String) -> Result<bool, BoxError> {
///         let event = scoped_event("approve");
///         let approved = wait_for::<bool>(&event, &format!("publish `{text}`?"), None, None).await?;
///         Ok(approved.unwrap_or(false))
///     }
///
///     fn post(&self, text: &mut String, _: String, approved: bool) -> Result<Action, BoxError> {
///         text.push_str(if approved { ": published" } else { ": refused" });
///         Ok(Action::DEFAULT)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("news").start("publish").node("publish", Publish).end("publish", "default").build()?;
/// let mut text = "rain".to_owned();
/// let mut run = flow.begin().with_journal(MemoryJournal::new("7"));
///
/// let paused = run.finish(&mut text).await.unwrap_err().into_paused()?;
/// assert_eq!(paused.event, "approve at news/publish#1.1");
/// assert_eq!(paused.why, "publish `rain`?");
///
/// run.deliver(&paused.event, &true).await?;
/// run.finish(&mut text).await?;
/// assert_eq!(text, "rain: published");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error outside of the `exec` of a composite node in a run with a journal, since only
/// recorded calls can continue after a pause.
pub async fn wait_for<T: DeserializeOwned>(
    event: &str,
    reason: &str,
    timeout: Option<Duration>,
    schema: Option<&Json>,
) -> Result<Option<T>, CannotWait> {
    let awaited = Awaited {
        event,
        why: reason,
        within: timeout,
        schema,
        is_live: false,
        accept: &|answer| accept(answer, |_: &T| Ok(())),
    };

    let Some(calls) = current::calls() else {
        // Where there is a key, the run has a journal, and only its calls aren't recorded here.
        return Err(match current::idempotency_key() {
            Some(_) => CannotWait::NotComposite,
            None => CannotWait::NoJournal,
        });
    };

    let Some(answer) = calls.wait(awaited).await else {
        return Ok(None);
    };
    match answer.read() {
        Ok(answer) => Ok(Some(answer)),
        Err(problem) => calls.stop_at(problem).await,
    }
}

/// Returns the name with the current composite step and attempt appended, as in
/// `approve at news/publish#1.1`, so that no other step or attempt waits for the same event.
/// Returns the name unchanged outside of the `exec` of a composite node in a run with a journal.
pub fn scoped_event(name: &str) -> String {
    match current::calls() {
        Some(calls) => calls.scoped(name),
        None => name.to_owned(),
    }
}
