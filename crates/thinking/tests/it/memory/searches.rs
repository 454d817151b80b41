//! A search holds up no other task, however large the memory and the query are.

use cogwork_read::testing::most_work_of_a_poll;
use cogwork_thinking::{FileMemory, InMemory, Memory, MemoryLimits};

use crate::memory::notes;

/// The most work of one poll. More is done on another thread.
const MOST: u64 = 8 * 1024;
const ITEMS: usize = 3_000;

async fn assert_polls_are_short(memory: &impl Memory) {
    for number in 0..ITEMS {
        memory.add(&format!("note {number}")).await.unwrap();
    }

    let last = ITEMS - 1;
    let many_words: String = (0..300).map(|word| format!("word{word} ")).collect();
    let queries = [
        format!("note {last}"),
        format!("note {last} {many_words}"),
        format!("{}note {last}", "note ".repeat(100_000)),
    ];

    for query in queries {
        let (found, work) = most_work_of_a_poll(memory.search(&query, 1, 0.0)).await;
        assert_eq!(found.unwrap()[0].text(), format!("note {last}"));
        assert!(work <= MOST, "{work} units of work in one poll");
    }
}

#[tokio::test]
async fn a_search_of_a_large_memory_does_not_hold_up_other_tasks() {
    let limits = MemoryLimits::default().with_items(ITEMS);
    assert_polls_are_short(&InMemory::with_limits(limits)).await;
}

#[tokio::test]
async fn a_search_of_a_large_file_does_not_hold_up_other_tasks() {
    let limits = MemoryLimits::default().with_items(ITEMS);
    let notes = notes("");
    let memory = FileMemory::open_with(&notes.path, limits).unwrap();
    assert_polls_are_short(&memory).await;
}

#[tokio::test]
async fn adding_a_long_text_does_not_hold_up_other_tasks() {
    let limits = MemoryLimits::default().with_item_bytes(100_000);
    let notes = notes("");
    let stores: [Box<dyn Memory>; 2] = [
        Box::new(InMemory::with_limits(limits)),
        Box::new(FileMemory::open_with(&notes.path, limits).unwrap()),
    ];

    for store in stores {
        let (added, work) = most_work_of_a_poll(store.add(&"note ".repeat(20_000))).await;
        added.unwrap();
        assert!(work <= MOST, "{work} units of work in one poll");
        assert_eq!(store.search("note", 9, 0.0).await.unwrap().len(), 1);
    }
}
