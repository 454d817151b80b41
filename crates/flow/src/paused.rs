use std::time::SystemTime;
use std::{fmt, iter, mem};

use cogwork_text::{Name, OneLine};

use crate::StepName;

/// Where a run pauses, and for what.
///
/// `Display` writes it as a line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Paused {
    /// The step that waits; where several items or branches wait, that of the first of them.
    pub step: StepName,
    /// The name of the event.
    pub event: String,
    /// What [`Wait::with_reason`](crate::Wait::with_reason) says.
    pub why: String,
    /// When it is too late: step the run again then, and it leaves by
    /// [`Wait::TIMED_OUT`](crate::Wait::TIMED_OUT).
    pub until: Option<SystemTime>,
    /// What else the run waits for, in other items and branches, in their order.
    pub also: Vec<Paused>,
}

impl Paused {
    /// Returns the earliest time limit of all that the run waits for.
    pub fn earliest_limit(&self) -> Option<SystemTime> {
        let all = iter::once(self).chain(&self.also);
        all.filter_map(|paused| paused.until).min()
    }

    /// Adds what other items or branches wait for.
    pub(crate) fn join(&mut self, others: impl IntoIterator<Item = Self>) {
        for mut other in others {
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
