use std::fmt;

use cogwork_flow::Flow;
use cogwork_flow::journal::Journal;
use cogwork_text::Name;
use serde::Serialize;

use crate::behind::blocking;
use crate::error::Kind;
use crate::header::{FlowIs, Header};
use crate::keep::{Keep, Take, open};
use crate::{RunJournal, RunSummary, StoreError};

/// A place for runs, to begin them and to take them up again: the same calls for every store.
///
/// It is implemented by the stores of this crate alone. For a place of your own, implement
/// [`Log`](cogwork_flow::journal::Log).
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::{FileStore, Store, StoreError};
///
/// /// Goes on with a run until it ends, wherever it is kept.
/// async fn count(store: &impl Store, run_id: &str) -> Result<u32, Box<dyn std::error::Error>> {
///     let flow = Flow::builder("count")
///         .start("one")
///         .node("one", from_fn(|n: &mut u32| *n += 1))
///         .end("one", "default")
///         .build()?;
///     let journal = store.start_or_resume(run_id, &flow, &41).await?;
///     let mut n = journal.state()?;
///     flow.begin().with_journal(journal).finish(&mut n).await?;
///     Ok(n)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let store = FileStore::new(folder.path());
/// assert_eq!(count(&store, "first").await?, 42);
/// assert_eq!(store.runs().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
pub trait Store: Clone + fmt::Debug + Send + Sync + 'static {
    /// The run of an id, there or not. Nobody else can make a [`Kept`], so stores are those of
    /// this crate.
    #[doc(hidden)]
    fn kept(&self, run_id: &str) -> Kept;

    /// Where the runs are, for messages.
    #[doc(hidden)]
    fn place(&self) -> String;

    /// All runs. It may block.
    #[doc(hidden)]
    fn list(&self) -> Result<Vec<RunSummary>, StoreError>;

    /// Begins a run: puts it on record, with its input.
    ///
    /// # Errors
    ///
    /// When there is a run of this id [already](StoreError::is_already_there), the input cannot
    /// be [written as JSON](StoreError::is_value), or the store cannot be written.
    fn start<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        // Here and below all that is borrowed is read before anything waits, so that neither states
        // nor inputs need be `Sync`.
        let kept = self.kept(run_id);
        let header = Header::new(run_id, FlowIs::of(flow), input);
        async move { open(kept.0, Take::Start(header?)).await }
    }

    /// Takes up a run.
    ///
    /// # Errors
    ///
    /// When there is [none](StoreError::is_missing) of this id, another runner
    /// [has it](StoreError::is_locked), it is one of [another flow](StoreError::is_another_flow)
    /// or of this one before it was changed, or its record is [damaged](StoreError::is_damaged) or
    /// cannot be read.
    fn resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        open(self.kept(run_id).0, Take::Resume(FlowIs::of(flow)))
    }

    /// Begins a run, or takes it up where there is one of this id: what a program that is started
    /// again after each crash does. The input of a run that is there stays what it was.
    ///
    /// # Errors
    ///
    /// As [`start`](Store::start) and [`resume`](Store::resume).
    fn start_or_resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let kept = self.kept(run_id);
        let header = Header::new(run_id, FlowIs::of(flow), input);
        let flow = FlowIs::of(flow);
        async move { open(kept.0, Take::Either(header?, flow)).await }
    }

    /// Takes up a run whose flow has changed since: puts the flow as it is now on record, and keeps
    /// all outcomes.
    ///
    /// The run is replayed through the changed flow. Steps that have kept their names find their
    /// outcomes; a run that comes by another node than the one on record is refused there.
    ///
    /// # Errors
    ///
    /// As [`resume`](Store::resume), but for the change. A flow of another name is another flow.
    fn resume_changed<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        open(self.kept(run_id).0, Take::Changed(FlowIs::of(flow)))
    }

    /// Brings the answer of an event to a run that nobody runs now. The run takes it when it is
    /// taken up and waits for it. For one that runs here, use
    /// [`Run::deliver`](cogwork_flow::Run::deliver).
    ///
    /// Nothing here knows of which type the answer must be. One that the flow cannot read is refused
    /// when the run takes it: the run fails there once, and taken up again it waits on.
    ///
    /// # Errors
    ///
    /// When there is [none](StoreError::is_missing) of this id, it [runs](StoreError::is_locked) or
    /// [has ended](StoreError::is_ended), its flow waits for
    /// [no such event](StoreError::is_unknown_event), the answer cannot be [written as JSON](StoreError::is_value),
    /// or its record is [damaged](StoreError::is_damaged) or cannot be read or written.
    fn deliver(
        &self,
        run_id: &str,
        event: &str,
        answer: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let answer = serde_json::to_vec(answer).map_err(|error| {
            let event = Name(event);
            StoreError::new(
                Kind::Value,
                format_args!("the answer to `{event}` cannot be written as JSON: {error}"),
            )
        });

        let kept = self.kept(run_id);
        let event = event.to_owned();
        async move {
            let answer = answer?;
            let place = kept.0.place();
            let journal = open(kept.0, Take::Answer(event.clone())).await?;

            journal
                .deliver(&event, answer)
                .await
                .map_err(|error| StoreError::of_journal(&place, error))
        }
    }

    /// All runs, by their ids in order. None that is at work is disturbed.
    ///
    /// # Errors
    ///
    /// When the store cannot be read. One that is not there has no runs.
    fn runs(&self) -> impl Future<Output = Result<Vec<RunSummary>, StoreError>> + Send {
        let store = self.clone();
        async move { blocking(store.place(), move || store.list()).await }
    }
}

/// A run where a store keeps it.
pub struct Kept(pub(crate) Box<dyn Keep>);
