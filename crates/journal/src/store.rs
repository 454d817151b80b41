use std::fmt;
use std::ops::RangeBounds;

use cogwork_flow::Flow;
use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::entries::indexes;
use crate::error::Kind;
use crate::header::{FlowIs, Header};
use crate::keep::{Keep, Take, Wanted};
use crate::{Fork, ForkPreview, RecordedEntry, RunJournal, RunSummary, StoreError};

/// A store that starts, resumes and lists runs. All stores have the same methods.
///
/// Only the stores of this crate implement this trait. To store runs elsewhere, implement
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
    /// Returns the run with this id, which may not exist. Only this crate can create a [`Kept`].
    #[doc(hidden)]
    fn kept(&self, run_id: &str) -> Kept;

    /// Returns the location of the runs, for messages.
    #[doc(hidden)]
    fn place(&self) -> String;

    /// Returns all runs.
    #[doc(hidden)]
    fn list(&self) -> impl Future<Output = Result<Vec<RunSummary>, StoreError>> + Send;

    /// Starts a run and records its input.
    ///
    /// # Errors
    ///
    /// Returns an error if a run with this id [already exists](StoreError::is_already_there), if
    /// the input cannot be [written as JSON](StoreError::is_value), or if the store cannot be
    /// written.
    fn start<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        // Here and below, everything borrowed is read before the first `await`, so that neither
        // states nor inputs need be `Sync`.
        let kept = self.kept(run_id);
        let header = Header::new(run_id, FlowIs::of(flow), input);
        async move { kept.0.open(Take::start(header?)).await }
    }

    /// Resumes a run.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it is [in
    /// use](StoreError::is_locked), if it belongs to a [different
    /// flow](StoreError::is_another_flow) or to an earlier version of this one, or if its record is
    /// [damaged](StoreError::is_damaged) or cannot be read.
    fn resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let wanted = Wanted::Same(FlowIs::of(flow));
        self.kept(run_id).0.open(Take::resume(wanted))
    }

    /// Resumes the run with this id, or starts it if it doesn't exist. A program that is restarted
    /// after a crash needs only this method.
    ///
    /// A run that exists must have been started with the same input. Otherwise it would return the
    /// results of a different input, for instance of yesterday's problem. Inputs are compared as
    /// JSON values, so the order of keys doesn't matter, but the order of items in a list does: a
    /// `HashSet` is a different input each time, a `BTreeSet` isn't. If the input contains something
    /// that differs in each start, such as the current time, use
    /// [`start_or_resume_any_input`](Store::start_or_resume_any_input).
    ///
    /// # Errors
    ///
    /// Returns an error if the run was started with a [different
    /// input](StoreError::is_another_input), and otherwise the same errors as
    /// [`start`](Store::start) and [`resume`](Store::resume).
    fn start_or_resume<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let kept = self.kept(run_id);
        let header = Header::new(run_id, FlowIs::of(flow), input);
        let flow = FlowIs::of(flow);
        async move {
            let header = header?;
            let resume = Some(Wanted::SameInput(flow, header.input.clone()));
            let start = Some(header.into());
            kept.0.open(Take { start, resume }).await
        }
    }

    /// Resumes the run with this id with its recorded input, whatever that is, or starts it with
    /// this input if it doesn't exist.
    ///
    /// # Errors
    ///
    /// The same as [`start`](Store::start) and [`resume`](Store::resume).
    fn start_or_resume_any_input<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let kept = self.kept(run_id);
        let header = Header::new(run_id, FlowIs::of(flow), input);
        let resume = Some(Wanted::Same(FlowIs::of(flow)));
        async move {
            let start = Some(header?.into());
            kept.0.open(Take { start, resume }).await
        }
    }

    /// Resumes a run whose flow has changed: records the current flow and keeps all outcomes.
    ///
    /// The run is replayed through the changed flow. Steps with the same names use their recorded
    /// outcomes. If the run visits a different node than the recorded one, it fails at that step.
    ///
    /// # Errors
    ///
    /// The same as [`resume`](Store::resume), except that the flow may have changed. A flow with a
    /// different name counts as a different flow.
    fn resume_changed<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let wanted = Wanted::Changed(FlowIs::of(flow));
        self.kept(run_id).0.open(Take::resume(wanted))
    }

    /// Starts a new run with a part of the record of this one, for example to try a different model or
    /// reply from a certain step on. See [`Fork`].
    ///
    /// The run isn't locked and may be in use; the fork has what was on record when it was read. The
    /// new run exists completely or not at all.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it belongs to a
    /// [different flow](StoreError::is_another_flow) or, unless the fork [allows
    /// it](Fork::with_changed_flow), to an earlier version of this one, if it cannot be forked [at
    /// this step](StoreError::is_unknown_step), if a run with the id of the fork [already
    /// exists](StoreError::is_already_there) or is [in use](StoreError::is_locked), if a state or an
    /// outcome cannot be [written or read as JSON](StoreError::is_value), if the record is
    /// [damaged](StoreError::is_damaged), or if the store cannot be read or written.
    fn fork<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        fork: Fork<S>,
    ) -> impl Future<Output = Result<RunJournal, StoreError>> + Send {
        let store = self.clone();
        async move { fork.start(store, run_id, flow).await }
    }

    /// Returns what a fork would begin with, without starting it: the outcomes that it could edit, and
    /// the state before its first step, for example for a form in which a person edits them.
    ///
    /// The steps that the fork keeps are replayed in memory. So this also checks that the flow visits
    /// the same nodes, and that it can read the edited outcomes and states.
    ///
    /// The run must have begun with its input as its state.
    ///
    /// ```
    /// # use cogwork_flow::{Flow, from_fn};
    /// # use cogwork_journal::{FileStore, Fork, Store};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let store = FileStore::new(folder.path());
    /// # let flow = Flow::builder("add")
    /// #     .node("one", from_fn(|n: &mut u32| *n += 1))
    /// #     .node("two", from_fn(|n: &mut u32| *n += 2))
    /// #     .chain(["one", "two"])
    /// #     .build()?;
    /// # let journal = store.start("order-17", &flow, &40).await?;
    /// # flow.begin().with_journal(journal).finish(&mut 40).await?;
    /// let preview = store.preview_fork("order-17", &flow, Fork::at(2)).await?;
    /// assert_eq!(preview.state, 41);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`fork`](Self::fork) that aren't about the new run, and an error if the
    /// flow cannot replay the steps.
    fn preview_fork<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        fork: Fork<S>,
    ) -> impl Future<Output = Result<ForkPreview<S>, StoreError>> + Send
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        let store = self.clone();
        async move { fork.preview(store, run_id, flow).await }
    }

    /// Delivers the answer to an event to a run that isn't in use. The run uses the answer when it
    /// is resumed and reaches a wait for the event. For a run in this process, use
    /// [`Run::deliver`](cogwork_flow::Run::deliver).
    ///
    /// The type of the answer isn't checked here. If the flow cannot read the answer, the run fails
    /// once, when it uses the answer. If it is resumed after that, it continues to wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it is [in
    /// use](StoreError::is_locked) or [has ended](StoreError::is_ended), if its flow doesn't wait
    /// for [this event](StoreError::is_unknown_event), if the answer cannot be [written as
    /// JSON](StoreError::is_value), or if the record is [damaged](StoreError::is_damaged) or cannot
    /// be read or written.
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
        async move { kept.0.deliver(&event, answer?).await }
    }

    /// Returns whether a run is in use, in this process or a different one. By the time this returns,
    /// that may have changed.
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), or if this cannot be
    /// determined, for example because the disk is read-only.
    fn is_in_use(&self, run_id: &str) -> impl Future<Output = Result<bool, StoreError>> + Send {
        let kept = self.kept(run_id);
        async move { kept.0.is_in_use().await }
    }

    /// Returns all runs, sorted by id, without locking them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read. A store that doesn't exist has no runs.
    fn runs(&self) -> impl Future<Output = Result<Vec<RunSummary>, StoreError>> + Send {
        let store = self.clone();
        async move { store.list().await }
    }

    /// Returns some entries of the record of a run, with the times at which they were recorded. The
    /// run isn't locked and may be in use. The indexes of entries start at 0, and change when the
    /// record is folded.
    ///
    /// All entries in the range are in memory at once, and a file is read from its beginning, so
    /// read a long record in parts.
    ///
    /// ```
    /// # use cogwork_flow::{Flow, from_fn};
    /// # use cogwork_journal::{FileStore, Store};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let store = FileStore::new(folder.path());
    /// # let flow = Flow::builder("add")
    /// #     .start("one")
    /// #     .node("one", from_fn(|n: &mut u32| *n += 1))
    /// #     .end("one", "default")
    /// #     .build()?;
    /// let journal = store.start("order-17", &flow, &41).await?;
    /// flow.begin().with_journal(journal).finish(&mut 41).await?;
    ///
    /// for recorded in store.entries("order-17", ..100).await? {
    ///     println!("{:?}: {:?}", recorded.at, recorded.entry);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), or if these entries are
    /// [damaged](StoreError::is_damaged) or cannot be read.
    fn entries(
        &self,
        run_id: &str,
        range: impl RangeBounds<u64>,
    ) -> impl Future<Output = Result<Vec<RecordedEntry>, StoreError>> + Send {
        let kept = self.kept(run_id);
        let range = indexes(&range);
        async move { kept.0.entries(range).await }
    }

    /// Removes a run and its record. After that, a new run with the same id can be started.
    ///
    /// ```
    /// # use cogwork_flow::{Flow, from_fn};
    /// # use cogwork_journal::{FileStore, Store};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let store = FileStore::new(folder.path());
    /// # let flow = Flow::builder("add")
    /// #     .start("one")
    /// #     .node("one", from_fn(|n: &mut u32| *n += 1))
    /// #     .end("one", "default")
    /// #     .build()?;
    /// drop(store.start("order-17", &flow, &41).await?);
    /// store.remove("order-17").await?;
    /// assert!(store.resume("order-17", &flow).await.unwrap_err().is_missing());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the run [doesn't exist](StoreError::is_missing), if it is [in
    /// use](StoreError::is_locked), or if it cannot be removed. A [damaged](StoreError::is_damaged)
    /// run can be removed.
    fn remove(&self, run_id: &str) -> impl Future<Output = Result<(), StoreError>> + Send {
        let kept = self.kept(run_id);
        async move { kept.0.remove().await }
    }
}

/// A run in a store.
pub struct Kept(pub(crate) Box<dyn Keep>);
