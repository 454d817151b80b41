//! The journal of a run, and how to resume it.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_agents::{FileFlow, FlowState};
use cogwork_flow::{BoxError, Paused};
use cogwork_journal::{RunJournal, Store};
use cogwork_text::{Escaped, Name, OneLine};

use super::forking;
use super::task::{Begin, Task};
use crate::output::{harmless, tell};

/// Starts or resumes a run in the journal of the task, if it has one.
pub(super) async fn open(
    task: &Task<'_>,
    loaded: &FileFlow,
    state: &FlowState,
) -> Result<Option<RunJournal>, BoxError> {
    let Some(place) = task.journal else {
        return Ok(None);
    };

    let store = Store::at(place)?;
    let flow = loaded.flow();
    Ok(Some(match task.begin {
        Begin::Input { id, .. } => {
            let id = id.map_or_else(new_id, str::to_owned);
            store.start(&id, flow, state).await?
        }
        Begin::Resume(run_id) => {
            let resumed = store.resume(run_id, flow).await;
            resumed.map_err(|error| forking::as_options(&error))?
        }
        Begin::Fork(fork) => forking::start(fork, loaded).await?,
    }))
}

/// Returns the id of a new run: the time in milliseconds and the process. Ids sort by time.
pub(crate) fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis();
    format!("{now}-{}", std::process::id())
}

/// How a run is resumed.
pub(super) struct Hint<'a> {
    file: &'a Path,
    journal: Option<&'a str>,
    run_id: Option<String>,
}

impl<'a> Hint<'a> {
    pub(super) fn new(task: &Task<'a>, run_id: Option<String>) -> Self {
        Self {
            file: task.file,
            journal: task.journal,
            run_id,
        }
    }

    pub(super) fn run_id(&self) -> Option<&str> {
        self.run_id.as_deref()
    }

    /// Prints the id of the run at its start.
    pub(super) fn tell_start(&self) {
        if let (Some(run_id), Some(command)) = (&self.run_id, self.command()) {
            let run_id = Name(run_id);
            tell(format_args!("run {run_id}; to resume it: {command}"));
        }
    }

    /// Prints how to resume a run that stopped.
    pub(super) fn tell_stop(&self) {
        if let Some(command) = self.command() {
            tell(format_args!("cogwork: to resume the run: {command}"));
        }
    }

    /// Prints what the run waits for, and how to answer.
    pub(super) fn tell_pause(&self, paused: &Paused) {
        for pause in [paused].into_iter().chain(&paused.also) {
            let step = harmless(&format!("{}#{}", pause.step.place(), pause.step.number));
            let event = Name(&pause.event);
            let why = match pause.why.trim() {
                "" => String::new(),
                why => format!(": {}", OneLine::new(why)),
            };
            tell(format_args!(
                "cogwork: the run waits at {step} for `{event}`{why}"
            ));
        }

        let waits = [paused].into_iter().chain(&paused.also);
        let answers: String = waits
            .map(|pause| format!(" --answer {}", quoted(&format!("{}=…", pause.event))))
            .collect();

        match self.command() {
            Some(command) => tell(format_args!("cogwork: to answer: {command}{answers}")),
            None => tell(format_args!(
                "cogwork: the run was not recorded; start it with `--journal PLACE` to resume it with an answer, or with `{}`",
                answers.trim_start()
            )),
        }
    }

    /// Returns the command that resumes the run, if it is recorded.
    fn command(&self) -> Option<String> {
        let place = self.journal?;
        let run_id = self.run_id.as_deref()?;
        let path = |path: &Path| quoted(&path.display().to_string());

        Some(format!(
            "cogwork run {} --journal {} --resume {}",
            path(self.file),
            quoted(&without_password(place)),
            quoted(run_id)
        ))
    }
}

/// Returns a place without the password of its address.
fn without_password(place: &str) -> String {
    let address = || {
        let (scheme, rest) = place.split_once("://")?;
        let (user, server) = rest.rsplit_once('@')?;
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:…@{server}"))
    };
    address().unwrap_or_else(|| place.to_owned())
}

/// Returns an argument as a shell reads it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "./_-=:+@%…".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }

    let escaped = argument.replace('\'', r"'\''");
    format!("'{}'", Escaped::new(escaped))
}
