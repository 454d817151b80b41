use std::sync::Arc;

use async_trait::async_trait;
use cogwork_conformance::{
    Ability, Attempt, ListedRun, ListedStatus, Open, Opened, Refusal, RefusalKind, TestedStore,
};
use cogwork_flow::BoxError;
use cogwork_flow::journal::{Entry, Journal, Recorded};

use super::Mutant;
use super::disk::{Disk, Header, MAX_LINE, Record, RunOnDisk};
use super::generous::Generous;
use super::log::OwnLog;

#[derive(Clone, Default)]
pub(crate) struct OwnStore {
    disk: Disk,
    mutant: Option<Mutant>,
}

impl OwnStore {
    pub(crate) fn with_mutant(mutant: Mutant) -> Self {
        Self {
            disk: Disk::default(),
            mutant: Some(mutant),
        }
    }

    fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    fn key(&self, run_id: &str) -> String {
        match self.is(Mutant::MixesIds) {
            true => run_id.trim().to_lowercase(),
            false => run_id.to_owned(),
        }
    }

    fn start(&self, attempt: &Attempt) -> Result<(), Refusal> {
        let mut run = RunOnDisk::default();
        run.append(&Header {
            run_id: attempt.run_id.clone(),
            flow: attempt.flow.name().to_owned(),
            shape: attempt.flow.shape(),
            input: attempt.input.clone(),
        });
        let is_too_large = run.lines.len() > MAX_LINE;
        if is_too_large && !self.is(Mutant::KeepsRunsThatDidNotStart) {
            return Err(too_large());
        }

        let key = self.key(&attempt.run_id);
        self.disk.content().runs.insert(key, run);
        match is_too_large {
            true => Err(too_large()),
            false => Ok(()),
        }
    }

    /// Opens a run that exists.
    fn take(&self, run_id: &str) -> Result<(Record, OwnLog), Refusal> {
        let key = self.key(run_id);
        let mut content = self.disk.content();
        let missing = || Refusal::new(RefusalKind::Missing, "there is no such run");
        let run = content.runs.get_mut(&key).ok_or_else(missing)?;
        if run.is_in_use && !self.is(Mutant::LetsTwoTakersIn) {
            return Err(Refusal::new(RefusalKind::InUse, "the run is in use"));
        }

        self.drop_torn_line(run)?;
        let record = run.read(self.mutant)?;
        run.fence += 1;
        run.is_in_use = true;
        let log = OwnLog::new(&self.disk, &key, run.fence, self.mutant);
        Ok((record, log))
    }

    /// The next line has to begin after the last complete one.
    fn drop_torn_line(&self, run: &mut RunOnDisk) -> Result<(), Refusal> {
        let end = |lines: &[u8]| lines.iter().rposition(|byte| *byte == b'\n');
        let whole = end(&run.lines).map_or(0, |last| last + 1);
        if whole == run.lines.len() {
            return Ok(());
        }
        if self.is(Mutant::RefusesTornLines) {
            return Err(Refusal::new(RefusalKind::Damaged, "the last line is torn"));
        }

        run.lines.truncate(whole);
        if self.is(Mutant::DropsTheLineBeforeATornOne) {
            run.lines.pop();
            let before = end(&run.lines).map_or(0, |last| last + 1);
            run.lines.truncate(before);
        }
        Ok(())
    }

    fn check_flow(&self, how: Open, header: &Header, attempt: &Attempt) -> Result<(), Refusal> {
        let another = |error| Refusal::new(RefusalKind::AnotherFlow, error);
        let is_named = header.flow == attempt.flow.name();
        if !is_named && !self.is(Mutant::IgnoresTheNamesOfFlows) {
            return Err(another(format!("the flow is `{}`", header.flow)));
        }

        let difference = attempt.flow.shape().difference(&header.shape);
        match difference {
            Some(difference)
                if how != Open::ResumeChanged
                    && is_named
                    && !self.is(Mutant::IgnoresChangedFlows) =>
            {
                Err(another(difference))
            }
            _ => Ok(()),
        }
    }

    fn check_input(&self, how: Open, record: &Record, attempt: &Attempt) -> Result<(), Refusal> {
        let is_same = match self.mutant {
            Some(Mutant::IgnoresTheInput) => true,
            Some(Mutant::RefusesTheSameInput) => record.entries.is_empty(),
            _ => record.header.input == attempt.input,
        };
        if how != Open::StartOrResume || is_same {
            return Ok(());
        }

        Err(Refusal::new(RefusalKind::AnotherInput, "the input differs"))
    }

    fn change_flow(&self, record: Record, attempt: &Attempt) -> Result<Record, Refusal> {
        if self.is(Mutant::ForgetsTheChange) {
            return Ok(record);
        }

        let mut header = record.header;
        header.shape = attempt.flow.shape();
        let mut content = self.disk.content();
        let run = content.runs.get_mut(&self.key(&attempt.run_id)).unwrap();
        let end = run.lines.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let entries = run.lines.split_off(end);
        run.lines.clear();
        run.append(&header);
        run.lines.extend(entries);
        if self.is(Mutant::RenamesOldSteps) {
            let lines = String::from_utf8(std::mem::take(&mut run.lines)).unwrap();
            run.lines = lines.replace("/check#", "/examine#").into_bytes();
        }

        run.read(self.mutant)
    }
}

fn too_large() -> Refusal {
    Refusal::new(RefusalKind::TooLarge, "the input is too large")
}

fn other(error: impl std::fmt::Display) -> Refusal {
    Refusal::new(RefusalKind::Other, error)
}

#[async_trait]
impl TestedStore for OwnStore {
    fn name(&self) -> String {
        match self.mutant {
            Some(mutant) => format!("{mutant:?}"),
            None => "an own store".to_owned(),
        }
    }

    fn lacks(&self, _: Ability) -> Option<&'static str> {
        None
    }

    async fn open(&self, how: Open, attempt: &Attempt) -> Result<Opened, Refusal> {
        let key = self.key(&attempt.run_id);
        let exists = self.disk.content().runs.contains_key(&key);
        match (how, exists) {
            (Open::Start, true) if !self.is(Mutant::OverwritesRuns) => {
                let error = "the run already exists";
                return Err(Refusal::new(RefusalKind::AlreadyThere, error));
            }
            (Open::Start, _) | (Open::StartOrResume, false) => self.start(attempt)?,
            (_, false) if self.is(Mutant::StartsMissingRuns) => self.start(attempt)?,
            _ => {}
        }

        let (mut record, log) = self.take(&attempt.run_id)?;
        self.check_flow(how, &record.header, attempt)?;
        self.check_input(how, &record, attempt)?;

        let input = record.header.input.clone();
        if how == Open::ResumeChanged {
            record = self.change_flow(record, attempt)?;
        }
        let journal = Recorded::over(&attempt.run_id, record.entries, log).map_err(other)?;
        let state = match journal.snapshot() {
            Some(snapshot) => snapshot.state.read().map_err(other)?,
            None => input,
        };

        let journal: Arc<dyn Journal> = match self.is(Mutant::KeepsAllAnswers) {
            true => Arc::new(Generous(journal)),
            false => Arc::new(journal),
        };
        Ok(Opened { journal, state })
    }

    async fn fork(&self, run_id: &str, step: u64, attempt: &Attempt) -> Result<Opened, Refusal> {
        let key = self.key(&attempt.run_id);
        let record = {
            let content = self.disk.content();
            let missing = || Refusal::new(RefusalKind::Missing, "there is no such run");
            let run = content.runs.get(&self.key(run_id)).ok_or_else(missing)?;
            run.read(self.mutant)?
        };
        if self.disk.content().runs.contains_key(&key) {
            let error = "the run already exists";
            return Err(Refusal::new(RefusalKind::AlreadyThere, error));
        }

        let last = record.entries.iter().filter_map(number).max();
        let is_on_record = step <= last.unwrap_or_default() + 1;
        if !is_on_record && !self.is(Mutant::KeepsForksThatDidNotStart) {
            return Err(other("the step isn't on record"));
        }

        let mut new = attempt.clone();
        new.input = record.header.input;
        self.start(&new)?;
        if !is_on_record {
            return Err(other("the step isn't on record"));
        }

        let step = step + u64::from(self.is(Mutant::ForksTooLate));
        let is_before = |entry: &&Entry| match entry {
            Entry::Began { .. } => true,
            entry => number(entry).is_some_and(|number| number < step),
        };
        if let Some(run) = self.disk.content().runs.get_mut(&key) {
            let kept = record.entries.iter().filter(is_before);
            kept.for_each(|entry| run.append(entry));
        }

        self.open(Open::Resume, attempt).await
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        let (record, log) = self.take(run_id)?;
        let has_ended = matches!(record.entries.last(), Some(Entry::Ended { .. }));
        if has_ended && !self.is(Mutant::AcceptsLateAnswers) {
            return Err(Refusal::new(RefusalKind::Ended, "the run has ended"));
        }

        let is_known = record.header.shape.events().contains(&event);
        let journal = Recorded::over(run_id, record.entries, log).map_err(other)?;
        if !is_known && !journal.awaits(event) && !self.is(Mutant::AcceptsUnknownEvents) {
            let error = "no node waits for this event";
            return Err(Refusal::new(RefusalKind::UnknownEvent, error));
        }
        if self.is(Mutant::ForgetsAnswers) {
            return Ok(());
        }

        let delivered = journal.deliver(event, answer.as_bytes().to_vec()).await;
        delivered.map_err(other)
    }

    async fn list(&self) -> Result<Vec<ListedRun>, Refusal> {
        let content = self.disk.content();
        let shown = content.runs.iter();
        let shown = shown.filter(|(_, run)| !(run.is_in_use && self.is(Mutant::HidesRunsInUse)));
        let listed = shown.map(|(_, run)| {
            let record = run.read(None)?;
            let status = match self.is(Mutant::ListsAllAsOpen) {
                true => ListedStatus::Open,
                false => status(&record.entries),
            };
            let run_id = record.header.run_id;
            Ok(ListedRun { run_id, status })
        });

        let mut listed = listed.collect::<Result<Vec<_>, Refusal>>()?;
        listed.sort_by(|one, other| one.run_id.cmp(&other.run_id));
        Ok(listed)
    }

    async fn remove(&self, run_id: &str) -> Result<(), Refusal> {
        match self.take(run_id) {
            Err(refusal) if refusal.kind != RefusalKind::Missing => return Err(refusal),
            Err(refusal) if !self.is(Mutant::RemovesMissingRuns) => return Err(refusal),
            _ => {}
        }

        let key = self.key(run_id);
        let similar = self.is(Mutant::RemovesSimilarRuns);
        let is_kept = |other: &String| match similar {
            true => !other.starts_with(&key),
            false => *other != key,
        };
        if !self.is(Mutant::KeepsRemovedRuns) {
            self.disk.content().runs.retain(|other, _| is_kept(other));
        }
        Ok(())
    }

    fn another_process(&self) -> Arc<dyn TestedStore> {
        Arc::new(self.clone())
    }

    fn max_outcome(&self) -> Option<usize> {
        Some(MAX_LINE)
    }

    async fn expire_lease(&self, run_id: &str) -> Result<(), BoxError> {
        let mut content = self.disk.content();
        content.runs.get_mut(&self.key(run_id)).unwrap().is_in_use = false;
        Ok(())
    }

    async fn record_size(&self, run_id: &str) -> Result<u64, BoxError> {
        let content = self.disk.content();
        Ok(content.runs[&self.key(run_id)].lines.len() as u64)
    }

    async fn tear(&self, run_id: &str, bytes: u64) -> Result<(), BoxError> {
        let mut content = self.disk.content();
        let run = content.runs.get_mut(&self.key(run_id)).unwrap();
        run.lines.truncate(usize::try_from(bytes)?);
        Ok(())
    }

    async fn set_available(&self, is_available: bool) -> Result<(), BoxError> {
        self.disk.content().is_broken = !is_available;
        Ok(())
    }
}

/// Returns the number of the outermost step of an entry, of flows without waits.
fn number(entry: &Entry) -> Option<u64> {
    let (Entry::Outcome { step, .. } | Entry::Sleep { step, .. }) = entry else {
        return None;
    };
    let number = step.split('#').nth(1)?;
    number
        .split(|digit: char| !digit.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Returns the status after these entries, of flows with one wait at a time.
fn status(entries: &[Entry]) -> ListedStatus {
    match entries.last() {
        Some(Entry::Waiting { event, .. }) => ListedStatus::Waiting(vec![event.clone()]),
        Some(Entry::Failed { .. }) => ListedStatus::Failed,
        Some(Entry::Ended { .. }) => ListedStatus::Ended,
        _ => ListedStatus::Open,
    }
}
