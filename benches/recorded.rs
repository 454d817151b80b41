//! A flow whose steps are recorded, and the stores that record them.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_flow::engine::IntoJournal;
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_journal::Store;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::BoxError;

/// Returns a loop whose `exec` returns a text of so many bytes, which is not kept.
///
/// # Errors
///
/// Returns the error of a flow that cannot be built.
pub fn texts(bytes: usize) -> Result<Flow<u32>, BoxError> {
    let text: Arc<str> = "thought ".repeat(bytes / 8).into();
    let node = from_phases(
        |_: &mut u32| (),
        move |()| {
            let text = Arc::clone(&text);
            async move { Ok::<_, io::Error>(text) }
        },
        |left, _| {
            *left -= 1;
            Action::from_static(if *left == 0 { "stop" } else { "again" })
        },
    );

    let flow = Flow::builder("texts")
        .start("text")
        .node("text", node.with_actions(["again", "stop"]));
    Ok(flow
        .edge("text", "again", "text")
        .end("text", "stop")
        .build()?)
}

/// Takes so many steps of a flow made by [`texts`].
///
/// # Errors
///
/// Returns the error of the run, or an error if it took fewer steps.
pub async fn finish(
    flow: &Flow<u32>,
    journal: impl IntoJournal,
    steps: u32,
) -> Result<(), BoxError> {
    let ended = flow
        .begin()
        .with_max_steps(steps.into())
        .with_journal(journal)
        .finish(&mut { steps })
        .await?;

    if ended.steps == u64::from(steps) {
        Ok(())
    } else {
        Err("the run was short".into())
    }
}

/// Creates a store in a folder.
pub type Make = fn(&TempDir) -> Store;

/// Creates a store of files.
pub fn files(folder: &TempDir) -> Store {
    Store::files(folder.path())
}

/// Creates a store in a SQLite database.
pub fn database(folder: &TempDir) -> Store {
    Store::sqlite(folder.path().join("runs.db"))
}

/// Returns how long a future takes.
///
/// # Errors
///
/// Returns the error of the future.
pub fn run_timed(
    runtime: &Runtime,
    work: impl Future<Output = Result<(), BoxError>>,
) -> Result<Duration, BoxError> {
    let started = Instant::now();
    runtime.block_on(work)?;
    Ok(started.elapsed())
}
