//! The number of steps that a run has taken and may take.

use std::sync::atomic::{AtomicU64, Ordering};

/// Atomic because a run is `Sync`. Everything inside a run is polled by the same task, so plain loads
/// and stores suffice.
pub(crate) struct Budget {
    /// With the steps in progress, so that concurrent items cannot exceed the limit together.
    taken: AtomicU64,
    /// Without the steps inside a step that isn't complete: they will be taken again or replayed.
    complete: AtomicU64,
    pub(crate) max: u64,
}

impl Budget {
    pub(crate) fn new(max: u64) -> Self {
        Self {
            taken: AtomicU64::new(0),
            complete: AtomicU64::new(0),
            max,
        }
    }

    /// Returns the number of steps with those in progress.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns the number of steps, not counting those of a step that isn't complete.
    pub(crate) fn complete(&self) -> u64 {
        self.complete.load(Ordering::Relaxed)
    }

    /// Counts steps that were taken before the run was resumed.
    pub(crate) fn begin_at(&mut self, taken: u64) {
        // The walk sets the other number from this one when it begins.
        *self.complete.get_mut() = taken;
    }

    /// Takes a step if any is left. Returns its number.
    #[inline]
    pub(crate) fn take(&self) -> Option<u64> {
        let taken = self.taken();
        if taken >= self.max {
            return None;
        }

        self.taken.store(taken + 1, Ordering::Relaxed);
        Some(taken + 1)
    }

    /// Counts the steps so far as complete.
    #[inline]
    pub(crate) fn keep(&self) {
        self.complete.store(self.taken(), Ordering::Relaxed);
    }

    /// Gives back the steps of a step that isn't complete.
    pub(crate) fn give_back(&self) {
        // Items run at once, so there may be several to give back.
        self.taken.store(self.complete(), Ordering::Relaxed);
    }
}
