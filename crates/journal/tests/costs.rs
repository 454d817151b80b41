//! What a recorded step costs on one machine: calls to write and bytes, printed and limited. They are
//! counted for the whole process, with those that wake another thread, so nothing else may run in it:
//! there is one test.
//!
//! ```console
//! $ cargo test -p cogwork-journal --features sqlite --test costs -- --nocapture
//! ```

#![cfg(all(target_os = "linux", feature = "sqlite"))]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::io;
use std::sync::Arc;

use cogwork_flow::journal::{Journal, MemoryJournal};
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_journal::{FileStore, SqliteStore, Store};

const STEPS: u32 = 200;
const BYTES: usize = 2_048;

/// What the process has written so far, to whatever file.
#[derive(Clone, Copy)]
struct Written {
    calls: f64,
    bytes: f64,
}

impl Written {
    fn now() -> Self {
        let counts = std::fs::read_to_string("/proc/self/io").unwrap();
        let count = |name: &str| {
            let line = counts.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap().parse().unwrap()
        };

        Self {
            calls: count("syscw: "),
            bytes: count("wchar: "),
        }
    }

    /// Returns what was written for each step since then.
    fn per_step(self) -> Self {
        let now = Self::now();
        Self {
            calls: (now.calls - self.calls) / f64::from(STEPS),
            bytes: (now.bytes - self.bytes) / f64::from(STEPS),
        }
    }
}

/// A loop whose `exec` returns a text.
fn flow() -> Flow<u32> {
    let text: Arc<str> = "thought ".repeat(BYTES / 8).into();
    let node = from_phases(
        |_: &mut u32| (),
        move |()| {
            let text = Arc::clone(&text);
            async move { Ok::<_, io::Error>(text) }
        },
        |left: &mut u32, (), _: Arc<str>| {
            *left -= 1;
            Action::from_static(if *left == 0 { "stop" } else { "again" })
        },
    );

    Flow::builder("texts")
        .start("text")
        .node("text", node.with_actions(["again", "stop"]))
        .edge("text", "again", "text")
        .end("text", "stop")
        .build()
        .unwrap()
}

/// Returns what one step of a run writes. The start and the end aren't counted.
async fn steps(flow: &Flow<u32>, journal: impl Journal) -> Written {
    let mut left = STEPS + 2;
    let mut run = flow.begin().with_journal(journal);
    run.step(&mut left).await.unwrap();

    let before = Written::now();
    for _ in 0..STEPS {
        run.step(&mut left).await.unwrap();
    }
    before.per_step()
}

async fn stored(flow: &Flow<u32>, store: &impl Store) -> Written {
    let journal = store.start("a", flow, &(STEPS + 2)).await.unwrap();
    steps(flow, journal).await
}

#[tokio::test(flavor = "current_thread")]
async fn a_step_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let flow = flow();
    let memory = steps(&flow, MemoryJournal::new("a")).await;
    let file = stored(&flow, &FileStore::new(folder.path())).await;
    let database = SqliteStore::new(folder.path().join("runs.db"));
    let sqlite = stored(&flow, &database).await;

    println!("writes for each step with an outcome of {BYTES} bytes");
    for (name, written) in [("memory", memory), ("file", file), ("SQLite", sqlite)] {
        let Written { calls, bytes } = written;
        println!("{name:<8} {calls:>5.1} calls, {bytes:>6.0} bytes");
    }

    let outcome = f64::from(u32::try_from(BYTES).unwrap());
    assert!(memory.bytes < 1.0);
    assert!(file.calls < 4.0 && file.bytes < 1.2 * outcome);
    assert!(sqlite.bytes < 20.0 * outcome);
}
