//! The log of a run that is open.

use std::sync::Mutex;

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::journal::{Entry, Log};

use super::Mutant;
use super::disk::{Disk, MAX_LINE, RunOnDisk};

pub(crate) struct OwnLog {
    pub(crate) disk: Disk,
    pub(crate) key: String,
    pub(crate) fence: u64,
    pub(crate) mutant: Option<Mutant>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pushed: u64,
    problem: Option<String>,
    /// A line that a mutant hasn't written yet.
    kept: Option<Entry>,
}

impl OwnLog {
    pub(crate) fn new(disk: &Disk, key: &str, fence: u64, mutant: Option<Mutant>) -> Self {
        Self {
            disk: disk.clone(),
            key: key.to_owned(),
            fence,
            mutant,
            state: Mutex::default(),
        }
    }

    fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// Changes the record if this process may, and if nothing failed before.
    fn write(&self, change: impl FnOnce(&mut RunOnDisk) -> Result<(), String>) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.pushed += 1;
        if state.problem.is_none() {
            state.problem = self.try_write(change).err();
        }
        state.pushed
    }

    fn try_write(
        &self,
        change: impl FnOnce(&mut RunOnDisk) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut content = self.disk.content();
        if content.is_broken {
            return Err("the disk is broken".to_owned());
        }

        let run = content.runs.get_mut(&self.key);
        let run = run.ok_or("the run was removed")?;
        if run.fence != self.fence && !self.is(Mutant::IgnoresTheFence) {
            return Err("another process has the run".to_owned());
        }

        change(run)
    }

    fn append(&self, run: &mut RunOnDisk, entry: &Entry) -> Result<(), String> {
        if matches!(entry, Entry::Began { .. }) && self.is(Mutant::ForgetsTheFirstState) {
            return Ok(());
        }

        if serde_json::to_vec(entry).unwrap().len() > MAX_LINE {
            return match self.is(Mutant::DropsLargeLines) {
                true => Ok(()),
                false => Err(format!("the line is longer than {MAX_LINE} bytes")),
            };
        }

        run.append(entry);
        Ok(())
    }
}

#[async_trait]
impl Log for OwnLog {
    fn push(&self, entry: Entry) -> u64 {
        let entry = if self.is(Mutant::LosesTheLastLine) {
            let kept = self.state.lock().unwrap().kept.replace(entry);
            let Some(kept) = kept else { return 0 };
            kept
        } else {
            entry
        };

        self.write(|run| self.append(run, &entry))
    }

    fn replace(&self, mut entries: Vec<Entry>) -> u64 {
        if self.is(Mutant::LosesAnswersInSnapshots) {
            entries.truncate(1);
        }

        self.write(|run| {
            let header = run.lines.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            run.lines.truncate(header);
            entries.iter().try_for_each(|entry| self.append(run, entry))
        })
    }

    async fn written(&self, _: u64) -> Result<(), BoxError> {
        if self.is(Mutant::ReportsTooEarly) {
            return Ok(());
        }

        tokio::task::yield_now().await;
        match self.state.lock().unwrap().problem.clone() {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }
}

impl Drop for OwnLog {
    fn drop(&mut self) {
        let mut content = self.disk.content();
        if let Some(run) = content.runs.get_mut(&self.key)
            && run.fence == self.fence
        {
            run.is_in_use = false;
        }
    }
}
