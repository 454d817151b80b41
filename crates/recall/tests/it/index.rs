//! Folders of texts: what is read, how it is divided, and what is embedded again.

use std::fs;
use std::path::Path;

use cogwork_llm::embedding::HashedNgrams;
use cogwork_recall::{IndexReport, Indexer, Passage, Query, RecallError, VectorMemory};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::{Colours, colours, found, open, place};

fn write(folder: &TempDir, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

async fn index(memory: &VectorMemory, folder: &TempDir) -> IndexReport {
    Indexer::new(memory).index(folder.path()).await.unwrap()
}

#[tokio::test]
async fn texts_in_all_folders_are_found_with_their_sources() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.md", "red apples\n");
    write(&folder, "deep/er/b.TXT", "\n\ngreen leaves\n");
    write(&folder, "code.rs", "red code");
    write(&folder, ".hidden/c.md", "red secrets");
    write(&folder, ".d.md", "red secrets");

    let memory = colours();
    let report = index(&memory, &folder).await;
    assert_eq!(
        report.to_string(),
        "2 files: 2 indexed (2 passages), 0 unchanged, 0 skipped; 0 removed"
    );
    assert_eq!(memory.sources().await.unwrap(), ["a.md", "deep/er/b.TXT"]);

    let query = Query::new("green").with_limit(1);
    let recalled = memory.recall(&query).await.unwrap();
    assert_eq!(
        (recalled[0].text.as_str(), recalled[0].line),
        ("green leaves", 3)
    );
}

#[tokio::test]
async fn only_changes_are_embedded_again() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.md", "red apples");
    write(&folder, "b.md", "green leaves");
    write(&folder, "c.md", "cyan sky");
    let (_place, path) = place();
    let memory = open(&path).await.unwrap();
    memory.insert([Passage::new("orange note")]).await.unwrap();
    index(&memory, &folder).await;
    drop(memory);

    write(&folder, "b.md", "yellow leaves");
    fs::remove_file(folder.path().join("c.md")).unwrap();
    let embedder = Colours::default();
    let memory = VectorMemory::open(&path, embedder.clone()).await.unwrap();
    let report = index(&memory, &folder).await;

    assert_eq!(
        report.to_string(),
        "2 files: 1 indexed (1 passage), 1 unchanged, 0 skipped; 1 removed"
    );
    assert_eq!(embedder.seen(), ["yellow leaves"]);
    assert_eq!(memory.sources().await.unwrap(), ["a.md", "b.md"]);

    // Only indexed sources are removed.
    let all = ["orange note", "yellow leaves", "red apples"];
    assert_eq!(found(&memory, "orange").await, all);

    // Passages of another size are other passages.
    let indexer = Indexer::new(&memory).with_passage_bytes(500);
    let report = indexer.index(folder.path()).await.unwrap();
    assert_eq!(report.indexed, 2);
}

#[tokio::test]
async fn folders_with_prefixes_share_a_memory() {
    let first = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    write(&first, "a.md", "red");
    write(&second, "a.md", "green");

    let memory = colours();
    for (prefix, folder) in [("first/", &first), ("second/", &second)] {
        let indexer = Indexer::new(&memory).with_prefix(prefix);
        let report = indexer.index(folder.path()).await.unwrap();
        assert_eq!(report.removed, 0);
    }

    let sources = ["first/a.md", "second/a.md"];
    assert_eq!(memory.sources().await.unwrap(), sources);
}

#[tokio::test]
async fn unreadable_files_are_reported_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "binary.md", "red");
    write(&folder, "large.md", "red");
    write(&folder, "empty.md", "\n \n");
    let memory = colours();
    index(&memory, &folder).await;

    write(&folder, "binary.md", b"red\n\xff\xfe");
    write(&folder, "large.md", "red ".repeat(1 << 18) + "red");
    let report = index(&memory, &folder).await;
    let skipped = report.skipped.iter();
    let skipped: Vec<_> = skipped
        .map(|file| format!("{}: {}", file.source, file.reason))
        .collect();
    let expected = [
        "binary.md: the file is not UTF-8 in line 2; expected text",
        "large.md: the file has more than 1048576 bytes; expected fewer",
    ];
    assert_eq!(skipped, expected);
    assert_eq!(report.unchanged, 1);
    assert_eq!(memory.count().await.unwrap(), 0);
}

#[tokio::test]
async fn folders_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..4 {
        write(&folder, &format!("{number}.md"), "red");
    }
    let memory = colours();

    let small = memory.with_max_passages(2);
    let error = Indexer::new(&small).index(folder.path()).await.unwrap_err();
    assert!(matches!(error, RecallError::Full { .. }), "{error}");
    assert_eq!(small.count().await.unwrap(), 2);

    let missing = folder.path().join("missing");
    let error = Indexer::new(&small).index(missing).await.unwrap_err();
    assert!(matches!(error, RecallError::File { .. }), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    write(&other, "secret.md", "red secrets");
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
    };
    link(&other.path().join("secret.md"), "link.md");
    link(other.path(), "folder");
    link(folder.path(), "loop");

    let memory = colours();
    index(&memory, &folder).await;
    assert_eq!(memory.count().await.unwrap(), 0);
}

/// The passages of a text, in order.
async fn passages(text: &str, bytes: usize) -> Vec<(u32, String)> {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.md", text);
    let memory = VectorMemory::in_memory(HashedNgrams::new()).unwrap();
    let indexer = Indexer::new(&memory).with_passage_bytes(bytes);
    indexer.index(folder.path()).await.unwrap();

    // A query without letters is equally similar to all, and equals are in order.
    let query = Query::new("-").with_limit(usize::MAX);
    let recalled = memory.recall(&query).await.unwrap();
    let passages = recalled.into_iter();
    passages
        .map(|passage| (passage.line, passage.text))
        .collect()
}

#[tokio::test]
async fn passages_are_paragraphs_within_a_size() {
    let text =
        "# Tea\n\nTea is free.\nSo is water.\n\n\nCoffee costs one\n\n# Desk hours\n\nFrom nine.\n";
    let paragraphs = [
        (1, "# Tea\n\nTea is free.\nSo is water."),
        (7, "Coffee costs one"),
        (9, "# Desk hours\n\nFrom nine."),
    ];
    let words = "one two\nthree four five abcdefghijklmnopqrstuvwxyz";
    let pieces = [
        (1, "one two\nthree"),
        (2, "four five"),
        (2, "abcdefghijklmnop"),
        (2, "qrstuvwxyz"),
    ];
    for (text, bytes, expected) in [(text, 40, &paragraphs[..]), (words, 16, &pieces)] {
        let expected = expected
            .iter()
            .map(|(line, text)| (*line, (*text).to_owned()));
        assert_eq!(passages(text, bytes).await, expected.collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn passages_contain_every_word_within_their_size(
        text in "([a-zäß漢]{1,12}|#|\u{2003}| |\n|\n\n|\r\n){0,60}",
        bytes in 0_usize..60,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let passages = runtime.block_on(passages(&text, bytes));

        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let all: String = passages.iter().map(|(_, text)| text.as_str()).collect();
        prop_assert_eq!(squeezed(&all), squeezed(&text));

        let lines: Vec<_> = text.lines().collect();
        for (line, passage) in passages {
            prop_assert!(passage.len() <= bytes.max(16), "{:?}", passage);
            prop_assert!(!passage.trim().is_empty());

            let first = passage.split_whitespace().next().unwrap();
            let line = lines[line as usize - 1];
            prop_assert!(squeezed(line).contains(first), "{:?} in {:?}", first, line);
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_are_not_utf8_are_skipped_with_a_reason() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    for name in [&b"a\xff.md"[..], b"a\xfe.md", b"b.md"] {
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), "red apples").unwrap();
    }

    let memory = colours();
    let report = index(&memory, &folder).await;
    assert_eq!(memory.sources().await.unwrap(), ["b.md"]);

    let reasons: Vec<_> = report.skipped.iter().map(|file| &*file.reason).collect();
    assert_eq!(reasons, ["its name is not UTF-8"; 2]);
}
