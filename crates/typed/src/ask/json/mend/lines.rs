//! The lines of a text that is rewritten.

/// The lines of the original text by the offsets in the JSON at which they begin.
#[derive(Debug, Clone, Default)]
pub(in crate::ask::json) struct Lines(Vec<(usize, usize)>);

impl Lines {
    pub(super) fn begin(&mut self, offset: usize, line: usize) {
        if self.0.last().is_none_or(|(_, last)| *last != line) {
            self.0.push((offset, line));
        }
    }

    /// Forgets what begins at this offset or after it.
    pub(super) fn truncate(&mut self, offset: usize) {
        let kept = self.0.partition_point(|(begin, _)| *begin < offset);
        self.0.truncate(kept);
    }

    pub(in crate::ask::json) fn at(&self, offset: usize) -> usize {
        let after = self.0.partition_point(|(begin, _)| *begin <= offset);
        let place = after.checked_sub(1).and_then(|place| self.0.get(place));
        place.map_or(1, |(_, line)| *line)
    }
}
