//! The time that readers take.

use std::time::{Duration, Instant};

/// The maximum number of attempts, since other programs run on the same machine.
const ATTEMPTS: u32 = 20;

/// What the clock and other programs may add.
const NOISE: Duration = Duration::from_millis(3);

/// Asserts that reading a text of ten times the length doesn't take much more than ten times as long.
/// Work that grows with the square takes a hundred times as long. The fastest of several attempts
/// counts for each text.
pub(crate) fn assert_grows_linearly(what: &str, short: &str, long: &str, read: impl Fn(&str)) {
    let time = |text: &str| {
        let start = Instant::now();
        read(text);
        start.elapsed()
    };

    let mut once = time(short);
    let mut tenfold = time(long);
    for _ in 1..ATTEMPTS {
        if tenfold <= once * 35 + NOISE {
            return;
        }

        once = once.min(time(short));
        tenfold = tenfold.min(time(long));
    }

    assert!(
        tenfold <= once * 35 + NOISE,
        "{what}: {once:?} became {tenfold:?}"
    );
}
