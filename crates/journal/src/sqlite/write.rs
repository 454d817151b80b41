//! Writing the lines of a run.

use cogwork_flow::Entry;
use serde::Serialize;

use super::query::Columns;
use super::run::{Record, Run};
use crate::behind::{Job, Write};
use crate::error::Kind;
use crate::header::Header;
use crate::line::Chain;
use crate::lock::Lock;
use crate::summary::Standing;
use crate::{RunStatus, StoreError};

/// A run that is ours.
pub(super) struct Writer {
    run: Run,
    header: Header,
    key: Option<i64>,
    /// How many lines there are.
    lines: i64,
    chain: Chain,
    standing: Standing,
    /// What the row of the run says.
    status: RunStatus,
    /// The run is ours until the last line is written.
    _lock: Lock,
}

impl Writer {
    /// A run that is not there yet.
    pub(super) fn start(run: Run, header: Header, lock: Lock) -> Result<Self, StoreError> {
        let (chain, standing) = (Chain::default(), Standing::default());
        let status = RunStatus::Open;
        let mut writer = Self { run, header, key: None, lines: 0, chain, standing, status, _lock: lock };
        writer.put(Some(Vec::new()), Vec::new())?;
        Ok(writer)
    }

    /// A run that was read.
    pub(super) fn resume(run: Run, record: &Record, lock: Lock) -> Self {
        let mut standing = Standing::default();
        record.entries.iter().for_each(|entry| standing.add(entry));
        let (key, header, chain) = (Some(record.key), record.header.clone(), record.chain);
        let lines = count(record.entries.len()).saturating_add(1);
        Self { run, header, key, lines, chain, status: standing.status(), standing, _lock: lock }
    }

    /// Writes entries: some in place of all there are, if any; and more after them.
    pub(super) fn put(&mut self, anew: Option<Vec<Entry>>, more: Vec<Entry>) -> Result<(), StoreError> {
        let replaces = anew.is_some();
        let (mut lines, place) = (Vec::new(), self.run.line(self.lines + 1));
        if replaces {
            (self.chain, self.standing, self.lines) = Default::default();
            lines.push(line(&mut self.chain, &self.header, self.run.max_line, &place)?);
        }
        for entry in anew.into_iter().flatten().chain(more) {
            lines.push(line(&mut self.chain, &entry, self.run.max_line, &place)?);
            self.standing.add(&entry);
        }
        let (before, status) = (self.lines, self.standing.status());
        self.lines = before.saturating_add(count(lines.len()));
        // Written when it is another one, so that its index is left alone most of the time.
        let changed = (self.status != status).then(|| Columns::of(status.clone()));
        self.status = status;
        let key = self.key.ok_or_else(|| {
            (self.header.run_id.clone(), self.header.flow.clone(), count(self.header.started))
        });
        let all = self.lines;
        let key = self.run.database.write(move |database| {
            let key = match key {
                Ok(key) => key,
                Err(run) => {
                    let insert =
                        "INSERT INTO runs (id, flow, started, lines, status) VALUES (?1, ?2, ?3, 0, 'open')";
                    database.prepare_cached(insert)?.insert(run)?
                }
            };
            if replaces {
                database.prepare_cached("DELETE FROM lines WHERE run = ?1")?.execute([key])?;
            }
            let mut insert =
                database.prepare_cached("INSERT INTO lines (run, number, line) VALUES (?1, ?2, ?3)")?;
            for (number, line) in (before.saturating_add(1)..).zip(&lines) {
                insert.execute((key, number, line))?;
            }
            database.prepare_cached("UPDATE runs SET lines = ?2 WHERE key = ?1")?.execute((key, all))?;
            changed.map_or(Ok(()), |changed| changed.write(database, key))?;
            Ok(key)
        })?;
        self.key = Some(key);
        Ok(())
    }
}

impl Write for Writer {
    fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        let (anew, more) = Job::settled(jobs);
        self.put(anew, more)
    }
}

fn line(
    chain: &mut Chain,
    object: &impl Serialize,
    max_line: usize,
    place: &str,
) -> Result<String, StoreError> {
    let mut line = Vec::new();
    chain.append(&mut line, object, max_line, place)?;
    line.pop(); // the newline
    String::from_utf8(line).map_err(|error| StoreError::new(Kind::Other, format_args!("{place}: {error}")))
}

fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
