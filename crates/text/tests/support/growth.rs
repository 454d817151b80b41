//! The time that readers take.

use std::time::{Duration, Instant};

/// Asserts that reading a text of ten times the length doesn't take much more than ten times as long.
/// Work that grows with the square takes a hundred times as long. The fastest of several attempts
/// counts, since other programs run on the same machine.
pub(crate) fn assert_grows_linearly(what: &str, short: &str, long: &str, read: impl Fn(&str)) {
    let time = |text: &str| {
        let start = Instant::now();
        read(text);
        start.elapsed()
    };

    for attempt in 1..=5 {
        let [once, tenfold] = [time(short), time(long)];
        if tenfold <= once * 35 + Duration::from_millis(2) {
            return;
        }
        assert!(attempt < 5, "{what}: {once:?} became {tenfold:?}");
    }
}
