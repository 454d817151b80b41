//! Counts instructions with callgrind.

use std::fs;

use crate::client::Client;

/// The lengths of sessions before the thoughts that are counted.
const SHORT: usize = 10;
const LONG: usize = 9_600;

/// The number of thoughts that are counted.
const COUNTED: usize = 300;

/// Prints the instructions of a thought in a short and in a long session. Thoughts before them are
/// recorded as well, and subtracted.
pub(crate) fn compare(command: &str) {
    let of = |before| {
        let without = instructions(command, before);
        let with = instructions(command, before + COUNTED);
        with.saturating_sub(without) / COUNTED as u64
    };

    let short = of(SHORT);
    let long = of(LONG);
    println!("instructions of a thought after {SHORT} others: {short}");
    println!("instructions of a thought after {LONG} others: {long}");
    println!("ratio: {:.2}", long as f64 / short as f64);
}

/// Returns the number of instructions of a server that records this many thoughts.
fn instructions(command: &str, thoughts: usize) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("callgrind");
    let data = folder.path().join("data");
    let command = format!(
        "valgrind --tool=callgrind --callgrind-out-file={} {command} --data {}",
        out.display(),
        data.display()
    );

    let mut client = Client::start(&command);
    client.thoughts(1, thoughts, 1);
    client.finish();

    let counted = fs::read_to_string(out).expect("what callgrind counted");
    let totals = counted
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    totals
        .and_then(|total| total.trim().parse().ok())
        .expect("a number")
}
