//! Memories on disk: the model that they belong to, and what else may have their names.

use std::fs;

use cogwork_llm::embedding::HashedNgrams;
use cogwork_recall::{Passage, RecallError, VectorMemory};

use crate::support::{Colours, open, place};

#[tokio::test]
async fn embedders_of_other_models_and_dimensions_are_refused() {
    let (_folder, path) = place();
    let shown = path.display();
    let memory = open(&path).await.unwrap();

    // The model is set by the first embedder, and the dimension by the first passage.
    let error = VectorMemory::open(&path, HashedNgrams::new())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the memory `{shown}` contains embeddings of the model `colours`, and the embedder has \
             the model `hashed-ngrams-v1-512`; expected the same model, or a new memory"
        )
    );

    memory.insert([Passage::new("red apples")]).await.unwrap();
    let other = Colours::new("colours", 4);
    let other = VectorMemory::open(&path, other).await.unwrap();
    let expected = format!(
        "the memory `{shown}` contains embeddings with 3 dimensions, and those of the embedder \
         (model `colours`) have 4; expected 3, or a new memory"
    );

    let error = other.insert([Passage::new("red")]).await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    let error = other.recall(&"red".into()).await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(memory.count().await.unwrap(), 1);
}

#[tokio::test]
async fn memories_are_opened_while_others_read_them() {
    let (_folder, path) = place();
    drop(open(&path).await.unwrap());

    // As another process finds a memory whose creator hasn't set it up yet.
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA journal_mode = DELETE; BEGIN; SELECT * FROM memory")
        .unwrap();

    let opening = tokio::spawn(VectorMemory::open(path, Colours::default()));
    let reader = tokio::task::spawn_blocking(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(other);
    });
    reader.await.unwrap();
    opening.await.unwrap().unwrap();
}

#[tokio::test]
async fn other_files_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "These are notes, and no database. ".repeat(30)).unwrap();
    let database = folder.path().join("other.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .unwrap();
    drop(connection);

    for (path, told) in [
        (&text, "file is not a database"),
        (
            &database,
            "its header has the application id 0; expected 1131374454",
        ),
    ] {
        let before = fs::read(path).unwrap();
        let error = open(path).await.unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
        assert_eq!(fs::read(path).unwrap(), before);
    }

    let missing = folder.path().join("missing/memory.db");
    let error = open(&missing).await.unwrap_err();
    assert!(matches!(error, RecallError::File { .. }), "{error}");
    let error = open(folder.path()).await.unwrap_err().to_string();
    assert!(
        error.contains("this is a folder; expected a regular file"),
        "{error}"
    );
}
