//! A power cut: of the lines that were being written, some blocks are on the disk and others are
//! not.

use std::ops::Range;
use std::sync::Arc;

use cogwork_flow::{Action, Batch, Flow, Node, from_phases};
use cogwork_journal::{RunStatus, StoreError, StoreErrorKind};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use crate::each::FileStore;
use crate::work::is_long;

/// What a disk writes as a whole.
const BLOCK: usize = 512;

/// Keeps the one thread that writes busy until everything else has come as far as it can.
async fn hold_up_writing() {
    let (busy, held) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = tokio::sync::oneshot::channel();
    tokio::task::spawn_blocking(move || {
        begin.send(()).unwrap();
        held.recv()
    });
    begun.await.unwrap();
    tokio::spawn(async move {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        drop(busy);
    });
}

/// A step, and then many items at once, whose lines come to the disk together.
fn flow() -> Flow<Vec<String>> {
    let held_up = Arc::new(OnceCell::new());
    let text = || {
        let held_up = Arc::clone(&held_up);
        from_phases(
            |item: &mut String| item.clone(),
            move |item| {
                let held_up = Arc::clone(&held_up);
                async move {
                    if item.ends_with('x') {
                        held_up.get_or_init(hold_up_writing).await;
                    }

                    let length = 2 + 37 * item.len() % 20;
                    Ok::<_, std::io::Error>(format!("{item} ").repeat(length))
                }
            },
            |item, text| *item = text.len().to_string(),
        )
    };

    let items = Batch::at_most(
        40,
        text(),
        |all: &Vec<String>| {
            (1..=40)
                .map(|n| format!("{} {}", all[0], "x".repeat(n)))
                .collect::<Vec<_>>()
        },
        |all, done| *all = done,
    );

    Flow::builder("power")
        .start("one")
        .node("one", text().focus(|all: &mut Vec<String>| &mut all[0]))
        .batch("many", items)
        .edge("one", Action::DEFAULT, "many")
        .end("many", Action::DEFAULT)
        .build()
        .unwrap()
}

struct Disk {
    runtime: Runtime,
    _folder: tempfile::TempDir,
    store: FileStore,
    flow: Flow<Vec<String>>,
    /// The file before the end of the run was written to it.
    bytes: Vec<u8>,
    end: Vec<String>,
    /// The lines that were written last, in one go.
    last: Range<usize>,
}

fn input() -> Vec<String> {
    vec!["begin".to_owned()]
}

impl Disk {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let flow = flow();
        let store = FileStore::new(folder.path());
        let mut end = input();

        runtime.block_on(async {
            let journal = store.start("a", &flow, &input()).await.unwrap();
            flow.begin()
                .with_journal(journal)
                .finish(&mut end)
                .await
                .unwrap();
        });

        let mut bytes = std::fs::read(store.path("a")).unwrap();
        let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let ended = lines.last().unwrap().len();
        let together = lines.iter().rev().skip(1);
        let together = together.take_while(|line| line.get(8) == Some(&b'+'));
        let joined = together.count();

        assert_eq!(joined, 39, "all items were written together");
        let last: usize = lines
            .iter()
            .rev()
            .skip(1)
            .take(joined + 1)
            .map(|line| line.len())
            .sum();

        bytes.truncate(bytes.len() - ended);
        let last = bytes.len() - last..bytes.len();
        Self {
            runtime,
            _folder: folder,
            store,
            flow,
            bytes,
            end,
            last,
        }
    }

    /// Takes the run up from these bytes; answers how long what was kept of them is.
    fn goes_on_from(&self, bytes: &[u8]) -> Result<usize, StoreError> {
        let path = self.store.path("a");
        std::fs::write(&path, bytes).unwrap();
        self.runtime.block_on(async {
            let listed = self.store.runs().await.unwrap().remove(0).status;
            let taken = self.store.resume("a", &self.flow).await;
            assert_eq!(
                taken.is_err(),
                matches!(listed, RunStatus::Damaged { .. }),
                "{listed:?}"
            );

            if taken.is_err() {
                assert!(
                    std::fs::read(&path).unwrap() == bytes,
                    "it is left as it is"
                );
            }

            let journal = taken?;
            let entries = self.store.entries("a", 0..u64::MAX).await?.len();
            let lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
            let kept = lines.take(entries + 1).map(<[u8]>::len).sum();
            let mut state: Vec<String> = journal.state()?;

            self.flow
                .begin()
                .with_journal(journal)
                .finish(&mut state)
                .await
                .unwrap();

            assert_eq!(state, self.end);

            // The file is one that can be read again.
            self.store.resume("a", &self.flow).await?;
            Ok(kept)
        })
    }

    /// The file without some blocks, in so far as they are in the range.
    fn without(&self, range: &Range<usize>, is_lost: impl FnMut(&usize) -> bool) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for block in (range.start / BLOCK..=range.end / BLOCK).filter(is_lost) {
            let from = range.start.max(block * BLOCK);
            let to = range.end.min((block + 1) * BLOCK);
            if from < to {
                bytes[from..to].fill(0);
            }
        }

        bytes
    }
}

#[test]
fn whatever_is_lost_of_the_lines_that_were_written_last_the_run_goes_on_from_those_before() {
    let disk = Disk::new();
    let blocks = disk.last.start / BLOCK..disk.last.end.div_ceil(BLOCK);
    assert!(blocks.len() > 10, "{blocks:?}");

    for lost in blocks.clone() {
        let kept = disk
            .goes_on_from(&disk.without(&disk.last, |block| *block == lost))
            .unwrap();
        assert!(
            kept >= disk.last.start && kept < (lost + 1) * BLOCK,
            "block {lost}: {kept}"
        );
    }

    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    for round in 0..if is_long() { 200 } else { 20 } {
        let share = random.random_range(1..10);
        let mut bytes = disk.without(&disk.last, |_| random.random_range(0..10) < share);
        if round % 3 == 0 {
            // The length may be known to the disk later than the blocks are.
            bytes.truncate(random.random_range(disk.last.start..=disk.last.end));
        }

        assert!(disk.goes_on_from(&bytes).unwrap() >= disk.last.start);
    }
}

/// What was on the disk before cannot be lost by a power cut: that it is, somebody should know.
#[test]
fn a_block_that_is_lost_of_earlier_lines_is_damage() {
    let disk = Disk::new();
    let earlier = 0..disk.last.start;
    for lost in 0..earlier.end / BLOCK {
        let error = disk
            .goes_on_from(&disk.without(&earlier, |block| *block == lost))
            .unwrap_err();
        assert!(
            error.kind() == StoreErrorKind::Damaged,
            "block {lost}: {error}"
        );
    }

    let both = disk.without(&(0..disk.last.end), |block| {
        *block == 0 || *block > disk.last.start / BLOCK
    });
    assert_eq!(
        disk.goes_on_from(&both).unwrap_err().kind(),
        StoreErrorKind::Damaged
    );
}
