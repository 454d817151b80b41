//! Folders and files.

use std::fs;
use std::path::Path;

use cogwork_mcp::{Server, ServerLimits};

use super::support::{client, database, record, refusal, server};
use crate::support::connect;

#[cfg(unix)]
fn mode(path: impl AsRef<Path>) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).expect("metadata").permissions().mode() & 0o777
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_can_read_the_sessions() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("a/b");
    let client = client(&data).await;
    record(&client, "a").await.expect("a thought");

    assert_eq!(mode(&data), 0o700);
    for file in [
        "sessions.sqlite",
        "sessions.sqlite-wal",
        "sessions.sqlite-shm",
    ] {
        assert_eq!(mode(data.join(file)), 0o600, "{file}");
    }
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "").expect("a file");

    let error = refusal(&folder.path().join("file/\u{1b}[2J"));
    assert!(
        error.contains(r"/file/\u{1b}[2J` cannot be created:"),
        "{error}"
    );
}

#[test]
fn a_file_of_another_program_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("sessions.sqlite"), "a".repeat(5_000)).expect("a file");
    let error = refusal(folder.path());
    assert_eq!(
        error,
        "the file isn't a database of sessions; choose another folder"
    );

    let folder = tempfile::tempdir().expect("a folder");
    database(folder.path())
        .execute_batch("CREATE TABLE a (b)")
        .expect("a table");
    let error = refusal(folder.path());
    assert_eq!(
        error,
        "the database isn't one of sessions; choose another folder"
    );
}

#[tokio::test]
async fn a_newer_version_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    record(&client(folder.path()).await, "a")
        .await
        .expect("a thought");
    database(folder.path())
        .execute_batch("PRAGMA user_version = 7")
        .expect("a version");

    let error = refusal(folder.path());
    let expected = "the database of sessions has version 7; this program reads version 2";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn a_full_database_is_an_error_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = ServerLimits {
        database_bytes: 100_000,
        ..ServerLimits::default()
    };
    let client = connect(server(folder.path()).with_limits(limits)).await;

    let mut count = 0;
    let error = loop {
        match record(&client, "a").await {
            Ok(number) => count = number,
            Err(error) => break error,
        }
    };
    let expected = "the database of sessions is full, or its disk is; remove old sessions";
    assert_eq!(error, expected);

    let client = super::support::client(folder.path()).await;
    assert_eq!(record(&client, "a").await, Ok(count + 1));
}

#[tokio::test]
async fn sessions_in_memory_are_limited_as_well_and_end_with_the_server() {
    let limits = ServerLimits {
        database_bytes: 100_000,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;

    let error = loop {
        if let Err(error) = record(&client, "a").await {
            break error;
        }
    };
    assert!(error.contains("is full"), "{error}");

    let client = connect(Server::builder()).await;
    assert_eq!(record(&client, "a").await, Ok(1));
}
