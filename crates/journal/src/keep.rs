//! Opens a run in any store.

use std::ops::Range;

use async_trait::async_trait;
use cogwork_flow::journal::{Entry, Journal};
use cogwork_text::Name;
use serde_json::value::RawValue;

use crate::error::Kind;
use crate::header::{FlowIs, Header};
use crate::line::Line;
use crate::{RecordedEntry, RunJournal, StoreError};

/// A run that may exist in a store.
#[async_trait]
pub(crate) trait Keep: Send + 'static {
    /// Returns the location of the run, for messages.
    fn place(&self) -> String;

    /// Opens the run for one runner.
    async fn open(self: Box<Self>, take: Take) -> Result<RunJournal, StoreError>;

    /// Delivers an answer to an event, which is a JSON text.
    async fn deliver(self: Box<Self>, event: &str, answer: Vec<u8>) -> Result<(), StoreError> {
        let place = self.place();
        let journal = self.open(Take::resume(Wanted::Answerable)).await?;
        journal.check_event(event)?;

        let delivered = journal.deliver(event, answer).await;
        delivered.map_err(|error| StoreError::of_journal(&place, error))
    }

    /// Returns whether somebody has the run open.
    async fn is_in_use(self: Box<Self>) -> Result<bool, StoreError>;

    /// Reads the whole record without locking the run, and checks that it is the wanted one.
    async fn read(self: Box<Self>, wanted: Wanted) -> Result<RecordedRun, StoreError>;

    /// Reads entries, without locking the run.
    async fn entries(self: Box<Self>, range: Range<u64>) -> Result<Vec<RecordedEntry>, StoreError>;

    /// Removes the run.
    async fn remove(self: Box<Self>) -> Result<(), StoreError>;
}

/// The record of a run.
pub(crate) struct RecordedRun {
    pub(crate) header: Header,
    pub(crate) lines: Vec<Line>,
}

/// A run to start. Its record may begin with lines of a different one.
#[derive(Clone)]
pub(crate) struct NewRun {
    pub(crate) header: Header,
    pub(crate) lines: Vec<Line>,
}

impl From<Header> for NewRun {
    fn from(header: Header) -> Self {
        Self {
            header,
            lines: Vec::new(),
        }
    }
}

/// How to open a run.
#[derive(Clone)]
pub(crate) struct Take {
    /// What to start if the run doesn't exist.
    pub(crate) start: Option<NewRun>,
    /// The conditions for resuming the run if it exists.
    pub(crate) resume: Option<Wanted>,
}

/// The conditions for a recorded run.
#[derive(Clone)]
pub(crate) enum Wanted {
    /// The run must belong to this flow.
    Same(FlowIs),
    /// The run must belong to this flow and have been started with this input.
    SameInput(FlowIs, Box<RawValue>),
    /// The run must belong to an earlier version of this flow, which replaces the recorded one.
    Changed(FlowIs),
    /// The run must belong to this flow, or to an earlier version of it if it may have changed.
    Fork { flow: FlowIs, changes_flow: bool },
    /// The run must accept answers.
    Answerable,
}

/// How to continue once it is known whether the run exists.
pub(crate) enum Opening {
    Start(NewRun),
    Resume(Wanted),
}

impl Take {
    pub(crate) fn start(run: impl Into<NewRun>) -> Self {
        Self {
            start: Some(run.into()),
            resume: None,
        }
    }

    pub(crate) fn resume(wanted: Wanted) -> Self {
        Self {
            start: None,
            resume: Some(wanted),
        }
    }

    /// Decides how to open a run. `place` is the location of the run, for messages.
    pub(crate) fn opening(
        self,
        exists: bool,
        run_id: &str,
        place: &str,
    ) -> Result<Opening, StoreError> {
        if exists {
            let wanted = self.resume.map(Opening::Resume);
            return wanted.ok_or_else(|| StoreError::already_there(run_id, place));
        }

        let new = self.start.map(Opening::Start);
        new.ok_or_else(|| StoreError::missing(run_id, place))
    }
}

impl Wanted {
    /// Checks that the first line, which is at `place`, belongs to the run.
    pub(crate) fn check_header(
        &self,
        place: &str,
        run_id: &str,
        header: &Header,
    ) -> Result<(), StoreError> {
        if header.run_id != run_id {
            let (run_id, other) = (Name(run_id), Name(&header.run_id));
            return Err(StoreError::new(
                Kind::Damaged,
                format_args!("{place}: this is the run `{other}`, not `{run_id}`"),
            ));
        }

        match self {
            Self::Same(flow) => {
                header.check_name(place, flow)?;
                header.check_shape(place, flow, "resume_changed")
            }
            Self::Fork { flow, changes_flow } => {
                header.check_name(place, flow)?;
                if *changes_flow {
                    return Ok(());
                }
                header.check_shape(place, flow, "Fork::with_changed_flow")
            }
            Self::SameInput(flow, input) => {
                header.check_name(place, flow)?;
                // Checked before the shape, because a run of a changed flow can be resumed without
                // comparing its input.
                header.check_input(place, input)?;
                header.check_shape(place, flow, "resume_changed")
            }
            Self::Changed(flow) => header.check_name(place, flow),
            Self::Answerable => Ok(()),
        }
    }

    /// Checks that the run can continue after the last entry.
    pub(crate) fn check_end(&self, run_id: &str, last: Option<&Entry>) -> Result<(), StoreError> {
        match (self, last) {
            (Self::Answerable, Some(Entry::Ended { .. })) => Err(StoreError::ended(run_id)),
            _ => Ok(()),
        }
    }

    /// Stores the current flow in the header. Returns whether it changed.
    pub(crate) fn change(self, header: &mut Header) -> bool {
        match self {
            Self::Same(flow) | Self::SameInput(flow, _) | Self::Changed(flow) => {
                header.take_shape(flow)
            }
            Self::Fork { .. } | Self::Answerable => false,
        }
    }
}
