//! Sessions that are damaged, or of another kind.

use super::{change, client, record, record_all};

#[tokio::test]
async fn a_damaged_entry_is_named_and_other_sessions_remain_usable() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = record_all(folder.path(), 3).await;
    assert_eq!(record(&first, "b").await, Ok(1));
    let damage = "UPDATE entries SET body = '{' || char(27) WHERE number = 2";
    change(folder.path(), damage);

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
    record_all(folder.path(), 1).await;
    change(folder.path(), "UPDATE sessions SET kind = 'think'");

    let refused = record(&client(folder.path()).await, "a").await;
    let expected = "the session `a` is of another kind: `think`";
    assert_eq!(refused, Err(expected.to_owned()));
}

#[tokio::test]
async fn a_session_that_another_process_removed_starts_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let client = record_all(folder.path(), 3).await;
    let remove = "PRAGMA foreign_keys = ON; DELETE FROM sessions";
    change(folder.path(), remove);

    assert_eq!(record(&client, "a").await, Ok(1));
    assert_eq!(record(&client, "a").await, Ok(2));
}
