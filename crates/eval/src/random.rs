/// A generator of random numbers that gives the same numbers everywhere and in every version:
/// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from `low` to `high`, including both.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let count = high.abs_diff(low).saturating_add(1);
        low.saturating_add_unsigned(self.next() % count)
    }

    /// Returns one of the items, or the default if there are none.
    pub(crate) fn choose<T: Copy + Default>(&mut self, items: &[T]) -> T {
        // No index is there if there are no items.
        let index = self.between(0, items.len() as i64 - 1);
        items.get(index as usize).copied().unwrap_or_default()
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.between(0, last as i64) as usize);
        }
    }
}
