//! The record of a run: its header and its entries, read from lines.

use cogwork_flow::FlowGraph;
use cogwork_flow::journal::{Entry, EntryError, Recorded};
use cogwork_text::Name;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::StoreError;
use crate::backend::{Backend, TextLine};
use crate::error::Kind;
use crate::header::Header;

/// An entry, and when it was recorded.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) entry: Entry,
    /// Milliseconds since 1970; `None` until it is written.
    pub(crate) at: Option<u64>,
}

/// The record of a run. That of a new run may begin with lines of a different one.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) header: Header,
    pub(crate) lines: Vec<Line>,
}

impl From<Header> for Record {
    fn from(header: Header) -> Self {
        Self {
            header,
            lines: Vec::new(),
        }
    }
}

/// Reads the lines of a run.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) run_id: &'a str,
}

impl Reader<'_> {
    pub(crate) fn record(self, lines: &[TextLine]) -> Result<Record, StoreError> {
        let (first, lines) = lines.split_first().ok_or_else(|| self.missing())?;
        Ok(Record {
            header: self.header(first)?,
            lines: self.entries(lines, 2)?,
        })
    }

    /// Reads the first line, and checks that it belongs to the run.
    pub(crate) fn header(self, line: &TextLine) -> Result<Header, StoreError> {
        let header: Header = self.parse(1, &line.text)?;
        if header.run_id == self.run_id {
            return Ok(header);
        }

        let place = self.backend.line_place(self.run_id, 1);
        let (run_id, other) = (Name(self.run_id), Name(&header.run_id));
        let text = format_args!("{place}: this is the run `{other}`, not `{run_id}`");
        Err(StoreError::new(Kind::Damaged, text))
    }

    /// Reads further lines, of which the first has this number.
    pub(crate) fn entries(self, lines: &[TextLine], first: u64) -> Result<Vec<Line>, StoreError> {
        let read = |(line, number): (&TextLine, u64)| {
            let entry = self.parse(number, &line.text)?;
            Ok(Line { entry, at: line.at })
        };
        lines.iter().zip(first..).map(read).collect()
    }

    /// Checks that each entry can follow the entries before it.
    pub(crate) fn check_order(self, lines: &[Line]) -> Result<(), StoreError> {
        check_order(lines).map_err(|error| self.out_of_place(&error))
    }

    /// Returns the error for an entry that cannot follow the entries before it.
    pub(crate) fn out_of_place(self, error: &EntryError) -> StoreError {
        // The first line is the header, and lines are counted from 1.
        let place = self.backend.line_place(self.run_id, error.index as u64 + 2);
        StoreError::new(Kind::Damaged, format_args!("{place}: {}", error.problem))
    }

    pub(crate) fn missing(self) -> StoreError {
        StoreError::missing(self.run_id, &self.backend.run_place(self.run_id))
    }

    fn parse<T: DeserializeOwned>(self, number: u64, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| {
            let place = self.backend.line_place(self.run_id, number);
            let problem = format!("{place}: the line isn't one of a journal: {error}");
            StoreError::line(Kind::Damaged, problem, number, text.as_bytes())
        })
    }
}

/// Checks that each entry can follow the entries before it.
pub(crate) fn check_order(lines: &[Line]) -> Result<(), EntryError> {
    let entries = lines.iter().map(|line| line.entry.clone());
    Recorded::over("", entries, ()).map(drop)
}

/// The conditions for a recorded run.
#[derive(Clone)]
pub(crate) enum Wanted {
    /// The run must belong to this flow.
    Same(FlowGraph),
    /// The run must belong to this flow and have been started with this input.
    SameInput(FlowGraph, Box<RawValue>),
    /// The run must belong to an earlier version of this flow, which replaces the recorded one.
    Changed(FlowGraph),
    /// The run must belong to this flow, or to an earlier version of it if it may have changed.
    Fork { flow: FlowGraph, changes_flow: bool },
    /// The run must accept answers.
    Answerable,
}

impl Wanted {
    /// Checks that the record of a run is the wanted one.
    pub(crate) fn check(&self, reader: Reader<'_>, record: &Record) -> Result<(), StoreError> {
        let header = &record.header;
        let place = reader.backend.line_place(reader.run_id, 1);

        match self {
            Self::Same(flow) => {
                header.check_name(&place, flow)?;
                header.check_graph(&place, flow, "resume_changed")
            }
            Self::Fork { flow, changes_flow } => {
                header.check_name(&place, flow)?;
                if *changes_flow {
                    return Ok(());
                }
                header.check_graph(&place, flow, "Fork::with_changed_flow")
            }
            Self::SameInput(flow, input) => {
                header.check_name(&place, flow)?;
                // Checked before the shape, because a run of a changed flow can be resumed without
                // comparing its input.
                header.check_input(&place, input)?;
                header.check_graph(&place, flow, "resume_changed")
            }
            Self::Changed(flow) => header.check_name(&place, flow),
            Self::Answerable => match record.lines.last().map(|line| &line.entry) {
                Some(Entry::Ended { .. }) => Err(StoreError::ended(reader.run_id)),
                _ => Ok(()),
            },
        }
    }

    /// Stores the current flow in the header. Returns whether it changed.
    pub(crate) fn change(self, header: &mut Header) -> bool {
        match self {
            Self::Same(flow) | Self::SameInput(flow, _) | Self::Changed(flow) => {
                header.take_graph(flow)
            }
            Self::Fork { .. } | Self::Answerable => false,
        }
    }
}
