//! Counts instructions with callgrind.

use std::fs;
use std::path::Path;

use crate::WINDOWS;
use crate::client::Client;

/// The thoughts before those that are counted, and the latter.
const BEFORE: usize = 500;
const COUNTED: usize = 2_000;

/// The length of a long session. Fewer thoughts are counted in it than there is room for.
const LONG: usize = 9_600;
const COUNTED_IN_LONG: usize = 300;

/// How a server that is counted is started.
struct Counted<'a> {
    name: &'static str,
    command: &'a str,
    has_folder: bool,
}

/// Prints the instructions of a thought. Thoughts before those that are counted are recorded as
/// well, and subtracted.
pub(crate) fn compare(command: &str) {
    for (name, has_folder) in [("memory", false), ("SQLite", true)] {
        let counted = Counted {
            name,
            command,
            has_folder,
        };
        counted.print();
    }
}

impl Counted<'_> {
    fn print(&self) {
        let name = self.name;
        for window in WINDOWS {
            let work = self.work(BEFORE, COUNTED, window);
            println!("{name}: {work} instructions of a thought, {window} at a time");
        }

        let short = self.work(10, COUNTED_IN_LONG, 1);
        let long = self.work(LONG, COUNTED_IN_LONG, 1);
        let ratio = long as f64 / short as f64;
        println!("{name}: {long} after {LONG} others, {short} after 10: {ratio:.2} times as many");
    }

    /// Returns the instructions of a thought after others.
    fn work(&self, before: usize, counted: usize, window: usize) -> u64 {
        let without = self.instructions(before, window);
        let with = self.instructions(before + counted, window);
        with.saturating_sub(without) / counted as u64
    }

    /// Returns the number of instructions of a server that records this many thoughts.
    fn instructions(&self, thoughts: usize, window: usize) -> u64 {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("callgrind");
        let mut command = format!(
            "valgrind --tool=callgrind --callgrind-out-file={} {}",
            out.display(),
            self.command,
        );
        if self.has_folder {
            let data = folder.path().join("data");
            command += &format!(" --data {}", data.display());
        }

        let mut client = Client::start(&command);
        client.thoughts(1, thoughts, window);
        client.finish();
        counted(&out)
    }
}

/// Returns what callgrind counted.
fn counted(out: &Path) -> u64 {
    let counted = fs::read_to_string(out).expect("what callgrind counted");
    let totals = counted
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    totals
        .and_then(|total| total.trim().parse().ok())
        .expect("a number")
}
