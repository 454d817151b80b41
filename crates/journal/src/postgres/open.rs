//! Opens a run for one runner.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use cogwork_flow::journal::Journal as _;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::lease::{Held, Lease, Verdict};
use super::run::{Found, FoundRow, Run, Taken, shape_hash};
use super::write::{Change, RowState, Writer};
use crate::behind::Edit;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{Keep, NewRun, Opening, RecordedRun, Take, Wanted};
use crate::line::Line;
use crate::lock::PATIENCE;
use crate::query::time;
use crate::rows::{LineRow, RowReader, Rows};
use crate::{RecordedEntry, RunJournal, StoreError};

/// The delay between two attempts to take a run on which somebody works.
const BETWEEN: Duration = Duration::from_millis(25);

#[async_trait]
impl Keep for Run {
    fn place(&self) -> String {
        self.place.database.clone()
    }

    async fn open(self: Box<Self>, take: Take) -> Result<RunJournal, StoreError> {
        let runtime = Handle::try_current();
        let runtime = runtime.map_err(|_| StoreError::no_runtime(&self.place.database))?;
        let place = self.place.database.clone();

        // If the caller is dropped after the server has granted the lease, this task still gives
        // the run back. Otherwise, nobody could open it until the lease expires.
        let opening = runtime.spawn(async move { self.open_within(take, PATIENCE).await });
        let opened = opening.await;
        opened.unwrap_or_else(|error| Err(StoreError::caused(Kind::Other, place, error)))
    }

    async fn deliver(self: Box<Self>, event: &str, answer: Vec<u8>) -> Result<(), StoreError> {
        self.deliver_answer(event, answer).await
    }

    async fn is_in_use(self: Box<Self>) -> Result<bool, StoreError> {
        let row = self.find().await?.row.ok_or_else(|| self.missing())?;
        Ok(row.held.is_some_and(|(_, seconds)| seconds > 0.0))
    }

    async fn read(self: Box<Self>, wanted: Wanted) -> Result<RecordedRun, StoreError> {
        let row = self.find().await?.row.ok_or_else(|| self.missing())?;
        Run::read(&self, row.key, 0, &wanted).await
    }

    async fn entries(self: Box<Self>, range: Range<u64>) -> Result<Vec<RecordedEntry>, StoreError> {
        self.read_entries(&range).await
    }

    async fn remove(self: Box<Self>) -> Result<(), StoreError> {
        let mut give_up = GiveUp::after(PATIENCE);

        loop {
            let removed = self.database.query(
                "DELETE FROM @.runs WHERE id = $1 AND (worker IS NULL OR wake <= clock_timestamp())
                 RETURNING key",
                &[&self.place.run_id],
            )
            .await;
            let removed = removed.map_err(|failure| self.failed("cannot be removed", failure))?;
            if !removed.is_empty() {
                return Ok(());
            }

            match self.find().await?.row {
                None => return Err(self.missing()),
                Some(row) => self.wait_for(&row, &mut give_up).await?,
            }
        }
    }
}

impl Run {
    pub(super) fn missing(&self) -> StoreError {
        StoreError::missing(&self.place.run_id, &self.place.database)
    }

    /// Opens the run. If somebody works on it, this waits until `patience` has passed.
    pub(super) async fn open_within(
        &self,
        take: Take,
        patience: Duration,
    ) -> Result<RunJournal, StoreError> {
        let mut give_up = GiveUp::after(patience);

        loop {
            let Found { now, row } = self.find().await?;
            let opening =
                take.clone()
                    .opening(row.is_some(), &self.place.run_id, &self.place.database)?;

            match (opening, row) {
                (Opening::Start(run), _) => {
                    if let Some(journal) = self.start(run, now).await? {
                        return Ok(journal);
                    }
                }
                (Opening::Resume(_), None) => return Err(self.missing()),
                (Opening::Resume(wanted), Some(row)) => {
                    let Some(taken) = self.take().await? else {
                        self.wait_for(&row, &mut give_up).await?;
                        continue;
                    };

                    return self.resume(taken, wanted).await;
                }
            }
        }
    }

    /// Waits before the next attempt to take a run on which somebody works.
    async fn wait_for(&self, row: &FoundRow, give_up: &mut GiveUp) -> Result<(), StoreError> {
        if self.database.leases.ends(row.key).await {
            return Ok(());
        }

        if let Some((worker, left)) = &row.held
            && give_up.is_due()
        {
            return Err(self.in_use(worker, *left));
        }

        tokio::time::sleep(BETWEEN).await;
        Ok(())
    }

    /// Records a new run. Returns `None` if it exists by now.
    async fn start(&self, run: NewRun, now: i64) -> Result<Option<RunJournal>, StoreError> {
        let header = run.header.started_at(now);
        let lines = run.lines;
        let run = NewRun {
            header: header.clone(),
            lines: lines.clone(),
        };
        let (rows, change) = Rows::start(self.place.clone(), run)?;

        let Some(key) = self.insert(&header, &change, None).await? else {
            return Ok(None);
        };

        let held = Held { key, fence: 1 };
        let lease = Lease::keep(&self.database, held);
        let writer = Writer {
            run: self.clone(),
            rows,
            lease,
            row: RowState::default(),
        };
        self.journal(header, lines, writer, now).map(Some)
    }

    /// Opens a run that was taken. A run that cannot be read counts as failed.
    pub(super) async fn resume(
        &self,
        taken: Taken,
        wanted: Wanted,
    ) -> Result<RunJournal, StoreError> {
        let lease = taken.lease.watch();
        let Prepared { record, rows, row } = match self.prepare(&taken, wanted).await {
            Ok(prepared) => prepared,
            Err(error) => {
                lease.set_verdict(of_opening(&error));
                return Err(error);
            }
        };

        let writer = Writer {
            run: self.clone(),
            rows,
            lease: taken.lease,
            row,
        };
        let unreadable = "an entry cannot follow the entries before it";
        lease.set_verdict(Verdict::Failed(unreadable.to_owned()));
        let journal = self.journal(record.header, record.lines, writer, taken.now)?;
        lease.set_verdict(Verdict::OnRecord);
        Ok(journal)
    }

    fn journal(
        &self,
        header: Header,
        entries: Vec<Line>,
        writer: Writer,
        now: i64,
    ) -> Result<RunJournal, StoreError> {
        let place = self.place.database.clone();
        let journal = RunJournal::new(place, header, entries, writer);
        let journal = journal.map_err(|error| self.place.out_of_place(error))?;
        Ok(journal.with_time(at(now)))
    }

    /// Reads a run, and brings its record up to date.
    async fn prepare(&self, taken: &Taken, wanted: Wanted) -> Result<Prepared, StoreError> {
        let held = taken.lease.held;
        let mut record = self.read(held.key, taken.lines, &wanted).await?;
        let is_changed = wanted.change(&mut record.header);
        let rows = Rows::resume(self.place.clone(), &record);
        let mut prepared = Prepared {
            record,
            rows,
            row: taken.row,
        };

        if is_changed {
            let Prepared { record, rows, row } = &mut prepared;
            self.sound(&record.lines)?;
            let edit = Edit::replace(record.lines.clone());
            let change = Change {
                shape: Some(shape_hash(&record.header.shape)),
                is_progress: true,
                ..Change::of(held, *row, rows.change(edit)?)
            };
            prepared.row = self.write(&change).await?;
        }

        if taken.answers > 0 {
            prepared = self.record_answers(prepared, held).await?;
        }

        Ok(prepared)
    }
}

/// When to stop waiting for a run on which somebody works. The time begins when the run is first
/// found to be in use, because a connection may take longer than that.
struct GiveUp {
    patience: Duration,
    at: Option<Instant>,
}

impl GiveUp {
    fn after(patience: Duration) -> Self {
        Self { patience, at: None }
    }

    fn is_due(&mut self) -> bool {
        let now = Instant::now();
        now >= *self.at.get_or_insert(now + self.patience)
    }
}

/// A run that was read, with a record that is up to date.
struct Prepared {
    record: RecordedRun,
    rows: Rows,
    row: RowState,
}

/// Returns the time in a row.
fn at(now: i64) -> SystemTime {
    time(now).unwrap_or_else(SystemTime::now)
}

/// Returns what a run is given back with that could not be opened. If it isn't the wanted one, that
/// is the fault of whoever opened it.
fn of_opening(error: &StoreError) -> Verdict {
    if error.is_damaged() || error.is_too_large() {
        return Verdict::Failed(error.to_string());
    }

    if error.is_unavailable() {
        return Verdict::Interrupted;
    }

    Verdict::OnRecord
}

impl Header {
    /// Sets when the run was started, in milliseconds since 1970.
    pub(super) fn started_at(self, now: i64) -> Self {
        Self {
            started: u64::try_from(now).unwrap_or_default(),
            ..self
        }
    }
}

/// The maximum number of answers to a run that aren't on record yet.
const MAX_PENDING: i64 = 1_000;

/// Delivers answers, also to a run on which somebody works.
impl Run {
    async fn deliver_answer(&self, event: &str, answer: Vec<u8>) -> Result<(), StoreError> {
        let answer_text = String::from_utf8(answer.clone()).map_err(|error| {
            StoreError::caused(Kind::Value, "the answer isn't a JSON text", error)
        })?;

        // A column cannot contain such a name, so the answer is only accepted once the run is free.
        let can_be_left = !event.contains('\0');
        let patience = if can_be_left {
            Duration::ZERO
        } else {
            PATIENCE
        };

        loop {
            let take = Take::resume(Wanted::Answerable);
            let journal = match self.open_within(take, patience).await {
                Err(error) if error.is_locked() && can_be_left => {
                    if self.leave_answer(event, &answer_text).await? {
                        return Ok(());
                    }
                    continue;
                }
                opened => opened?,
            };
            journal.check_event(event)?;

            let delivered = journal.deliver(event, answer).await;
            return delivered.map_err(|error| StoreError::of_journal(&self.place.database, error));
        }
    }

    /// Leaves an answer for whoever works on the run. Returns `false` if nobody does any longer.
    async fn leave_answer(&self, event: &str, answer: &str) -> Result<bool, StoreError> {
        self.check_event(event).await?;

        // The row is locked before the answer is inserted, so that the run isn't given back without
        // it. A run that paused and isn't given back yet is open again, as if it had been free.
        let left = self
            .database
            .query(
                "WITH run AS (
                 UPDATE @.runs SET answers = answers + 1,
                     status = CASE
                         WHEN status = 'paused' AND EXISTS (
                             SELECT FROM @.waits WHERE run = key AND event = $2
                         ) THEN 'open' ELSE status END
                 WHERE id = $1 AND worker IS NOT NULL AND wake > clock_timestamp() AND answers < $4
                 RETURNING key
             ), left_answer AS (
                 INSERT INTO @.answers (run, event, answer) SELECT key, $2, $3 FROM run
             )
             SELECT FROM run",
                &[&self.place.run_id, &event, &answer, &MAX_PENDING],
            )
            .await;
        let left = left.map_err(|failure| self.failed("cannot be written", failure))?;
        Ok(!left.is_empty())
    }

    /// Checks that the run waits for this event, or can.
    async fn check_event(&self, event: &str) -> Result<(), StoreError> {
        let found = self
            .database
            .query(
                "SELECT line, EXISTS (SELECT FROM @.waits WHERE run = key AND event = $2)
             FROM @.runs JOIN @.lines ON run = key AND number = 1 WHERE id = $1",
                &[&self.place.run_id, &event],
            )
            .await;
        let found = found.map_err(|failure| self.failed("cannot be read", failure))?;
        let Some(row) = found.first() else {
            return Err(self.missing());
        };

        if row.get(1) {
            return Ok(());
        }

        let mut read = RowReader::of_run(&self.place);
        read.add(&LineRow {
            number: 1,
            text: row.get(0),
            at: None,
        })?;
        let record = read.record(&Wanted::Answerable, 1)?;
        let record = record.ok_or_else(|| self.missing())?;
        record.header.check_event(&self.place.database, event)
    }

    /// Records the answers that arrived while somebody worked on the run.
    async fn record_answers(
        &self,
        mut prepared: Prepared,
        held: Held,
    ) -> Result<Prepared, StoreError> {
        let entries = &prepared.record.lines;
        let pending = self.pending_answers(held.key).await?;
        let new = pending.iter().map(|answer| Line {
            entry: answer.entry.clone(),
            at: None,
        });
        let new: Vec<_> = new.collect();
        let all = [entries.as_slice(), new.as_slice()].concat();

        // There are too many to record. They stay where they are until some were used.
        if self.sound(&all).is_err() {
            self.sound(entries)?;
            return Ok(prepared);
        }

        let edit = Edit {
            replacement: None,
            appended: new,
        };
        let change = Change {
            answers: pending.iter().map(|answer| answer.number).collect(),
            ..Change::of(held, prepared.row, prepared.rows.change(edit)?)
        };
        prepared.row = self.write(&change).await?;
        prepared.record.lines = all;
        Ok(prepared)
    }
}
