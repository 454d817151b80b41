use std::time::SystemTime;
use std::{fmt, mem};

use cogwork_text::{Name, OneLine};

use crate::StepName;

/// A pause of a run: where it paused, and which event it waits for.
///
/// `Display` writes one human-readable line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Paused {
    /// The step that waits; the first of them if several items or branches wait.
    pub step: StepName,
    /// The name of the event.
    pub event: String,
    /// The reason from [`Wait::with_reason`](crate::Wait::with_reason); empty if there is none.
    pub why: String,
    /// When the wait times out; `None` if it never does. A step taken after that leaves the wait
    /// with [`Wait::TIMED_OUT`](crate::Wait::TIMED_OUT).
    pub until: Option<SystemTime>,
    /// The other items and branches that wait, in order.
    pub also: Vec<Paused>,
}

impl Paused {
    /// Adds the waits of other items or branches.
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
