//! Memories that were truncated, or changed by something else: each is an error that says so.

use std::path::{Path, PathBuf};

use cogwork_recall::{Passage, Query, RecallError, Recalled};
use tempfile::TempDir;

use crate::support::{open, place};

/// A closed memory with some passages.
async fn closed() -> (TempDir, PathBuf) {
    let (folder, path) = place();
    let memory = open(&path).await.unwrap();
    let passages = (0..50).map(|number| Passage::new(format!("red {number}")).with_source("list"));
    memory.insert(passages).await.unwrap();
    (folder, path)
}

fn edit(path: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
}

async fn recall(path: &Path) -> Result<Vec<Recalled>, RecallError> {
    let memory = open(path).await?;
    memory.recall(&Query::new("red").with_limit(100)).await
}

#[tokio::test]
async fn changes_by_others_are_noticed() {
    let cases = [
        (
            "UPDATE vectors SET vector = x'00' WHERE id = 3",
            "the vector of passage 3 has 1 bytes; expected 12",
        ),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM passages WHERE id = 3",
            "Query returned no rows",
        ),
        ("DROP TABLE vectors", "no such table: vectors"),
        (
            "ALTER TABLE vectors RENAME COLUMN vector TO numbers",
            "no such column: vector",
        ),
        ("DELETE FROM memory", "Query returned no rows"),
    ];

    for (sql, expected) in cases {
        let (_folder, path) = closed().await;
        edit(&path, sql);

        let error = recall(&path).await.unwrap_err();
        let is_damaged = matches!(error, RecallError::Damaged { .. });
        let told = error.to_string();
        assert!(is_damaged && told.contains(expected), "{sql}: {told}");
        assert!(told.contains("restore it, or delete it"), "{told}");
    }
}
