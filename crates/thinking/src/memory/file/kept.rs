use std::collections::VecDeque;

/// The sizes of the lines of the items that are kept, oldest first.
#[derive(Debug, Default)]
pub(super) struct Kept {
    lines: VecDeque<u64>,
    bytes: u64,
}

impl Kept {
    /// Appends the line of an item, of which the newest `items` are kept.
    pub(super) fn push(&mut self, bytes: u64, items: usize) {
        self.lines.push_back(bytes);
        self.bytes += bytes;

        while self.lines.len() > items {
            let Some(oldest) = self.lines.pop_front() else {
                break;
            };

            self.bytes -= oldest;
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
