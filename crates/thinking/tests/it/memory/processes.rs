//! A memory file has one holder and keeps what was added, shown with real processes that fight for it and are
//! killed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cogwork_thinking::{FileMemory, Memory, MemoryError, MemoryLimits};

const PROCESSES: usize = 4;
/// How often each process gets the file.
const TURNS: usize = 6;
/// How many items a holder adds. Each makes the file be written anew.
const ADDS: usize = 20;
/// How often a process is killed in the middle of its work.
const KILLS: usize = 25;
/// What the tests tell the processes they start.
const FOLDER: &str = "MEMORY_TEST_FOLDER";
const WORK: &str = "MEMORY_TEST_WORK";

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

/// What the file must hold by what its holders have written down: the last item of the ledger.
fn check(memory: &FileMemory, runtime: &tokio::runtime::Runtime, ledger: &str) {
    let found = runtime.block_on(memory.search("item", 9, 0.0)).unwrap();
    let kept: Vec<_> = found.iter().map(|found| found.text()).collect();
    let expected: Vec<_> = ledger.lines().last().into_iter().collect();
    assert_eq!(kept, expected);
}

fn hold(folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let marker = folder.join("held");
    let ledger = folder.join("ledger");

    for turn in 0..TURNS {
        let memory = opened(&folder.join("notes.jsonl"));
        fs::File::create_new(&marker).expect("there is another holder");

        let mut added = fs::read_to_string(&ledger).unwrap();
        check(&memory, &runtime, &added);
        for number in 0..ADDS {
            let item = format!("item {} {turn} {number}", std::process::id());
            runtime.block_on(memory.add(&item)).unwrap();
            added.push_str(&item);
            added.push('\n');
        }

        fs::write(&ledger, added).unwrap();

        fs::remove_file(&marker).unwrap();
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
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };

    match std::env::var(WORK).unwrap().as_str() {
        "hold" => hold(&folder),
        "add" => add(&folder),
        other => panic!("unknown work {other}"),
    }
}

fn start(work: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::processes::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(WORK, work)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets processes fight for a file, while `meddle` is repeated.
fn fight(meddle: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ledger"), "").unwrap();

    let mut children: Vec<_> = (0..PROCESSES)
        .map(|_| start("hold", folder.path()))
        .collect();
    while children
        .iter_mut()
        .any(|child| child.try_wait().unwrap().is_none())
    {
        meddle(folder.path());
    }

    assert!(
        children
            .iter_mut()
            .all(|child| child.wait().unwrap().success())
    );

    let ledger = fs::read_to_string(folder.path().join("ledger")).unwrap();
    assert_eq!(ledger.lines().count(), PROCESSES * TURNS * ADDS);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    check(
        &opened(&folder.path().join("notes.jsonl")),
        &runtime,
        &ledger,
    );
}

#[test]
fn a_file_has_one_holder_while_it_is_written_anew() {
    fight(|folder| {
        let memory = FileMemory::open_with(folder.join("notes.jsonl"), limits());
        assert!(
            matches!(memory, Ok(_) | Err(MemoryError::InUse { .. })),
            "{memory:?}"
        );
    });
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
        let mut child = start("add", folder.path());

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
