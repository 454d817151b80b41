use std::time::SystemTime;
use std::{fmt, mem};

use cogwork_text::{Name, OneLine};
use serde::Serialize;

use crate::engine::{Awaited, Json, StepName};
use crate::event;

/// A pause of a run: where it paused, and which event it waits for.
///
/// `Display` writes one human-readable line. In JSON, the step is named `waits_at`, and `until` is
/// in seconds since the Unix epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Paused {
    /// The step that waits; the first of them if several items or branches wait.
    #[serde(rename = "waits_at")]
    pub step: StepName,
    /// The name of the event.
    pub event: String,
    /// The reason from [`Wait::with_reason`](crate::Wait::with_reason); empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// When the wait times out; `None` if it never does. A step taken after that leaves the wait
    /// with [`Action::TIMED_OUT`](crate::Action::TIMED_OUT).
    #[serde(
        serialize_with = "event::seconds_since_epoch",
        skip_serializing_if = "Option::is_none"
    )]
    pub until: Option<SystemTime>,
    /// The JSON Schema of the answer from [`Wait::with_schema`](crate::Wait::with_schema).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Box<Json>>,
    /// The other items and branches that wait, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Paused>,
}

impl Paused {
    pub(crate) fn at(step: &StepName, awaited: Awaited<'_>, until: Option<SystemTime>) -> Self {
        Self {
            step: step.clone(),
            event: awaited.event.to_owned(),
            why: awaited.why.to_owned(),
            until,
            schema: awaited.schema.cloned().map(Box::new),
            also: Vec::new(),
        }
    }

    /// Adds the waits of other items or branches.
    pub(crate) fn join(&mut self, others: impl IntoIterator<Item = Self>) {
        for mut other in others {
            // A flat list, so that a program finds every wait, however deep it is.
            let also = mem::take(&mut other.also);
            self.also.push(other);
            self.also.extend(also);
        }
    }
}

impl fmt::Display for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "paused at {} for the event `{}`",
            self.step,
            Name(&self.event)
        )?;

        if !self.why.is_empty() {
            write!(f, ": {}", OneLine::new(&self.why))?;
        }

        match self.also.len() {
            0 => Ok(()),
            1 => f.write_str(", and for one more"),
            more => write!(f, ", and for {more} more"),
        }
    }
}
