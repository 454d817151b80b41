//! Folders and files.

use std::fs;
use std::path::Path;

use cogwork_mcp::{Server, ServerLimits};

use super::{change, client, record, record_all, server};
use crate::support::Client;

/// Returns the message of a server that cannot be opened.
fn refusal(folder: &Path) -> String {
    let refused = server(folder).open();
    refused.expect_err("an error").to_string()
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_can_read_the_sessions() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("a/b");
    let _client = record_all(&data, 1).await;

    for (name, expected) in [
        ("", 0o700),
        ("sessions.sqlite", 0o600),
        ("sessions.sqlite-wal", 0o600),
        ("sessions.sqlite-shm", 0o600),
    ] {
        let metadata = fs::metadata(data.join(name)).expect("metadata");
        assert_eq!(metadata.permissions().mode() & 0o777, expected, "{name}");
    }
}

#[tokio::test]
async fn what_is_no_database_of_sessions_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["text", "other", "newer"] {
        fs::create_dir(at(name)).expect("a folder");
    }
    fs::write(at("text/sessions.sqlite"), "a".repeat(5_000)).expect("a file");
    change(&at("other"), "CREATE TABLE a (b)");
    record_all(&at("newer"), 1).await;
    change(&at("newer"), "PRAGMA user_version = 7");

    let told = ["text", "other", "newer"].map(|name| refusal(&at(name)));
    insta::assert_snapshot!(told.join("\n"), @"
    the file isn't a database of sessions; choose another folder
    the database isn't one of sessions; choose another folder
    the database of sessions has version 7; this program reads version 2
    ");

    let error = refusal(&at("text/sessions.sqlite/\u{1b}[2J"));
    let expected = r"/sessions.sqlite/\u{1b}[2J` cannot be created:";
    assert!(error.contains(expected), "{error}");
}

#[tokio::test]
async fn a_full_database_is_an_error_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = ServerLimits {
        database_bytes: 100_000,
        ..ServerLimits::default()
    };
    let mut counts = Vec::new();
    for builder in [server(folder.path()), Server::builder()] {
        let client = Client::new(builder.with_limits(limits)).await;
        let mut count = 0;
        let error = loop {
            match record(&client, "a").await {
                Ok(number) => count = number,
                Err(error) => break error,
            }
        };
        counts.push(count);
        let expected = "the database of sessions is full, or its disk is; remove old sessions";
        assert_eq!(error, expected);
    }

    let on_disk = client(folder.path()).await;
    assert_eq!(record(&on_disk, "a").await, Ok(counts[0] + 1));

    // Sessions in memory end with their server.
    let in_memory = Client::new(Server::builder()).await;
    assert_eq!(record(&in_memory, "a").await, Ok(1));
}
