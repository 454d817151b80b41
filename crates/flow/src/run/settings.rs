//! Settings of a run.

use std::num::NonZeroU64;
use std::sync::Arc;

use cogwork_text::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Run;
use crate::engine::{IntoJournal, Json, OutcomeProblem, Snapshot};
use crate::execute::cursor::Cursor;
use crate::execute::named_step::Attached;
use crate::watch::EventSink;

/// Settings that few runs have.
pub(super) struct Extra<S> {
    pub(super) id: Option<Arc<str>>,
    /// The sink of events, until the run has started.
    pub(super) sink: Option<EventSink>,
    /// After how many steps a snapshot replaces the record, and how the state is serialised for it.
    pub(super) folding: Option<(NonZeroU64, WriteState<S>)>,
    /// Serialises the state, until the journal has accepted it.
    pub(super) first_state: Option<WriteState<S>>,
    /// Why the journal's snapshot doesn't belong to this flow.
    pub(super) misplaced: Option<String>,
}

impl<S> Default for Extra<S> {
    fn default() -> Self {
        Self {
            id: None,
            sink: None,
            folding: None,
            first_state: None,
            misplaced: None,
        }
    }
}

/// Serialises a state.
pub(super) type WriteState<S> = fn(&S) -> Result<Json, OutcomeProblem>;

impl<S> Run<'_, S> {
    /// Sets the maximum number of steps, including those in subflows, items and branches. A run
    /// that reached the limit can be resumed with a higher one.
    ///
    /// # Default
    ///
    /// [`Run::DEFAULT_MAX_STEPS`].
    #[must_use]
    pub fn with_max_steps(mut self, steps: u64) -> Self {
        self.context.budget.max = steps;
        self
    }

    /// Sets the time at which the run is stopped, wherever it is. The clock is tokio's, so tests
    /// can pause it.
    ///
    /// # Default
    ///
    /// None.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.stop.get_or_insert_default().deadline = Some(deadline);
        self
    }

    /// Stops the run, wherever it is, when the token is cancelled. A run whose nodes never wait
    /// checks the token, and the deadline, every 128 steps.
    ///
    /// # Default
    ///
    /// None. Dropping the future also stops a run, but without an error that contains the location.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.stop.get_or_insert_default().token = Some(token);
        self
    }

    /// Sets the name of the run in its events.
    ///
    /// # Default
    ///
    /// The run id of the journal; without a journal `run 1`, `run 2` and so on, counted per
    /// process.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.extra().id = Some(id.into());
        self
    }

    /// Sends the events of the run to `sink`: a channel, created by [`events`](crate::watch::events()), or
    /// an [`Observer`](crate::watch::Observer), such as a recorder. If this is called several times, each
    /// sink gets all events.
    ///
    /// # Default
    ///
    /// No events, at no cost.
    #[must_use]
    pub fn with_events(mut self, sink: impl Into<EventSink>) -> Self {
        let sink = sink.into();
        match &mut self.extra().sink {
            Some(first) => first.0.extend(sink.0),
            none => *none = Some(sink),
        }

        self
    }

    /// Records every outcome of `exec`, and uses the outcomes that are already recorded: given the
    /// journal of an earlier run and its initial state, the run continues where the earlier one
    /// stopped.
    ///
    /// `post` always gets an outcome that was read back from its serialised form, even when it is
    /// new.
    ///
    /// # The state
    ///
    /// A digest of the first state is recorded before the first step. When the run is resumed, it
    /// has to begin with an equal state; otherwise, it would continue with the outcomes of a
    /// different one. States are equal if their JSON values are: the order of keys doesn't matter,
    /// but the order of items in a list does. See
    /// [`StateDigest`](crate::engine::StateDigest). The state isn't stored. A run that was recorded
    /// without a digest accepts every state, and so does a state that cannot be written as JSON.
    ///
    /// For a state that isn't `Serialize`, or that is different in each process, use
    /// [`with_journal_any_state`](Run::with_journal_any_state).
    ///
    /// # Default
    ///
    /// No journal, at no cost.
    #[must_use]
    pub fn with_journal(self, journal: impl IntoJournal) -> Self
    where
        S: Serialize,
    {
        let mut run = self.with_journal_any_state(journal);
        run.extra().first_state = Some(|state| Json::of(state));
        run
    }

    /// Does the same as [`with_journal`](Run::with_journal), but without comparing the state with
    /// that of the record. It is up to the program to resume the run with the same state.
    ///
    /// # Default
    ///
    /// No journal, at no cost.
    #[must_use]
    pub fn with_journal_any_state(mut self, journal: impl IntoJournal) -> Self {
        let journal = journal.into_journal();
        // The steps before a snapshot aren't on record any more, so the run begins there.
        if let Some(snapshot) = journal.snapshot()
            && let Err(problem) = self.begin_at(&snapshot)
        {
            self.extra().misplaced = Some(problem);
        }

        self.attached().journal = Some(journal);
        self
    }

    /// Stays at waits instead of pausing: [`finish`](Run::finish) goes on when an answer is
    /// [delivered](crate::engine::Journal::deliver) to the journal, of which the program keeps an
    /// `Arc`. What happened in the other items and branches isn't replayed, so `n` items that are
    /// answered one by one take time in proportion to `n`. The events of the run contain what it
    /// waits for.
    ///
    /// An item that waits counts as one of those that run at a time. The run still pauses if it has
    /// no journal, or one that doesn't learn of answers in this process.
    ///
    /// ```
    /// use cogwork_flow::engine::{Journal, Json, MemoryJournal};
    /// use cogwork_flow::{Flow, Wait};
    /// use std::sync::Arc;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ask = Wait::for_event("name", |text: &mut String, name: String| text.push_str(&name));
    /// let flow = Flow::builder("greet").wait("ask", ask).chain(["ask"]).build()?;
    ///
    /// let journal = Arc::new(MemoryJournal::new("greeting 1"));
    /// let mut run = flow.begin().with_journal(Arc::clone(&journal)).with_live_waits();
    /// let mut text = "Hello, ".to_owned();
    ///
    /// let (ended, answered) = tokio::join!(
    ///     run.finish(&mut text),
    ///     journal.deliver("name", Json::of(&"Ada")?),
    /// );
    /// ended?;
    /// answered.map_err(|error| error as Box<dyn std::error::Error>)?;
    /// assert_eq!(text, "Hello, Ada");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Default
    ///
    /// The run pauses.
    #[must_use]
    pub fn with_live_waits(mut self) -> Self {
        self.attached().is_live = true;
        self
    }

    fn begin_at(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        let (number, steps) = (snapshot.number, snapshot.steps);
        // Each step of the flow is one of all, so this snapshot was edited.
        if number > steps {
            return Err(format!(
                "its snapshot counts {number} steps of the flow, and {steps} in all"
            ));
        }

        let Some(cursor) = Cursor::at_node(&self.flow.wiring, &snapshot.node, number) else {
            let node = snapshot.node.join("/");
            let node = Name(&node);
            return Err(format!(
                "its snapshot is at `{node}`, which isn't a node of this flow"
            ));
        };

        self.cursor = cursor;
        self.context.budget.begin_at(steps);
        Ok(())
    }

    /// Sets the maximum size of the JSON of an outcome, in bytes. A larger outcome fails its `exec`
    /// and isn't recorded. Without a journal, the size isn't checked.
    ///
    /// # Default
    ///
    /// 16 MiB.
    #[must_use]
    pub fn with_max_outcome(mut self, bytes: usize) -> Self {
        self.attached().max_outcome = Some(bytes);
        self
    }

    /// Folds the record every `steps` steps, not counting steps inside items and branches: a
    /// snapshot of the state replaces the record, so that the record of a long run stays short. A
    /// replay doesn't fold before it has passed the end of the record. Each snapshot repeats all
    /// answers that no step has used yet. If there are many, the record is only folded after as
    /// many new entries.
    ///
    /// # Default
    ///
    /// The record grows for as long as the run continues.
    #[must_use]
    pub fn with_fold_every(mut self, steps: NonZeroU64) -> Self
    where
        S: Serialize + DeserializeOwned,
    {
        let write = |state: &S| {
            let json = Json::of(state)?;
            json.read::<S>()?; // a snapshot that cannot be read back would lose the run
            Ok(json)
        };

        self.extra().folding = Some((steps, write));
        self
    }

    pub(super) fn extra(&mut self) -> &mut Extra<S> {
        self.extra.get_or_insert_default()
    }

    pub(super) fn attached(&mut self) -> &mut Attached {
        Arc::make_mut(self.context.attached.get_or_insert_default())
    }
}
