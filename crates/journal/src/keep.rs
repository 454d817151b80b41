//! Taking a run, wherever it is kept.

use cogwork_files::LockFile;
use cogwork_flow::journal::Entry;
use cogwork_text::Name;

use crate::behind::blocking;
use crate::error::Kind;
use crate::header::{FlowIs, Header};
use crate::{RunJournal, StoreError};

/// A run in its store, there or not. Each call may block.
pub(crate) trait Keep: Send + 'static {
    fn run_id(&self) -> &str;

    /// The file, for messages.
    fn place(&self) -> String;

    /// Opens the folder that the run is in; `None` where there is none and none is to be made.
    fn open(&self, create: bool) -> Result<Option<Box<dyn OpenFolder + '_>>, StoreError>;
}

/// The open folder of a run: all that is done to the run is done in this one, whatever its path leads to
/// meanwhile.
pub(crate) trait OpenFolder {
    fn is_there(&self) -> Result<bool, StoreError>;

    fn lock(&self) -> Result<LockFile, StoreError>;

    /// Puts the run on record. It is not there yet.
    fn start(&self, header: Header, lock: LockFile) -> Result<RunJournal, StoreError>;

    /// Reads the run, and makes it the one that is wanted.
    fn resume(&self, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError>;
}

/// What to do with a run that is there, or is not.
pub(crate) enum Take {
    Start(Header),
    Resume(FlowIs),
    Either(Header, FlowIs),
    Changed(FlowIs),
    /// To bring the answer of this event.
    Answer(String),
}

/// What a run on record must be.
pub(crate) enum Wanted {
    /// One of this flow as it is.
    Same(FlowIs),
    /// One of this flow, which takes the place of the one on record.
    Changed(FlowIs),
    /// One that can take an answer.
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

        let create = matches!(self, Self::Start(_) | Self::Either(..));
        let Some(folder) = run.open(create)? else {
            return Err(missing());
        };

        // Looked at first, so that asking for a run leaves no lock file.
        if !create && !folder.is_there()? {
            return Err(missing());
        }

        let lock = folder.lock()?;
        match (self, folder.is_there()?) {
            (Self::Start(header) | Self::Either(header, _), false) => folder.start(header, lock),
            (_, false) => Err(missing()),
            (Self::Start(_), true) => {
                let run_id = Name(run.run_id());
                let place = run.place();
                Err(StoreError::new(
                    Kind::AlreadyThere,
                    format_args!(
                        "the run `{run_id}` is there already, in {place}: resume it, or take another id"
                    ),
                ))
            }
            (Self::Resume(flow) | Self::Either(_, flow), true) => {
                folder.resume(Wanted::Same(flow), lock)
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
    /// That the first line, which is at `place`, is that of the run.
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
            Self::Changed(flow) => header.check_name(place, flow),
            Self::Answerable => Ok(()),
        }
    }

    /// That the last entry leaves a run to go on with.
    pub(crate) fn check_end(&self, run_id: &str, last: Option<&Entry>) -> Result<(), StoreError> {
        match (self, last) {
            (Self::Answerable, Some(Entry::Ended { .. })) => Err(StoreError::ended(run_id)),
            _ => Ok(()),
        }
    }

    /// Puts the flow as it is now into the header; answers whether that is another one.
    pub(crate) fn change(self, header: &mut Header) -> bool {
        match self {
            Self::Same(flow) | Self::Changed(flow) => header.take_shape(flow),
            Self::Answerable => false,
        }
    }
}
