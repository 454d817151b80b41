//! Other programs that use the database at the same time.

use super::{change, client, record, record_all, server};

#[tokio::test]
async fn a_locked_database_is_an_error_and_nothing_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = record_all(folder.path(), 1).await;

    let other = change(folder.path(), "BEGIN IMMEDIATE");
    let locked = "the database of sessions is locked by another process; try again";
    assert_eq!(record(&first, "a").await, Err(locked.to_owned()));

    // A server starts nevertheless.
    let second = client(folder.path()).await;
    other.execute_batch("ROLLBACK").expect("no lock");
    assert_eq!(record(&first, "a").await, Ok(2));
    assert_eq!(record(&second, "b").await, Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_use_a_session_at_the_same_time_lose_nothing() {
    const SERVERS: u64 = 4;
    const THOUGHTS: u64 = 25;

    let folder = tempfile::tempdir().expect("a folder");
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..SERVERS {
        let path = folder.path().to_owned();
        tasks.spawn(async move {
            let client = client(&path).await;
            let mut counts = Vec::new();
            for _ in 0..THOUGHTS {
                counts.push(record(&client, "a").await.expect("a thought"));
            }
            counts
        });
    }

    let mut counts = tasks.join_all().await.concat();
    counts.sort_unstable();
    let expected: Vec<u64> = (1..=SERVERS * THOUGHTS).collect();
    assert_eq!(counts, expected);
}

#[test]
fn many_servers_can_start_at_once_with_a_new_folder() {
    let folder = tempfile::tempdir().expect("a folder");

    std::thread::scope(|scope| {
        let servers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| server(folder.path()).open()))
            .collect();
        for server in servers {
            server.join().expect("no panic").expect("a server");
        }
    });
}
