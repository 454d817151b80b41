use std::collections::VecDeque;

use crate::MemoryLimits;

/// The newest items within the limits of a memory, oldest first.
#[derive(Debug)]
pub(super) struct Newest<T> {
    items: VecDeque<Sized<T>>,
    /// The total size of all texts in bytes.
    bytes: usize,
}

#[derive(Debug)]
struct Sized<T> {
    item: T,
    bytes: usize,
}

impl<T> Newest<T> {
    /// Appends an item with a text of this many bytes, and forgets the oldest items beyond the
    /// limits.
    pub(super) fn push(&mut self, item: T, bytes: usize, limits: MemoryLimits) {
        while self.items.len() >= limits.items() || self.is_full(bytes, limits) {
            let Some(oldest) = self.items.pop_front() else {
                break;
            };

            self.bytes -= oldest.bytes;
        }

        self.bytes += bytes;
        self.items.push_back(Sized { item, bytes });
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.items.iter().map(|sized| &sized.item)
    }

    fn is_full(&self, more: usize, limits: MemoryLimits) -> bool {
        self.bytes.saturating_add(more) > limits.total_bytes()
    }
}

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
            bytes: 0,
        }
    }
}
