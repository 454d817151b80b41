//! Checks of the work that readers [count](crate::charge). For tests.

use std::fmt::Display;
use std::pin::pin;

use crate::measure;

/// How many times as much work twice the text may take. The rest above 2 is work that comes in steps.
const GROWTH: f64 = 2.3;

/// Asserts that work at most doubled: `once` is that of a text, `twice` that of a text twice as long.
///
/// # Panics
///
/// When it more than doubled, or none was counted.
#[track_caller]
pub fn assert_at_most_doubled(what: impl Display, once: u64, twice: u64) {
    assert!(once > 0, "{what}: no work was counted");

    let growth = twice as f64 / once as f64;
    assert!(
        growth < GROWTH,
        "{what}: {once} units of work became {twice}, {growth:.2} times as many"
    );
}

/// Asserts that reading takes work in proportion to the text, and that all of the text is counted. `long` has
/// twice as many pieces as `short`.
///
/// # Panics
///
/// When the work more than doubles, or less than one unit is counted for each byte.
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

/// Runs a future, and returns what it returned with the most work that one poll took on the thread that polled
/// it. A deadline around the future is late by as much at most.
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
