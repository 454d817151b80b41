//! Stores of texts, and what they find.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[cfg(unix)]
mod obstacles;
mod processes;
#[cfg(unix)]
#[path = "../../../../text/tests/support/obstacles.rs"]
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use cogwork_thinking::{
    Blackboard, FileMemory, Found, InMemory, Memory, MemoryError, MemoryLimits,
};
use proptest::prelude::*;

async fn texts(memory: &impl Memory, query: &str, top_k: usize, threshold: f32) -> Vec<String> {
    let found = memory.search(query, top_k, threshold).await.unwrap();
    found.iter().map(|found| found.text().to_owned()).collect()
}

async fn filled(memory: impl Memory) -> impl Memory {
    for text in [
        "The cat sleeps on the mat.",
        "The dog sleeps.",
        "Rain falls on the roof.",
        "雨が屋根に降る",
    ] {
        memory.add(text).await.unwrap();
    }

    memory
}

#[tokio::test]
async fn words_find_texts_and_rare_words_count_more() {
    let memory = filled(InMemory::new()).await;
    assert_eq!(
        texts(&memory, "Does the DOG sleep?", 1, 0.0).await,
        ["The dog sleeps."]
    );
    assert_eq!(
        texts(&memory, "the roof", 1, 0.0).await,
        ["Rain falls on the roof."]
    );
    assert_eq!(texts(&memory, "屋根", 9, 0.9).await, ["雨が屋根に降る"]);
    assert_eq!(texts(&memory, "submarine", 9, 0.0).await, [""; 0]);
    assert_eq!(texts(&memory, "", 9, 0.0).await, [""; 0]);
    assert_eq!(
        texts(&memory, "the", 2, 0.0).await,
        ["Rain falls on the roof.", "The dog sleeps."]
    );
    assert_eq!(
        memory.search("cat mat", 1, 0.0).await.unwrap(),
        [Found::new("The cat sleeps on the mat.", 1.0)]
    );
}

#[tokio::test]
async fn a_threshold_and_a_number_bound_what_is_found() {
    let memory = filled(InMemory::new()).await;
    assert_eq!(texts(&memory, "the cat", 9, 0.0).await.len(), 3);
    assert_eq!(
        texts(&memory, "the cat", 9, 0.6).await,
        ["The cat sleeps on the mat."]
    );
    assert_eq!(texts(&memory, "the cat", 0, 0.0).await, [""; 0]);
    assert_eq!(texts(&memory, "the cat", 9, f32::NAN).await, [""; 0]);
}

#[tokio::test]
async fn stores_forget_the_oldest_and_refuse_what_is_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let limits: MemoryLimits =
        serde_json::from_value(serde_json::json!({"items": 2, "item_bytes": 10})).unwrap();
    let file = FileMemory::open_with(folder.path().join("notes.jsonl"), limits).unwrap();
    let stores: [Box<dyn Memory>; 3] = [
        Box::new(InMemory::with_limits(limits)),
        Box::new(Blackboard::with_limits(limits)),
        Box::new(file),
    ];

    for store in stores {
        for text in ["note 1", "note 2", "note 3"] {
            store.add(text).await.unwrap();
        }

        let error = store.add("note 4, too long").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the text to remember has 16 bytes; expected at most 10"
        );
        let found = store.search("note", 9, 0.0).await.unwrap();
        assert_eq!(
            found.iter().map(Found::text).collect::<Vec<_>>(),
            ["note 3", "note 2"]
        );
    }
}

#[tokio::test]
async fn a_blackboard_is_read_by_recency() {
    let board = filled(Blackboard::new()).await;
    assert_eq!(
        texts(&board, "whatever", 2, 0.0).await,
        ["雨が屋根に降る", "Rain falls on the roof."]
    );
    assert_eq!(texts(&board, "whatever", 9, 0.3).await.len(), 3);
}

struct Notes {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn notes(content: &str) -> Notes {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.jsonl");
    fs::write(&path, content).unwrap();

    Notes {
        _folder: folder,
        path,
    }
}

#[tokio::test]
async fn a_file_keeps_what_it_was_given() {
    let notes = notes("");
    filled(FileMemory::open(&notes.path).unwrap()).await;
    let memory = FileMemory::open(&notes.path).unwrap();
    assert_eq!(
        texts(&memory, "roof", 9, 0.0).await,
        ["Rain falls on the roof."]
    );
    assert_eq!(
        fs::read_to_string(&notes.path).unwrap().lines().nth(1),
        Some(r#"{"text":"The dog sleeps."}"#)
    );
}

#[tokio::test]
async fn a_last_line_that_was_not_written_whole_is_forgotten() {
    let whole = "{\"text\":\"one\"}\n{\"text\":\"two\"}\n";
    for rest in [
        "{",
        "{\"te",
        "{\"text\":\"thr",
        "{\"text\":\"three\"}",
        "\u{0}\u{0}\u{0}",
    ] {
        let notes = notes(&format!("{whole}{rest}"));
        let memory = FileMemory::open(&notes.path).unwrap();
        assert_eq!(texts(&memory, "one two three", 9, 0.0).await.len(), 2);
        memory.add("four").await.unwrap();
        assert_eq!(
            fs::read_to_string(&notes.path).unwrap(),
            format!("{whole}{{\"text\":\"four\"}}\n")
        );
    }
}

#[test]
fn a_new_file_that_a_crash_left_is_cleared_away() {
    let notes = notes("{\"text\":\"one\"}\n");
    let beside = |name: &str| notes.path.with_file_name(name);
    fs::write(beside("notes.jsonl.0badf00d.new"), "{\"text\":\"tw").unwrap();
    fs::write(beside("notes.jsonl.new"), "somebody's").unwrap();

    FileMemory::open(&notes.path).unwrap();
    assert!(!beside("notes.jsonl.0badf00d.new").exists());
    assert_eq!(
        fs::read_to_string(beside("notes.jsonl.new")).unwrap(),
        "somebody's"
    );
}

/// A line that isn't an item, or the beginning of one, wasn't written by this memory. A data set
/// with texts would lose its other fields.
#[test]
fn a_file_of_somebody_else_is_an_error_and_touched_by_nothing() {
    for (content, line) in [
        ("buy milk", 1),
        ("buy milk\n", 1),
        ("[1, 2]\n", 1),
        ("[\"one\"]\n", 1),
        ("{\"text\":\"one\"}\nbuy milk", 2),
        ("{\"text\":\"one\"}\n{\"tex\n{\"text\":\"three\"}\n", 2),
        ("{\"text\":\"a\",\"label\":1}\n", 1),
        ("{\"label\": 1, \"text\": \"a\"}\n", 1),
        ("{\"name\": \"settings in one line\"}", 1),
        ("{\"text\":\"a\",\"text\":\"b\"}\n", 1),
    ] {
        let notes = notes(content);
        let error = FileMemory::open(&notes.path).unwrap_err().to_string();
        let expected = "this is not an item; expected {\"text\": \"…\"}";

        assert_eq!(
            error,
            format!(
                "the memory file {}, line {line}: {expected}",
                notes.path.display()
            )
        );
        assert_eq!(fs::read_to_string(&notes.path).unwrap(), content);
    }
}

#[tokio::test]
async fn a_file_does_not_grow_without_bound() {
    let notes = notes("");
    let limits = MemoryLimits {
        items: 5,
        ..MemoryLimits::default()
    };
    let memory = FileMemory::open_with(&notes.path, limits).unwrap();

    for number in 0..103 {
        memory.add(&format!("note {number}")).await.unwrap();
        assert!(fs::read_to_string(&notes.path).unwrap().lines().count() < 10);
    }

    // The file that was put in the place of the first is locked like it.
    let error = FileMemory::open_with(&notes.path, limits).unwrap_err();
    assert!(matches!(error, MemoryError::InUse { .. }), "{error}");
    drop(memory);
    let memory = FileMemory::open_with(&notes.path, limits).unwrap();

    assert_eq!(
        texts(&memory, "note", 9, 0.0).await,
        ["note 102", "note 101", "note 100", "note 99", "note 98"]
    );
}

#[test]
fn a_file_is_for_one_process_and_an_error_says_where() {
    let notes = notes("");
    let first = FileMemory::open(&notes.path).unwrap();

    // A second handle in this process is refused as one of another would be.
    let error = FileMemory::open(&notes.path).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "the memory file {} is in use in this process",
            notes.path.display()
        )
    );

    drop(first);
    FileMemory::open(&notes.path).unwrap();
    let error = FileMemory::open(notes.path.join("below"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(&format!(
            "the memory file {}",
            notes.path.join("below").display()
        )),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in the file, opening it gives a memory or an error, and a memory that was opened can be
    /// written and opened again.
    #[test]
    fn any_bytes_open_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), whole in 0..3_usize) {
        let notes = notes("");
        let content = [b"{\"text\":\"one\"}\n".repeat(whole), bytes].concat();
        fs::write(&notes.path, content).unwrap();
        if let Ok(memory) = FileMemory::open(&notes.path) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(memory.add("fresh")).unwrap();
            drop(memory);
            let memory = FileMemory::open(&notes.path).unwrap();
            let found = runtime.block_on(memory.search("fresh", 1, 0.0)).unwrap();
            prop_assert_eq!(found[0].text(), "fresh");
        }
    }

    #[test]
    fn scores_are_in_order_and_in_bounds(items in prop::collection::vec("[a-c ]{0,8}", 0..20), query in "[a-d ]{0,8}", top_k in 0..9_usize) {
        let memory = InMemory::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(async {
            for item in &items {
                memory.add(item).await.unwrap();
            }
            memory.search(&query, top_k, 0.25).await.unwrap()
        });
        prop_assert!(found.len() <= top_k);
        prop_assert!(found.iter().all(|found| (0.25..=1.0).contains(&found.score())));
        prop_assert!(found.is_sorted_by(|one, other| one.score() >= other.score()));
    }
}

/// Polls a future once, and returns what it returned if it was ready.
fn polled_once<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());

    match future.poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}

/// Clones add at once while the file is written anew now and then, and some give up.
#[tokio::test]
async fn calls_that_are_dropped_leave_whole_items() {
    let limits = MemoryLimits {
        items: 10,
        ..MemoryLimits::default()
    };
    let notes = notes("");
    let memory = FileMemory::open_with(&notes.path, limits).unwrap();

    for number in 0..100 {
        let text = format!("dropped {number}");
        drop(polled_once(std::pin::pin!(memory.clone().add(&text))));
        memory.add(&format!("kept {number}")).await.unwrap();
    }

    drop(memory);
    let memory = reopened(&notes.path, limits).await;
    let found = texts(&memory, "kept dropped", 99, 0.0).await;
    let distinct: std::collections::BTreeSet<_> = found.iter().collect();

    assert_eq!(found.len(), 10, "{found:?}");
    assert_eq!(distinct.len(), 10, "{found:?}");
    assert!(found.iter().any(|text| text == "kept 99"), "{found:?}");
}

/// The memory, when the last call that was dropped is done with it.
async fn reopened(path: &Path, limits: MemoryLimits) -> FileMemory {
    loop {
        match FileMemory::open_with(path, limits) {
            Err(MemoryError::InUse { .. }) => tokio::task::yield_now().await,
            opened => return opened.unwrap(),
        }
    }
}

#[test]
fn a_file_is_written_without_a_runtime() {
    let notes = notes("");
    let memory = FileMemory::open(&notes.path).unwrap();

    let added = polled_once(std::pin::pin!(memory.add("note")));
    assert!(matches!(added, Some(Ok(()))));
    assert_eq!(
        fs::read_to_string(&notes.path).unwrap(),
        "{\"text\":\"note\"}\n"
    );
}
