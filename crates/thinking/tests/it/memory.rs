//! Stores of texts, and what they find.

use cogwork_thinking::memory::{Blackboard, Found, InMemory, Memory};

async fn texts(memory: &impl Memory, query: &str, top_k: usize, threshold: f32) -> Vec<String> {
    let found = memory.search(query, top_k, threshold).await.unwrap();
    found.iter().map(|found| found.text().to_owned()).collect()
}

async fn filled(memory: impl Memory) -> impl Memory {
    let cat = "The cat sleeps on the mat.";
    for text in [
        cat,
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
    for (query, top_k, threshold, expected) in [
        ("Does the DOG sleep?", 1, 0.0, &["The dog sleeps."][..]),
        ("the roof", 1, 0.0, &["Rain falls on the roof."]),
        ("屋根", 9, 0.9, &["雨が屋根に降る"]),
        ("submarine", 9, 0.0, &[]),
        ("", 9, 0.0, &[]),
        (
            "the",
            2,
            0.0,
            &["Rain falls on the roof.", "The dog sleeps."],
        ),
        ("the cat", 9, 0.6, &["The cat sleeps on the mat."]),
        ("the cat", 0, 0.0, &[]),
        ("the cat", 9, f32::NAN, &[]),
    ] {
        assert_eq!(
            texts(&memory, query, top_k, threshold).await,
            expected,
            "{query}"
        );
    }

    let found = memory.search("cat mat", 1, 0.0).await.unwrap();
    assert_eq!(found, [Found::new("The cat sleeps on the mat.", 1.0)]);
}

#[tokio::test]
async fn stores_forget_the_oldest_and_refuse_what_is_too_long() {
    let stores: [Box<dyn Memory>; 2] = [Box::new(InMemory::new()), Box::new(Blackboard::new())];

    for store in stores {
        for number in 0..=10_000 {
            store.add(&format!("note {number}")).await.unwrap();
        }
        let error = store.add(&"x".repeat(16_385)).await.unwrap_err();
        let expected = "the text to remember has 16385 bytes; expected at most 16384";
        assert_eq!(error.to_string(), expected);

        let found = store.search("note", 20_000, 0.0).await.unwrap();
        assert_eq!(found.len(), 10_000);
        assert_eq!(found.last().map(Found::text), Some("note 1"));
    }
}

#[tokio::test]
async fn a_blackboard_is_read_by_recency() {
    let board = filled(Blackboard::new()).await;
    let newest = ["雨が屋根に降る", "Rain falls on the roof."];
    assert_eq!(texts(&board, "whatever", 2, 0.0).await, newest);
    assert_eq!(texts(&board, "whatever", 9, 0.3).await.len(), 3);
}
