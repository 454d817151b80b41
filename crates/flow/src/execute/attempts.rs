//! The attempts at the `exec` of a composite step: the names of their calls, and how the next one
//! begins.

use std::collections::{HashMap, HashSet};
use std::mem;

use crate::step_name::CallName;

/// The label and the number of a call.
pub(crate) type CallKey = (String, u64);

pub(super) struct Attempts {
    /// The number of the attempt, starting at 1.
    number: u32,
    /// The number of calls of this attempt with each label.
    numbers: HashMap<String, u64>,
    /// The calls whose outcomes `exec` has got in this attempt.
    returned: HashSet<CallKey>,
    /// How often this attempt was continued because calls had failed it.
    continued: u32,
    /// How many tries of calls have failed this attempt.
    failed: HashMap<CallKey, u32>,
    /// The calls that have failed since this attempt began or was continued.
    failing: Vec<CallKey>,
    /// Whether the call that ended last failed, and no other one has begun since.
    is_failing: bool,
    /// Whether `exec` fails without anything wrong in its calls.
    is_limited: bool,
}

impl Default for Attempts {
    fn default() -> Self {
        Self {
            number: 1,
            numbers: HashMap::new(),
            returned: HashSet::new(),
            continued: 0,
            failed: HashMap::new(),
            failing: Vec::new(),
            is_failing: false,
            is_limited: false,
        }
    }
}

impl Attempts {
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the name of the next call with this label.
    ///
    /// Calls are numbered by label, so that calls in concurrent futures keep their names whichever
    /// future is faster.
    pub(super) fn next(&mut self, label: &str) -> CallName {
        self.is_failing = false;
        let number = self.numbers.entry(label.to_owned()).or_default();
        *number += 1;

        let key = (label.to_owned(), *number);
        let failed = self.failed.get(&key).copied().unwrap_or_default();
        let (label, number) = key;
        CallName {
            attempt: self.number,
            label,
            number,
            tries: failed.saturating_add(1),
        }
    }

    /// Notes the outcome of a call. Returns whether `exec` has got one before, because the attempt is
    /// continued.
    pub(super) fn ended(&mut self, call: CallKey, has_failed: bool) -> bool {
        let was_returned = !self.returned.insert(call.clone());
        self.is_failing = has_failed;
        if has_failed {
            self.failing.push(call);
        }
        was_returned
    }

    pub(super) fn reach_limit(&mut self) {
        self.is_limited = true;
    }

    pub(super) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Notes that the attempt isn't continued: with the same outcomes, `exec` would panic again.
    pub(super) fn panicked(&mut self) {
        self.is_failing = false;
        self.is_limited = false;
    }

    /// Returns the calls to make again, if the attempt is continued.
    pub(super) fn take_failing(&mut self) -> Option<Vec<CallKey>> {
        let failing = mem::take(&mut self.failing);
        self.is_failing.then_some(failing)
    }

    /// Begins the next attempt. Its calls are made anew, since their names contain its number.
    pub(super) fn begin_next(&mut self) {
        *self = Self {
            number: self.number.saturating_add(1),
            ..Self::default()
        };
    }

    /// Begins the attempt again with the outcomes of all its calls except those that failed.
    pub(super) fn continue_after(&mut self, failed: Vec<CallKey>) {
        self.continued = self.continued.saturating_add(1);
        for call in failed {
            let tries = self.failed.entry(call).or_default();
            *tries = tries.saturating_add(1);
        }
        self.begin_again();
    }

    /// Begins the attempt again with the outcomes of all its calls.
    pub(super) fn begin_again(&mut self) {
        self.numbers.clear();
        self.failing.clear();
        self.is_failing = false;
        self.is_limited = false;
    }

    /// Names the entry with which this attempt is recorded as failed.
    pub(super) fn failure(&self) -> CallName {
        CallName::failure(self.number, 1)
    }

    /// Names the entry with which this attempt is recorded as continued once more.
    pub(super) fn continuation(&self) -> CallName {
        CallName::failure(self.number, self.continued.saturating_add(2))
    }
}
