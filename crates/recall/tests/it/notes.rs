//! Notes, searched by words.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use cogwork_recall::{Notes, Passage};
use cogwork_thinking::memory::{Found, Memory};
use tempfile::TempDir;

use crate::support::{found, open, place};

/// How often a process is killed in the middle of its work.
const KILLS: usize = 10;
/// What the tests tell the processes they start.
const FOLDER: &str = "NOTES_TEST_FOLDER";

async fn filled() -> Notes {
    let notes = Notes::in_memory().unwrap();
    let cat = "The cat sleeps on the mat.";
    for text in [
        cat,
        "The dog sleeps.",
        "Rain falls on the roof.",
        "雨が屋根に降る",
    ] {
        notes.add(text).await.unwrap();
    }
    notes
}

async fn texts(notes: &Notes, query: &str, top_k: usize, threshold: f32) -> Vec<String> {
    let found = notes.search(query, top_k, threshold).await.unwrap();
    found.iter().map(|found| found.text().to_owned()).collect()
}

#[tokio::test]
async fn words_find_notes_and_rare_words_count_more() {
    let notes = filled().await;
    let cases = [
        ("Does the DOG sleep?", "The dog sleeps."),
        ("the roof", "Rain falls on the roof."),
        ("屋根", "雨が屋根に降る"),
    ];
    for (query, text) in cases {
        assert_eq!(texts(&notes, query, 1, 0.0).await, [text]);
    }

    // The newer one first, and nothing for words that no note has.
    let newest = ["Rain falls on the roof.", "The dog sleeps."];
    assert_eq!(texts(&notes, "the", 2, 0.0).await, newest);
    for query in ["submarine", "", "\" OR *", "NOT NEAR(cat dog)^"] {
        let found = texts(&notes, query, 9, 0.9).await;
        assert!(found.is_empty(), "{query}: {found:?}");
    }

    let cat = [Found::new("The cat sleeps on the mat.", 1.0)];
    assert_eq!(notes.search("cat mat", 9, 0.5).await.unwrap(), cat);
    assert_eq!(texts(&notes, "the cat", 9, f32::NAN).await, [""; 0]);
}

#[tokio::test]
async fn the_oldest_are_forgotten_and_long_ones_are_refused() {
    let notes = Notes::in_memory().unwrap();
    notes.add("note 1").await.unwrap();
    let error = notes.add(&"x".repeat(16_385)).await.unwrap_err();
    let expected = "the text to remember has 16385 bytes; expected at most 16384";
    assert_eq!(error.to_string(), expected);

    // Together as long as all notes may be.
    for _ in 0..1_024 {
        notes.add(&"x".repeat(16_384)).await.unwrap();
    }
    assert_eq!(texts(&notes, "note", 9, 0.0).await, [""; 0]);
}

#[tokio::test]
async fn one_file_has_notes_and_passages_and_several_may_use_it() {
    let (_folder, path) = place();

    let notes = Notes::open(&path).await.unwrap();
    let vectors = open(&path).await.unwrap();
    notes.add("red is a word").await.unwrap();
    vectors.insert([Passage::new("red apples")]).await.unwrap();
    let other = Notes::open(&path).await.unwrap();
    other.add("a word more").await.unwrap();

    assert_eq!(found(&vectors, "red").await, ["red apples"]);
    let expected = ["red is a word", "a word more"];
    assert_eq!(texts(&notes, "red word", 9, 0.0).await, expected);
    assert_eq!(vectors.count().await.unwrap(), 1);
}

#[tokio::test]
async fn lines_of_json_are_imported_and_an_error_names_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.jsonl");
    let notes = Notes::in_memory().unwrap();

    fs::write(&path, "{\"text\":\"one\"}\n{\"text\":\"two\"}\n").unwrap();
    assert_eq!(notes.import(&path).await.unwrap(), 2);
    assert_eq!(texts(&notes, "one two", 9, 0.0).await, ["two", "one"]);

    fs::write(&path, "{\"text\":\"one\"}\nbuy milk\n").unwrap();
    let error = notes.import(&path).await.unwrap_err().to_string();
    let expected = format!(
        "{}: this is not a note: expected value at line 2 column 1; expected lines such as {{\"text\": \"…\"}}",
        path.display()
    );
    assert_eq!(error, expected);
}

/// A process that adds notes until it is killed, and writes down each one that was added.
fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "notes::child"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// No test, but what the processes run that the tests start.
#[tokio::test]
async fn child() {
    use std::io::Write;

    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let notes = Notes::open(folder.join("notes.db")).await.unwrap();
    let ledger = folder.join("ledger");
    let mut ledger = fs::OpenOptions::new().append(true).open(ledger).unwrap();

    for number in 0.. {
        let note = format!("note {}x{number}", std::process::id());
        notes.add(&note).await.unwrap();
        ledger.write_all(format!("{note}\n").as_bytes()).unwrap();
    }
}

fn ledger(folder: &TempDir) -> Vec<String> {
    let ledger = fs::read_to_string(folder.path().join("ledger")).unwrap();
    ledger.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn nothing_is_lost_when_processes_that_share_a_file_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ledger"), "").unwrap();

    for kill in 0..KILLS {
        let mut children = [start(folder.path()), start(folder.path())];
        let before = ledger(&folder).len();
        while ledger(&folder).len() < before + 2 + kill {
            std::thread::yield_now();
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    let notes = Notes::open(folder.path().join("notes.db")).await.unwrap();
    let all = notes.search("note", 10_000, 0.0).await.unwrap();
    for note in ledger(&folder) {
        let is_there = all.iter().any(|found| found.text() == note);
        assert!(is_there, "{note} is lost");
    }
}
