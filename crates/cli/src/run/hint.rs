//! How to continue a run.

use std::path::Path;

use cogwork_flow::Paused;
use cogwork_text::{Escaped, Name, OneLine};

use super::progress::step_name;
use crate::output::tell;
use crate::runs::time;

/// What a person needs to know to continue a run.
pub(super) struct Hint<'a> {
    pub(super) file: &'a Path,
    pub(super) place: Option<&'a str>,
    /// `None` if the run isn't recorded.
    pub(super) run_id: Option<String>,
}

impl Hint<'_> {
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
        let mut answers = String::new();
        for pause in [paused].into_iter().chain(&paused.also) {
            let step = step_name(&pause.step);
            let event = Name(&pause.event);
            let why = match pause.why.trim() {
                "" => String::new(),
                why => format!(": {}", OneLine::new(why)),
            };
            let until = pause.until.map(|until| format!(" until {}", time(until)));
            let until = until.unwrap_or_default();
            tell(format_args!(
                "cogwork: the run waits at {step} for `{event}`{until}{why}"
            ));
            answers += &format!(" --answer {}", quoted(&format!("{}=…", pause.event)));
        }

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
        let file = quoted(&self.file.display().to_string());
        let place = quoted(&without_password(self.place?));
        let run_id = quoted(self.run_id.as_deref()?);
        // Otherwise, an id such as `-x` would be an option of its own.
        let equals = if run_id.starts_with('-') { "=" } else { " " };
        Some(format!(
            "cogwork run {file} --journal {place} --resume{equals}{run_id}"
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

    // A quote ends the quoted part, and stands by itself.
    let escaped = argument.replace('\'', r"'\''");
    format!("'{}'", Escaped::new(escaped))
}
