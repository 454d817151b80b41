//! Opens one run of a store: takes it, reads its record, and starts or resumes it.

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Handle;

use crate::backend::{Backend, Expected, Taken};
use crate::delivery::Delivery;
use crate::header::{from_millis, to_millis};
use crate::read::{Line, Reader, Record, Wanted, check_order};
use crate::write::Writer;
use crate::{RecordedEntry, RunJournal, StoreError, StoreErrorKind};

/// Opens a run, which may not exist.
#[derive(Clone)]
pub(crate) struct Opener {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) run_id: String,
}

impl Opener {
    /// Returns the location of the run, for messages.
    pub(crate) fn place(&self) -> String {
        self.backend.run_place(&self.run_id)
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            backend: &*self.backend,
            run_id: &self.run_id,
        }
    }

    /// Starts the run if it doesn't exist, or resumes it, whatever of the two is given.
    pub(crate) async fn open(
        self,
        new: Option<Record>,
        wanted: Option<Wanted>,
    ) -> Result<RunJournal, StoreError> {
        let place = self.place();
        let runtime = Handle::try_current().map_err(|_| StoreError::no_runtime(&place))?;

        // If the caller is dropped, whatever was taken is still given back.
        let opening = runtime.spawn(async move {
            // Twice at most, unless somebody keeps removing and starting the run.
            loop {
                match self.try_to_open(new.clone(), wanted.clone()).await {
                    // Somebody else has started it in the meantime.
                    Err(error)
                        if error.kind() == StoreErrorKind::AlreadyThere && wanted.is_some() => {}
                    opened => return opened,
                }
            }
        });
        let opened = opening.await;
        opened.unwrap_or_else(|error| Err(StoreError::caused(StoreErrorKind::Other, place, error)))
    }

    async fn try_to_open(
        &self,
        new: Option<Record>,
        wanted: Option<Wanted>,
    ) -> Result<RunJournal, StoreError> {
        let expected = match (&new, &wanted) {
            (Some(_), None) => Expected::New,
            (None, _) => Expected::Existing,
            (Some(_), Some(_)) => Expected::Either,
        };
        let taken = self.backend.take(&self.run_id, expected).await?;
        let taken = taken.ok_or_else(|| self.reader().missing())?;

        match (new, wanted) {
            (Some(new), _) if taken.lines.is_empty() => self.start(taken, new).await,
            (_, Some(wanted)) if !taken.lines.is_empty() => self.resume(taken, wanted).await,
            // It was removed after it was found and before it was locked.
            _ => Err(self.reader().missing()),
        }
    }

    async fn start(&self, taken: Taken, mut new: Record) -> Result<RunJournal, StoreError> {
        if let Some(now) = taken.now {
            // Times in a database are those of its clock, whichever machine writes them.
            new.header.started = to_millis(now);
        }

        let writer = Writer::start(taken.held, new.clone()).await?;
        self.journal(new, false, writer, taken.now)
    }

    /// Resumes a run that was taken.
    pub(crate) async fn resume(
        &self,
        mut taken: Taken,
        wanted: Wanted,
    ) -> Result<RunJournal, StoreError> {
        let read = self.read_taken(&taken, &wanted);
        let (mut record, offered) = match read {
            Ok(read) => read,
            Err(error) => {
                // A worker would otherwise take a damaged run again and again.
                taken.held.refused(&error);
                return Err(error);
            }
        };

        let changed = wanted
            .flow
            .filter(|flow| flow.difference(&record.header.graph).is_some());
        let is_changed = changed.is_some();
        if let Some(flow) = changed {
            record.header.graph = flow;
        }
        let mut writer = Writer::resume(taken.held, &record);
        // The header has the new graph, and it is the first line, so all lines are written again.
        if is_changed {
            writer.replace(record.lines.clone()).await?;
        }
        if !offered.is_empty() {
            writer.append_offered(offered.clone()).await?;
            record.lines.extend(offered);
        }

        self.journal(record, is_changed, writer, taken.now)
    }

    /// Reads a run that was taken, and the answers that were left for it.
    fn read_taken(
        &self,
        taken: &Taken,
        wanted: &Wanted,
    ) -> Result<(Record, Vec<Line>), StoreError> {
        let reader = self.reader();
        let record = reader.record(&taken.lines)?;
        wanted.check(reader, &record.header)?;
        reader.check_order(&record.lines)?;

        // If there are too many, they stay where they are until some were used.
        let first = record.lines.len() as u64 + 2;
        let offered = reader.entries(&taken.offered, first)?;
        let all = [record.lines.as_slice(), offered.as_slice()].concat();
        // The only thing that can be wrong with them is their number.
        let can_follow = offered.is_empty() || check_order(&all).is_ok();
        Ok((record, if can_follow { offered } else { Vec::new() }))
    }

    fn journal(
        &self,
        record: Record,
        is_changed: bool,
        writer: Writer,
        now: Option<SystemTime>,
    ) -> Result<RunJournal, StoreError> {
        let journal = RunJournal::new(self.clone(), record, is_changed, writer, now);
        journal.map_err(|error| self.reader().out_of_place(&error))
    }

    /// Reads the whole record without taking the run, and checks that it is the wanted one.
    pub(crate) async fn read(&self, wanted: &Wanted) -> Result<Record, StoreError> {
        let reader = self.reader();
        let lines = self.backend.read(&self.run_id, 1..u64::MAX).await?;
        let record = reader.record(&lines.ok_or_else(|| reader.missing())?)?;
        wanted.check(reader, &record.header)?;
        Ok(record)
    }

    pub(crate) async fn entries(
        &self,
        range: Range<u64>,
    ) -> Result<Vec<RecordedEntry>, StoreError> {
        // The first line is the header, and lines are counted from 1.
        let first = range.start.saturating_add(2);
        let numbers = first..range.end.saturating_add(2);
        let lines = self.backend.read(&self.run_id, numbers).await?;
        let lines = lines.ok_or_else(|| self.reader().missing())?;

        let entries = self.reader().entries(&lines, first)?;
        let recorded = entries.into_iter().zip(range.start..);
        let recorded = recorded.map(|(line, index)| RecordedEntry {
            index,
            at: line.at.and_then(from_millis),
            entry: line.entry,
        });
        Ok(recorded.collect())
    }

    pub(crate) async fn deliver(self, delivery: Delivery) -> Result<(), StoreError> {
        // Before the run is opened: whoever works on it may do so for hours.
        if self.backend.offer(&self.run_id, &delivery).await? {
            return Ok(());
        }

        let journal = match self.clone().open(None, Some(Wanted::any())).await {
            // Somebody has taken the run in the meantime.
            Err(error) if error.kind() == StoreErrorKind::InUse => {
                let offered = self.backend.offer(&self.run_id, &delivery).await?;
                let problem = format_args!("the run cannot be answered now: {error}");
                return match offered {
                    true => Ok(()),
                    false => Err(StoreError::new(StoreErrorKind::InUse, problem)),
                };
            }
            opened => opened?,
        };

        journal.take_answer(delivery).await
    }
}
