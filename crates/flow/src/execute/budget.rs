//! The number of steps that a run has taken and may take.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Budget {
    /// Atomic because a run is `Sync`. Everything inside a run is polled by the same task, so plain
    /// loads and stores suffice.
    taken: AtomicU64,
    pub(crate) max: u64,
}

impl Budget {
    pub(crate) fn new(max: u64) -> Self {
        Self {
            taken: AtomicU64::new(0),
            max,
        }
    }

    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Counts steps that were taken before the run was resumed.
    pub(crate) fn begin_at(&mut self, taken: u64) {
        *self.taken.get_mut() = taken;
    }

    /// Reserves a step if any is left. The step counts from before the visit, so that concurrent
    /// items cannot exceed the limit together.
    #[inline]
    pub(crate) fn reserve(&self, inside: bool) -> Option<Reserved<'_>> {
        let taken = self.taken();
        if taken >= self.max {
            return None;
        }

        self.taken.store(taken + 1, Ordering::Relaxed);
        Some(Reserved {
            taken: &self.taken,
            number: taken + 1,
            inside,
        })
    }
}

/// A step that is returned to the budget when this is dropped, with all steps inside it: they will
/// be taken again or replayed. A step inside a different one is returned by the outer one.
pub(crate) struct Reserved<'a> {
    taken: &'a AtomicU64,
    pub(crate) number: u64,
    inside: bool,
}

impl Reserved<'_> {
    /// Keeps the step.
    #[inline]
    pub(crate) fn take(self) {
        mem::forget(self);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if !self.inside {
            self.taken.store(self.number - 1, Ordering::Relaxed);
        }
    }
}
