//! The record of a run: its header and its entries, read from lines.

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::engine::{Entry, EntryError, Recorded};
use cogwork_text::Name;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::backend::{Backend, TextLine};
use crate::header::Header;
use crate::{StoreError, StoreErrorKind};

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
        let place = self.backend.line_place(self.run_id, 1);
        let header: Header = parse(&place, &line.text)?;
        // Somebody may have copied or renamed the file.
        if header.run_id == self.run_id {
            return Ok(header);
        }

        let (run_id, other) = (Name(self.run_id), Name(&header.run_id));
        let text = format_args!("{place}: this is the run `{other}`, not `{run_id}`");
        Err(StoreError::new(StoreErrorKind::Damaged, text))
    }

    /// Reads further lines, of which the first has this number.
    pub(crate) fn entries(self, lines: &[TextLine], first: u64) -> Result<Vec<Line>, StoreError> {
        let numbered = lines.iter().zip(first..);
        numbered
            .map(|(line, number)| self.entry(number, line))
            .collect()
    }

    pub(crate) fn entry(self, number: u64, line: &TextLine) -> Result<Line, StoreError> {
        let place = self.backend.line_place(self.run_id, number);
        let entry = parse(&place, &line.text)?;
        Ok(Line { entry, at: line.at })
    }

    /// Checks that each entry can follow the entries before it.
    pub(crate) fn check_order(self, lines: &[Line]) -> Result<(), StoreError> {
        check_order(lines).map_err(|error| self.out_of_place(&error))
    }

    /// Returns the error for an entry that cannot follow the entries before it.
    pub(crate) fn out_of_place(self, error: &EntryError) -> StoreError {
        // The first line is the header, and lines are counted from 1.
        let place = self.backend.line_place(self.run_id, error.index as u64 + 2);
        StoreError::new(
            StoreErrorKind::Damaged,
            format_args!("{place}: {}", error.problem),
        )
    }

    pub(crate) fn missing(self) -> StoreError {
        StoreError::missing(self.run_id, &self.backend.run_place(self.run_id))
    }
}

/// Reads the JSON of a line.
pub(crate) fn parse<T: DeserializeOwned>(place: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| {
        let problem = format!("{place}: the line isn't one of a journal: {error}");
        StoreError::new(StoreErrorKind::Damaged, problem)
    })
}

/// Checks that each entry can follow the entries before it.
pub(crate) fn check_order(lines: &[Line]) -> Result<(), EntryError> {
    let entries = lines.iter().map(|line| line.entry.clone());
    // A journal that is thrown away, because only a journal knows the rules.
    Recorded::over("", entries, ()).map(drop)
}

/// What a recorded run has to be.
#[derive(Clone)]
pub(crate) struct Wanted {
    /// The flow to which it must belong; `None` for any.
    pub(crate) flow: Option<FlowGraph>,
    /// Whether that may have changed since.
    pub(crate) may_have_changed: bool,
    /// The input with which it must have been started; `None` for any.
    pub(crate) input: Option<Box<RawValue>>,
}

impl Wanted {
    /// Any run, whatever its flow is.
    pub(crate) fn any() -> Self {
        Self {
            flow: None,
            may_have_changed: true,
            input: None,
        }
    }

    pub(crate) fn flow(flow: FlowGraph) -> Self {
        Self {
            flow: Some(flow),
            may_have_changed: false,
            input: None,
        }
    }

    /// Checks that the record of a run is the wanted one.
    pub(crate) fn check(&self, reader: Reader<'_>, header: &Header) -> Result<(), StoreError> {
        let place = &reader.backend.line_place(reader.run_id, 1);
        let Some(flow) = &self.flow else {
            return Ok(());
        };

        header.check_name(place, flow)?;
        // Before the shape, because a run of a changed flow can be resumed without comparing its input.
        if let Some(input) = &self.input {
            header.check_input(place, input)?;
        }
        match self.may_have_changed {
            true => Ok(()),
            false => header.check_graph(place, flow),
        }
    }
}
