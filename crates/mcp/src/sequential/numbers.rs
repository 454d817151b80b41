use std::collections::{BTreeMap, VecDeque};

/// The numbers of the thoughts that are kept. Several thoughts may have the same number.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    in_order: VecDeque<u64>,
    counts: BTreeMap<u64, usize>,
}

impl Numbers {
    pub(super) fn push(&mut self, number: u64) {
        self.in_order.push_back(number);
        let count = self.counts.entry(number).or_default();
        *count = count.saturating_add(1);
    }

    /// Drops the oldest ones, so that at most this many remain.
    pub(super) fn keep(&mut self, most: usize) {
        while self.in_order.len() > most
            && let Some(number) = self.in_order.pop_front()
        {
            self.forget(number);
        }
    }

    fn forget(&mut self, number: u64) {
        let Some(count) = self.counts.get_mut(&number) else {
            return;
        };

        *count = count.saturating_sub(1);
        if *count == 0 {
            self.counts.remove(&number);
        }
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        self.counts.contains_key(&number)
    }

    /// Returns the number of the last thought.
    pub(super) fn last(&self) -> Option<u64> {
        self.in_order.back().copied()
    }
}
