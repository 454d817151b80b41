//! Checks of the work that readers [count](crate::charge). For tests.

use std::fmt::Display;
use std::pin::pin;

use crate::measure;

/// The maximum factor by which the work may grow for a text of twice the length. The part above 2
/// allows for work that grows in steps.
const GROWTH: f64 = 2.3;

/// Asserts that work at most doubled: `once` is the work for a text, and `twice` the work for a
/// text of twice the length.
///
/// # Panics
///
/// Panics if the work more than doubled, or if none was counted.
#[track_caller]
pub fn assert_at_most_doubled(what: impl Display, once: u64, twice: u64) {
    assert!(once > 0, "{what}: no work was counted");

    let growth = twice as f64 / once as f64;
    assert!(
        growth < GROWTH,
        "{what}: {once} units of work became {twice}, {growth:.2} times as many"
    );
}

/// Asserts that the work of reading a text is proportional to its length, and that all of the text
/// is counted. `long` has twice as many parts as `short`.
///
/// # Panics
///
/// Panics if the work more than doubles, or if less than one unit is counted for each byte.
#[track_caller]
pub fn assert_linear(what: impl Display, short: &str, long: &str, mut read: impl FnMut(&str)) {
    let (_, once) = measure(|| read(short));
    let (_, twice) = measure(|| read(long));

    assert_at_most_doubled(&what, once, twice);
    assert!(
        once >= short.len() as u64,
        "{what}: {once} units of work are not all of it"
    );
}

/// Runs a future. Returns its output and the maximum work of a single poll, counted on the thread
/// that polled it. A deadline around the future is late by at most this much work.
pub async fn most_work_of_a_poll<T>(future: impl Future<Output = T>) -> (T, u64) {
    let mut future = pin!(future);
    let mut most = 0;

    let value = std::future::poll_fn(|context| {
        let (poll, work) = measure(|| future.as_mut().poll(context));
        most = most.max(work);
        poll
    });

    (value.await, most)
}
