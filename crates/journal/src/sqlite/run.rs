//! A run in a database.

use std::sync::Arc;

use cogwork_files::{Folder, LockFile};
use cogwork_flow::journal::{Entry, Recorded};
use cogwork_text::Name;
use rusqlite::{Connection, OptionalExtension};

use super::database::Database;
use super::turns::Row;
use super::write::Writer;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{Keep, OpenFolder, Wanted};
use crate::line::Chain;
use crate::{RunJournal, StoreError, lock};

#[derive(Clone)]
pub(super) struct Run {
    pub(super) database: Arc<Database>,
    pub(super) run_id: String,
    pub(super) lock: String,
    pub(super) max_line: usize,
}

/// What is on record of a run.
pub(super) struct Record {
    pub(super) row: Row,
    pub(super) header: Header,
    pub(super) entries: Vec<Entry>,
    pub(super) chain: Chain,
}

impl Keep for Run {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn place(&self) -> String {
        self.database.place()
    }

    fn open(&self, create: bool) -> Result<Option<Box<dyn OpenFolder + '_>>, StoreError> {
        let files = &self.database.files;
        let folder = if create {
            Some(files.create_folder()?)
        } else {
            files.folder()?
        };

        Ok(folder.map(|folder| Box::new(RunFolder { run: self, folder }) as Box<dyn OpenFolder>))
    }
}

/// A run, and the folder of its database.
struct RunFolder<'a> {
    run: &'a Run,
    folder: Folder,
}

impl OpenFolder for RunFolder<'_> {
    fn is_there(&self) -> Result<bool, StoreError> {
        let Run {
            database, run_id, ..
        } = self.run;
        let found = database.read(|reader| {
            let mut find = reader.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?;
            find.exists([run_id])
        });
        Ok(found?.unwrap_or(false))
    }

    fn lock(&self) -> Result<LockFile, StoreError> {
        let locks = self.run.database.files.locks(&self.folder)?;
        lock::take(&locks, &self.run.lock, &self.run.run_id)
    }

    fn start(&self, header: Header, lock: LockFile) -> Result<RunJournal, StoreError> {
        let writer = Writer::start(self.run.clone(), header.clone(), lock)?;
        self.run.journal(header, Vec::new(), writer)
    }

    fn resume(&self, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError> {
        let run = self.run;
        let database = run.database.files.identify(&self.folder)?.database();
        let record = run.database.read(|reader| run.read(reader, &wanted))?;
        let Some(mut record) = record.transpose()?.flatten() else {
            let run_id = Name(&run.run_id);
            let place = run.place();
            return Err(StoreError::new(
                Kind::Missing,
                format_args!("{place}: the run `{run_id}` is gone"),
            ));
        };

        // Where another one took its place in between, nothing is written.
        record.row.database = database;
        let changed = wanted.change(&mut record.header);
        let mut writer = Writer::resume(run.clone(), &record, lock);
        let Record {
            header, entries, ..
        } = record;

        if changed {
            let sound = Recorded::over(run.run_id.as_str(), entries.clone(), ());
            sound.map_err(|problem| run.out_of_place(problem))?;
            writer.put(Some(entries.clone()), Vec::new())?;
        }

        run.journal(header, entries, writer)
    }
}

impl Run {
    /// Reads the lines one by one, each checked.
    fn read(
        &self,
        reader: &Connection,
        wanted: &Wanted,
    ) -> rusqlite::Result<Result<Option<Record>, StoreError>> {
        let mut find = reader.prepare_cached("SELECT key, lines FROM runs WHERE id = ?1")?;
        let found: Option<(i64, i64)> = find
            .query_row([&self.run_id], |row| row.try_into())
            .optional()?;
        let Some((key, expected)) = found else {
            return Ok(Ok(None));
        };

        // A line that is too long is not read.
        let mut lines = reader.prepare_cached(
            "SELECT number, CASE WHEN octet_length(line) <= ?2 THEN line END FROM lines
             WHERE run = ?1 ORDER BY number",
        )?;
        let max_line = i64::try_from(self.max_line).unwrap_or(i64::MAX);
        let mut rows = lines.query((key, max_line))?;
        let mut chain = Chain::default();
        let mut header = None;
        let mut entries = Vec::new();
        let mut number: i64 = 0;
        let mut line = Vec::new();

        while let Some(row) = rows.next()? {
            number += 1;
            let found: i64 = row.get(0)?;
            if found != number {
                let problem = format!("it is missing: the next there is has the number {found}");
                return Ok(Err(self.problem(Kind::Damaged, number, problem, &[])));
            }

            let Some(text) = row.get_ref(1)?.as_bytes_or_null()? else {
                let max_line = self.max_line;
                let problem = format!(
                    "the line is longer than {max_line} bytes; `max_line` of the store sets how long one may be"
                );
                return Ok(Err(self.problem(Kind::TooLarge, number, problem, &[])));
            };

            line.clear();
            line.extend_from_slice(text);
            let checked = if header.is_none() {
                let first = chain.header(&mut line).map_err(|problem| (problem, &line));
                first.map(|first| header = Some(first))
            } else {
                chain
                    .entry(&mut line)
                    .map(|entry| entries.push(entry))
                    .map_err(|problem| (problem, &line))
            };

            if let Err((problem, line)) = checked {
                return Ok(Err(self.problem(Kind::Damaged, number, problem, line)));
            }

            if let (Some(header), None) = (&header, entries.last())
                && let Err(error) = wanted.check_header(&self.line(1), &self.run_id, header)
            {
                return Ok(Err(error));
            }
        }

        if number != expected {
            let problem = format!("the run has {number} lines here, and {expected} were written");
            return Ok(Err(self.problem(Kind::Damaged, number + 1, problem, &[])));
        }

        if let Err(error) = wanted.check_end(&self.run_id, entries.last()) {
            return Ok(Err(error));
        }

        Ok(Ok(header.map(|header| Record {
            row: Row {
                key,
                database: None,
            },
            header,
            entries,
            chain,
        })))
    }

    fn journal(
        &self,
        header: Header,
        entries: Vec<Entry>,
        writer: Writer,
    ) -> Result<RunJournal, StoreError> {
        let journal = RunJournal::new(self.place(), header, entries, writer);
        journal.map_err(|problem| self.out_of_place(problem))
    }

    fn out_of_place(&self, (index, problem): (usize, String)) -> StoreError {
        let number = i64::try_from(index).unwrap_or(i64::MAX).saturating_add(2);
        self.problem(Kind::Damaged, number, problem, &[])
    }

    fn problem(&self, kind: Kind, number: i64, problem: String, line: &[u8]) -> StoreError {
        let text = format!("{}: {problem}", self.line(number));
        if line.is_empty() {
            return StoreError::new(kind, text);
        }

        StoreError::line(kind, text, u64::try_from(number).unwrap_or_default(), line)
    }

    pub(super) fn line(&self, number: i64) -> String {
        format!(
            "{}, run `{}`, line {number}",
            self.place(),
            Name(&self.run_id)
        )
    }
}
