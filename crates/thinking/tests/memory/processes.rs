//! A memory file has one holder, shown with real processes that fight for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use cogwork_thinking::{FileMemory, Memory, MemoryError, MemoryLimits};

const PROCESSES: usize = 4;
/// How often each process gets the file.
const TURNS: usize = 6;
/// How many items a holder adds. Each makes the file be written anew.
const ADDS: usize = 20;
/// What the tests tell the processes they start.
const FOLDER: &str = "MEMORY_TEST_FOLDER";

fn limits() -> MemoryLimits {
    MemoryLimits::default().with_items(1)
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
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (marker, ledger) = (folder.join("held"), folder.join("ledger"));

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

/// No test, but what the processes run that the tests start.
#[test]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        hold(&PathBuf::from(folder));
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--nocapture"])
        .env(FOLDER, folder)
        .spawn()
        .unwrap()
}

/// Lets processes fight for a file, while `meddle` is repeated.
fn fight(meddle: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ledger"), "").unwrap();

    let mut children: Vec<_> = (0..PROCESSES).map(|_| start(folder.path())).collect();
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        meddle(folder.path());
    }
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));

    let ledger = fs::read_to_string(folder.path().join("ledger")).unwrap();
    assert_eq!(ledger.lines().count(), PROCESSES * TURNS * ADDS);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    check(&opened(&folder.path().join("notes.jsonl")), &runtime, &ledger);
}

#[test]
fn a_file_has_one_holder_while_it_is_written_anew() {
    fight(|folder| {
        let memory = FileMemory::open_with(folder.join("notes.jsonl"), limits());
        assert!(matches!(memory, Ok(_) | Err(MemoryError::InUse { .. })), "{memory:?}");
    });
}

#[cfg(unix)]
#[test]
fn a_file_has_one_holder_though_its_lock_file_is_removed() {
    fight(|folder| {
        let _ = fs::remove_file(folder.join("notes.jsonl.lock"));
    });
}
