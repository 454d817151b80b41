//! Opens a run in any store.

use cogwork_files::LockFile;
use cogwork_flow::journal::Entry;
use cogwork_text::Name;
use serde_json::value::RawValue;

use crate::behind::blocking;
use crate::error::Kind;
use crate::header::{FlowIs, Header};
use crate::{RunJournal, StoreError};

/// A run that may exist in a store. All calls may block.
pub(crate) trait Keep: Send + 'static {
    fn run_id(&self) -> &str;

    /// Returns the path of the file, for messages.
    fn place(&self) -> String;

    /// Opens the folder of the run. Returns `None` if it doesn't exist and `create` is `false`.
    fn open(&self, create: bool) -> Result<Option<Box<dyn OpenFolder + '_>>, StoreError>;
}

/// The open folder of a run. All operations use this folder, even if a different one takes its path
/// in the meantime.
pub(crate) trait OpenFolder {
    fn is_there(&self) -> Result<bool, StoreError>;

    fn lock(&self) -> Result<LockFile, StoreError>;

    /// Records a new run.
    fn start(&self, header: Header, lock: LockFile) -> Result<RunJournal, StoreError>;

    /// Reads the run and checks that it is the wanted one.
    fn resume(&self, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError>;
}

/// How to open a run.
pub(crate) enum Take {
    Start(Header),
    Resume(FlowIs),
    /// Start the run, or resume it if its input is the one in the header.
    Either(Header, FlowIs),
    /// Start the run, or resume it whatever its input is.
    AnyInput(Header, FlowIs),
    Changed(FlowIs),
    /// Open the run to deliver the answer to this event.
    Answer(String),
}

/// The conditions for a recorded run.
pub(crate) enum Wanted {
    /// The run must belong to this flow.
    Same(FlowIs),
    /// The run must belong to this flow and have been started with this input.
    SameInput(FlowIs, Box<RawValue>),
    /// The run must belong to an earlier version of this flow, which replaces the recorded one.
    Changed(FlowIs),
    /// The run must accept answers.
    Answerable,
}

pub(crate) async fn open(run: Box<dyn Keep>, take: Take) -> Result<RunJournal, StoreError> {
    blocking(run.place(), move || take.from(run.as_ref())).await
}

impl Take {
    fn from(self, run: &dyn Keep) -> Result<RunJournal, StoreError> {
        let missing = || {
            let run_id = Name(run.run_id());
            let place = run.place();
            StoreError::new(
                Kind::Missing,
                format_args!("there is no run `{run_id}`: it would be in {place}"),
            )
        };

        let create = matches!(self, Self::Start(_) | Self::Either(..) | Self::AnyInput(..));
        let Some(folder) = run.open(create)? else {
            return Err(missing());
        };

        // Checked first, so that a failed lookup leaves no lock file.
        if !create && !folder.is_there()? {
            return Err(missing());
        }

        let lock = folder.lock()?;
        match (self, folder.is_there()?) {
            (Self::Start(header) | Self::Either(header, _) | Self::AnyInput(header, _), false) => {
                folder.start(header, lock)
            }
            (_, false) => Err(missing()),
            (Self::Start(_), true) => {
                let run_id = Name(run.run_id());
                let place = run.place();
                Err(StoreError::new(
                    Kind::AlreadyThere,
                    format_args!(
                        "the run `{run_id}` already exists in {place}; resume it, or choose a different id"
                    ),
                ))
            }
            (Self::Resume(flow) | Self::AnyInput(_, flow), true) => {
                folder.resume(Wanted::Same(flow), lock)
            }
            (Self::Either(header, flow), true) => {
                folder.resume(Wanted::SameInput(flow, header.input), lock)
            }
            (Self::Changed(flow), true) => folder.resume(Wanted::Changed(flow), lock),
            (Self::Answer(event), true) => {
                let journal = folder.resume(Wanted::Answerable, lock)?;
                journal.check_event(&event)?;
                Ok(journal)
            }
        }
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
                header.check_shape(place, flow)
            }
            Self::SameInput(flow, input) => {
                header.check_name(place, flow)?;
                // Checked before the shape, because a run of a changed flow can be resumed without
                // comparing its input.
                header.check_input(place, input)?;
                header.check_shape(place, flow)
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
            Self::Answerable => false,
        }
    }
}
