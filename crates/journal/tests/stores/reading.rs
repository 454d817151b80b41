use crate::each::FileStore;
use crate::work::{Calls, Work, counted, flow, greeting};

/// A file as people read it, without what differs each time.
fn read(store: &FileStore, run_id: &str) -> String {
    let text = std::fs::read_to_string(store.path(run_id)).unwrap();
    let lines = text.lines().map(|line| {
        let (checksum, line) = line.split_at(8);
        assert!(checksum.chars().all(|digit| digit.is_ascii_hexdigit()));

        // Which lines are written in one go differs from time to time.
        let json = line.strip_prefix([' ', '+']).unwrap();
        let (before, after) = json.split_once("\"started\":").unwrap_or(json.split_at(1));
        let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
        format!("… {before}…{after}")
    });

    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_file_can_be_read_by_people() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("order-17", &flow, &Work::of(2)).await.unwrap();

    flow.begin()
        .with_journal(journal)
        .finish(&mut Work::of(2))
        .await
        .unwrap();

    // Items side by side are recorded in the order in which they are done.
    let text = read(&store, "order-17");
    let mut lines: Vec<_> = text.lines().collect();
    lines[4..6].sort_unstable();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn the_file_of_a_run_that_waited_says_for_what() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = greeting();
    let journal = store
        .start("Ada's greeting", &flow, &"Hello, ")
        .await
        .unwrap();

    flow.begin()
        .with_journal(journal)
        .finish(&mut "Hello, ".to_owned())
        .await
        .unwrap_err();

    store.deliver("Ada's greeting", "name", &12).await.unwrap();
    let journal = store.resume("Ada's greeting", &flow).await.unwrap();
    flow.begin()
        .with_journal(journal)
        .finish(&mut "Hello, ".to_owned())
        .await
        .unwrap_err();

    store
        .deliver("Ada's greeting", "name", &"Ada\n")
        .await
        .unwrap();
    let journal = store.resume("Ada's greeting", &flow).await.unwrap();
    flow.begin()
        .with_journal(journal)
        .finish(&mut "Hello, ".to_owned())
        .await
        .unwrap();

    insta::assert_snapshot!(read(&store, "Ada's greeting"));
}
