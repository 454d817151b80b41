//! Counts the work of readers.

use std::cell::Cell;

thread_local! {
    static CHARGED: Cell<u64> = const { Cell::new(0) };
}

/// Counts work. `bytes` is the number of bytes that were examined or written, or the number of
/// other steps that take as long.
///
/// A reader calls this wherever it processes text. It costs one addition.
#[inline]
pub fn charge(bytes: usize) {
    CHARGED.with(|charged| charged.set(charged.get().wrapping_add(bytes as u64)));
}

/// Runs `read`. Returns its result and the work that was [charged](charge) on this thread in the
/// meantime.
///
/// ```
/// use cogwork_read::{charge, measure};
///
/// fn lines(text: &str) -> usize {
///     charge(text.len());
///     text.lines().count()
/// }
///
/// let (_, work) = measure(|| lines("one\ntwo\n"));
/// let (_, twice) = measure(|| lines("one\ntwo\none\ntwo\n"));
/// assert_eq!((work, twice), (8, 16));
/// ```
pub fn measure<T>(read: impl FnOnce() -> T) -> (T, u64) {
    let before = CHARGED.get();
    let value = read();
    let work = CHARGED.get().wrapping_sub(before);

    (value, work)
}
