//! The memory that memories use in addition to the bounded texts.

use cogwork_thinking::{Blackboard, InMemory, Memory, MemoryLimits};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// A text of `bytes` bytes of ordinary words.
fn prose(seed: usize, bytes: usize) -> String {
    let words = (0..).map(|number| format!("word{} ", (number * 31 + seed * 7) % 5_000));
    let mut text = String::new();
    words
        .take_while(|word| {
            text.push_str(word);
            text.len() < bytes
        })
        .for_each(drop);

    text.truncate(bytes);
    text
}

/// A text in which nearly every character is a word of its own.
fn dense(seed: usize, bytes: usize) -> String {
    let first = 0x4e00 + u32::try_from(seed % 64).unwrap_or_default();
    let characters = (0..u32::try_from(bytes / 3).unwrap_or_default())
        .filter_map(|number| char::from_u32(first + number % 20_000));
    characters.collect()
}

/// Everything in one test: the allocator counts for the whole process.
#[tokio::test]
async fn a_memory_takes_little_more_than_its_limits_say() {
    const TEXTS: usize = 1024 * 1024;
    let limits = MemoryLimits::default().with_total_bytes(TEXTS);

    for (kind, text, times) in [
        ("prose", prose as fn(usize, usize) -> String, 2.0),
        ("dense", dense, 4.0),
    ] {
        let before = ALLOCATED.current_usage();
        let memory = InMemory::with_limits(limits);
        for number in 0..100 {
            memory.add(&text(number, 16 * 1024)).await.unwrap();
        }

        let taken = (ALLOCATED.current_usage() - before) as f64 / TEXTS as f64;
        assert!(
            (0.9..=times).contains(&taken),
            "{kind}: {taken} times the bytes of the texts"
        );
    }

    // Few items, but long ones: the limit on all of them together holds.
    let long = MemoryLimits::default()
        .with_item_bytes(256 * 1024)
        .with_total_bytes(TEXTS);
    let memory = InMemory::with_limits(long);
    let board = Blackboard::with_limits(long);
    let before = ALLOCATED.current_usage();

    for number in 0..8 {
        memory.add(&prose(number, 256 * 1024)).await.unwrap();
        board.add(&prose(number, 256 * 1024)).await.unwrap();
    }

    let taken = (ALLOCATED.current_usage() - before) as f64 / TEXTS as f64;
    assert!(taken <= 2.5, "{taken} times the bytes of the texts of one");
    assert_eq!(board.search("", 100, 0.0).await.unwrap().len(), 4);
    assert_eq!(memory.search("word1", 100, 0.0).await.unwrap().len(), 4);
}
