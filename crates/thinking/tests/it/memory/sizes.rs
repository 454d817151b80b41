//! The sizes of memory files: how much is read, kept and written.

use std::fs::{self, File};
use std::pin::pin;

use cogwork_read::measure;
use cogwork_thinking::{FileMemory, Memory, MemoryError, MemoryLimits};

use crate::memory::{notes, polled_once, texts};

const ITEM: usize = 100;
/// The most bytes of a line with such an item.
const LINE: usize = 6 * ITEM + 16;

fn limits() -> MemoryLimits {
    MemoryLimits::default().with_item_bytes(ITEM)
}

#[test]
fn a_line_that_is_longer_than_any_item_is_an_error() {
    let long = "x".repeat(20 * LINE);
    let first = "{\"text\":\"one\"}\n";
    let second = format!("{{\"text\":\"{long}\"}}");

    for end in ["", "\n", "\n{\"text\":\"three\"}\n"] {
        let content = format!("{first}{second}{end}");
        let notes = notes(&content);
        let error = FileMemory::open_with(&notes.path, limits()).unwrap_err();
        let MemoryError::TooLong { what, bytes, most } = error else {
            panic!("{error}");
        };

        let line_break = usize::from(!end.is_empty());
        assert_eq!(
            what,
            format!("line 2 of the memory file {}", notes.path.display())
        );
        assert_eq!(bytes, (second.len() + line_break) as u64);
        assert_eq!(most, LINE as u64);
        assert_eq!(fs::read_to_string(&notes.path).unwrap(), content);
    }
}

/// What an item takes in the file depends on how it is escaped.
#[tokio::test]
async fn the_longest_items_are_read_again() {
    let limits = limits().with_items(3);
    let notes = notes("");

    for text in [
        "\u{1}".repeat(ITEM),
        "\\".repeat(ITEM),
        "é".repeat(ITEM / 2),
    ] {
        for _ in 0..20 {
            let memory = FileMemory::open_with(&notes.path, limits).unwrap();
            memory.add(&text).await.unwrap();
        }
    }

    let memory = FileMemory::open_with(&notes.path, limits).unwrap();
    let found = texts(&memory, &"é".repeat(ITEM / 2), 9, 0.0).await;
    assert_eq!(found.len(), 3);
}

/// Space that was reserved for items that never reached the disk.
#[tokio::test]
async fn any_number_of_zeros_at_the_end_is_forgotten() {
    for whole in ["{\"text\":\"one\"}\n", "{\"text\":\"one\"}\n{\"text\":\"tw"] {
        let notes = notes(whole);
        let file = File::options().write(true).open(&notes.path).unwrap();
        file.set_len(200 * LINE as u64).unwrap();

        let memory = FileMemory::open_with(&notes.path, limits()).unwrap();
        memory.add("two").await.unwrap();
        assert_eq!(
            fs::read_to_string(&notes.path).unwrap(),
            "{\"text\":\"one\"}\n{\"text\":\"two\"}\n"
        );
    }
}

/// The total bounds the file more tightly than many large items do.
#[test]
fn a_file_larger_than_twice_the_total_is_not_read() {
    let limits = MemoryLimits::default()
        .with_items(10_000)
        .with_item_bytes(1024 * 1024)
        .with_total_bytes(16 * 1024 * 1024);
    let notes = notes("");
    let file = File::options().write(true).open(&notes.path).unwrap();
    file.set_len(2 * 1024 * 1024 * 1024).unwrap();

    let (opened, work) = measure(|| FileMemory::open_with(&notes.path, limits));
    let error = opened.unwrap_err();
    assert!(matches!(error, MemoryError::TooLong { .. }), "{error}");
    assert_eq!(work, 0, "the file was read");
}

/// Adds an item on this thread, and returns how many bytes were written.
fn written(memory: &FileMemory, text: &str) -> u64 {
    let (added, bytes) = measure(|| polled_once(pin!(memory.add(text))));
    added.unwrap().unwrap();
    // Its words are found as well.
    bytes - text.len() as u64
}

#[test]
fn the_total_bounds_the_file_and_rewriting_is_linear() {
    const TOTAL: usize = 256 * 1024;
    let cases = [
        // One item is kept, then 8, then hundreds.
        (TOTAL, 30),
        (TOTAL / 8, 200),
        (TOTAL / 500, 2_000),
    ];

    for (item, adds) in cases {
        let limits = MemoryLimits::default()
            .with_items(10_000)
            .with_item_bytes(TOTAL)
            .with_total_bytes(TOTAL);
        let notes = notes("");
        let memory = FileMemory::open_with(&notes.path, limits).unwrap();
        let text = "x".repeat(item);
        let line = (item + 12) as u64;
        let mut all = 0;

        for _ in 0..adds {
            all += written(&memory, &text);
            let bytes = fs::metadata(&notes.path).unwrap().len();
            assert!(bytes < 5 * TOTAL as u64 / 2, "{bytes} bytes are left");
        }

        let appended = adds as u64 * line;
        assert!(all >= appended + TOTAL as u64 / 2, "nothing was rewritten");
        assert!(
            all <= 2 * appended,
            "{all} of {appended} bytes were written"
        );
    }
}

/// An item that is escaped takes more in the file than it counts for the limits.
#[test]
fn escaped_items_are_not_rewritten_with_every_add() {
    let limits = limits().with_total_bytes(10_000);
    let notes = notes("");
    let memory = FileMemory::open_with(&notes.path, limits).unwrap();
    let text = "\u{1}".repeat(ITEM);
    let appended = 2_000 * (6 * ITEM + 12) as u64;
    let mut all = 0;

    for _ in 0..2_000 {
        all += written(&memory, &text);
    }

    assert!(
        all <= 2 * appended,
        "{all} of {appended} bytes were written"
    );
}
