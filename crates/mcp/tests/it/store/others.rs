//! Sessions that are damaged, or of another kind.

use super::support::{client, database, record};

#[tokio::test]
async fn a_damaged_entry_is_named_and_other_sessions_remain_usable() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = client(folder.path()).await;
    for _ in 0..3 {
        record(&first, "a").await.expect("a thought");
    }
    record(&first, "b").await.expect("a thought");
    let damage = "UPDATE entries SET body = '{' || char(27) WHERE number = 2";
    database(folder.path())
        .execute(damage, [])
        .expect("damaged");

    let second = client(folder.path()).await;
    let error = record(&second, "a").await.expect_err("an error");
    assert!(error.starts_with("entry 2 of the session `a`: "), "{error}");
    crate::shown::hostile::assert_safe_line(&error);
    assert_eq!(record(&second, "b").await, Ok(2));

    assert_eq!(record(&first, "a").await, Err(error));
}

#[tokio::test]
async fn a_session_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    record(&client(folder.path()).await, "a")
        .await
        .expect("a thought");
    database(folder.path())
        .execute("UPDATE sessions SET kind = 'think'", [])
        .expect("another kind");

    let error = record(&client(folder.path()).await, "a")
        .await
        .expect_err("an error");
    assert_eq!(error, "the session `a` is of another kind: `think`");
}

#[tokio::test]
async fn a_session_that_another_process_removed_starts_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let client = client(folder.path()).await;
    for _ in 0..3 {
        record(&client, "a").await.expect("a thought");
    }

    let other = database(folder.path());
    other
        .execute_batch("PRAGMA foreign_keys = ON; DELETE FROM sessions")
        .expect("removed");
    assert_eq!(record(&client, "a").await, Ok(1));
    assert_eq!(record(&client, "a").await, Ok(2));
}
