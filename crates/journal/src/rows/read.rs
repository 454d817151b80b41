//! Reads the lines of a run from a database.

use super::place::RunPlace;
use crate::StoreError;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::Wanted;
use crate::line::{Chain, Line, Text, too_long};

/// The record of a run.
pub(crate) struct Record {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Line>,
    pub(crate) chain: Chain,
}

/// Checks the lines of a run one by one.
pub(crate) struct RowReader<'a> {
    place: &'a RunPlace,
    wanted: &'a Wanted,
    chain: Chain,
    header: Option<Header>,
    entries: Vec<Line>,
    number: i64,
}

impl<'a> RowReader<'a> {
    pub(crate) fn new(place: &'a RunPlace, wanted: &'a Wanted) -> Self {
        Self {
            place,
            wanted,
            chain: Chain::default(),
            header: None,
            entries: Vec::new(),
            number: 0,
        }
    }

    /// Reads the next line, which is in a row with this number. `text` is `None` if the line is too
    /// long. `at` is the time in the row, if there is one.
    pub(crate) fn add(
        &mut self,
        number: i64,
        text: Option<&[u8]>,
        at: Option<u64>,
    ) -> Result<(), StoreError> {
        let place = self.place;
        self.number += 1;

        if number != self.number {
            let problem = format!("it is missing: the next line has the number {number}");
            return Err(place.problem(Kind::Damaged, self.number, &problem));
        }

        let Some(text) = text else {
            let problem = too_long("the line", place.max_line);
            return Err(place.problem(Kind::TooLarge, number, &problem));
        };

        let damaged = |problem| place.damaged_line(number, problem, text);
        if self.header.is_some() {
            let line = self.chain.entry(Text::Bytes(text)).map_err(damaged)?;
            let at = line.at.or(at);
            self.entries.push(Line { at, ..line });
            return Ok(());
        }

        let header = self.chain.header(text).map_err(damaged)?;
        self.wanted
            .check_header(&place.line(number), &place.run_id, &header)?;
        self.header = Some(header);
        Ok(())
    }

    /// Returns the record once all lines were read, of which there must be `written`. Returns
    /// `None` if there are none.
    pub(crate) fn finish(self, written: i64) -> Result<Option<Record>, StoreError> {
        let Self {
            place,
            number,
            header,
            entries,
            chain,
            ..
        } = self;

        if number != written {
            let problem = format!("the run has {number} lines here, and {written} were written");
            return Err(place.problem(Kind::Damaged, number + 1, &problem));
        }

        let last = entries.last().map(|line| &line.entry);
        self.wanted.check_end(&place.run_id, last)?;
        Ok(header.map(|header| Record {
            header,
            entries,
            chain,
        }))
    }
}
