//! A memory file keeps what was added, shown with real processes that are killed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use cogwork_thinking::{FileMemory, Memory, MemoryError, MemoryLimits};

/// How often a process is killed in the middle of its work.
const KILLS: usize = 25;
/// What the tests tell the processes they start.
const FOLDER: &str = "MEMORY_TEST_FOLDER";

fn limits() -> MemoryLimits {
    MemoryLimits {
        items: 1,
        ..MemoryLimits::default()
    }
}

/// Opens the file as soon as nobody else has it.
fn opened(path: &Path) -> FileMemory {
    loop {
        match FileMemory::open_with(path, limits()) {
            Err(MemoryError::InUse { .. }) => {}
            opened => return opened.unwrap(),
        }
    }
}

/// Adds items until it is killed, and writes down each one that was added.
fn add(folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let memory = opened(&folder.join("notes.jsonl"));
    let mut ledger = fs::OpenOptions::new()
        .append(true)
        .open(folder.join("ledger"))
        .unwrap();

    let first = fs::read_to_string(folder.join("ledger"))
        .unwrap()
        .lines()
        .count();
    for number in first.. {
        let item = format!("item {number}");
        runtime.block_on(memory.add(&item)).unwrap();
        ledger.write_all(format!("{item}\n").as_bytes()).unwrap();
    }
}

/// No test, but what the processes run that the tests start.
#[test]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        add(Path::new(&folder));
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::processes::child", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn what_was_added_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger");
    let written = || fs::read_to_string(&ledger).unwrap().lines().count();
    fs::write(&ledger, "").unwrap();

    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();

    for kill in 0..KILLS {
        let before = written();
        let mut child = start(folder.path());

        // At another place of its work each time.
        while written() <= before + kill {
            assert!(child.try_wait().unwrap().is_none());
        }

        child.kill().unwrap();
        child.wait().unwrap();

        let memory = opened(&folder.path().join("notes.jsonl"));
        let found = runtime.block_on(memory.search("item", 9, 0.0)).unwrap();
        let last = written();

        // It may have been killed between adding and writing down.
        let kept = [format!("item {}", last - 1), format!("item {last}")];
        assert!(
            kept.iter().any(|item| found[0].text() == item),
            "{found:?} of {last}"
        );
        drop(memory);

        let names = fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name());
        assert!(
            names
                .into_iter()
                .all(|name| !name.to_string_lossy().ends_with(".new")),
            "it was cleared away"
        );
    }
}
