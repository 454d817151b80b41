use cogwork_journal::{FileStore, Store};

use crate::work::{Calls, Work, counted, flow, greeting};

/// A file as people read it, without what differs each time.
fn read(store: &FileStore, run_id: &str) -> String {
    let text = std::fs::read_to_string(store.path(run_id)).unwrap();
    let lines = text.lines().map(|line| {
        let (line, checksum) = line.split_at(line.len() - 10);
        assert!(
            checksum
                .chars()
                .take(8)
                .all(|digit| digit.is_ascii_hexdigit())
        );

        let line = match line.split_once("\"started\":") {
            Some((before, after)) => {
                format!(
                    "{before}\"started\":…{}",
                    after.trim_start_matches(|c: char| c.is_ascii_digit())
                )
            }
            None => line.to_owned(),
        };

        let line = match line.split_once(",\"at\":") {
            Some((before, after)) => {
                let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{before},\"at\":…{after}")
            }
            None => line,
        };

        // Which lines are written in one go differs from time to time.
        let line = line.replace(",\"joined\":true", "");
        format!("{line}…\"}}")
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
