//! The cases for all stores.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::journal::MemoryJournal;
use cogwork_journal::conformance::{
    Ability, Attempt, CaseResult, ListedRun, MemoryEngine, Open, Opened, Refusal, State,
    TestedStore, check_engine, check_store, check_store_case,
};
use cogwork_journal::{Fork, RunJournal, Store, StoreError};
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::each::{FileStore, Tested, for_each_store};

for_each_store! {
    every_promise_is_kept,
}

async fn every_promise_is_kept<S: Conforming>() {
    let report = check_store(Subject::<S>::new).await;
    println!("{report}");
    assert!(report.failed().is_empty(), "{report}");
}

#[tokio::test]
async fn every_promise_is_kept_in_memory() {
    let report = check_engine(MemoryEngine::new).await;
    assert!(report.failed().is_empty(), "{report}");
}

/// What the suite needs to do to a store.
#[async_trait]
pub(crate) trait Conforming: Tested {
    /// The reason why the store lacks an ability that others have.
    fn lacks(ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::Fences => Some("the lock on a file lasts as long as its process"),
            _ => None,
        }
    }

    async fn expire_lease(&self, _run_id: &str) -> Result<(), BoxError> {
        Err("there are no leases".into())
    }
}

impl Conforming for FileStore {}

#[cfg(feature = "sqlite")]
impl Conforming for crate::each::SqliteStore {}

#[cfg(feature = "postgres")]
#[async_trait]
impl Conforming for cogwork_journal::PostgresStore {
    fn lacks(_: Ability) -> Option<&'static str> {
        None
    }

    async fn expire_lease(&self, run_id: &str) -> Result<(), BoxError> {
        let sql = format!(
            "UPDATE runs SET wake = clock_timestamp() - interval '1 s' WHERE id = '{run_id}'"
        );
        crate::server::tamper(self, &sql);
        Ok(())
    }
}

/// A store in a folder of its own.
pub(crate) struct Subject<S> {
    store: S,
    folder: Arc<TempDir>,
}

impl<S: Conforming> Subject<S> {
    pub(crate) fn new() -> Self {
        Self::within(Arc::new(tempfile::tempdir().unwrap()))
    }

    fn within(folder: Arc<TempDir>) -> Self {
        let store = S::within(&runs(&folder));
        Self { store, folder }
    }
}

/// The folder of the runs.
fn runs(folder: &TempDir) -> PathBuf {
    folder.path().join("runs")
}

async fn open(store: &Store, how: Open, attempt: &Attempt) -> Result<RunJournal, StoreError> {
    let Attempt {
        run_id,
        flow,
        input,
        ..
    } = attempt;
    match how {
        Open::Start => store.start(run_id, flow, input).await,
        Open::Resume => store.resume(run_id, flow).await,
        Open::StartOrResume => store.start_or_resume(run_id, flow, input).await,
        Open::ResumeChanged => store.resume_changed(run_id, flow).await,
    }
}

#[async_trait]
impl<S: Conforming> TestedStore for Subject<S> {
    fn name(&self) -> String {
        S::NAME.to_owned()
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        S::lacks(ability)
    }

    async fn open(&self, how: Open, attempt: &Attempt) -> Result<Opened, Refusal> {
        let journal = open(&self.store, how, attempt).await?;
        let state: State = journal.state()?;
        Ok(Opened {
            journal: Arc::new(journal),
            state,
        })
    }

    async fn fork(&self, run_id: &str, step: u64, attempt: &Attempt) -> Result<Opened, Refusal> {
        let fork = Fork::at(step).with_run_id(&attempt.run_id);
        let journal = self.store.fork(run_id, &attempt.flow, fork).await;
        let journal = journal?;
        let state: State = journal.state()?;
        Ok(Opened {
            journal: Arc::new(journal),
            state,
        })
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        let answer = RawValue::from_string(answer.to_owned()).unwrap();
        let delivered = self.store.deliver(run_id, event, &answer).await;
        Ok(delivered?)
    }

    async fn list(&self) -> Result<Vec<ListedRun>, Refusal> {
        let runs = self.store.runs().await?;
        Ok(runs.into_iter().map(Into::into).collect())
    }

    async fn remove(&self, run_id: &str) -> Result<(), Refusal> {
        Ok(self.store.remove(run_id).await?)
    }

    fn another_process(&self) -> Arc<dyn TestedStore> {
        Arc::new(Self::within(Arc::clone(&self.folder)))
    }

    async fn expire_lease(&self, run_id: &str) -> Result<(), BoxError> {
        Conforming::expire_lease(&self.store, run_id).await
    }
}

/// Something that a store does wrong.
#[derive(Debug, Clone, Copy)]
enum Mistake {
    RecordsNothing,
    OverwritesRuns,
    LosesAnswers,
    RemovesNothing,
}

/// A store of files that makes a mistake.
struct Mistaken(Subject<FileStore>, Mistake);

#[async_trait]
impl TestedStore for Mistaken {
    fn name(&self) -> String {
        format!("{:?}", self.1)
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        self.0.lacks(ability)
    }

    async fn open(&self, how: Open, attempt: &Attempt) -> Result<Opened, Refusal> {
        let how = match (self.1, how) {
            (Mistake::OverwritesRuns, Open::Start) => Open::StartOrResume,
            (_, how) => how,
        };

        let opened = self.0.open(how, attempt).await?;
        Ok(match self.1 {
            Mistake::RecordsNothing => Opened {
                journal: Arc::new(MemoryJournal::new(&attempt.run_id)),
                state: attempt.input.clone(),
            },
            _ => opened,
        })
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        match self.1 {
            Mistake::LosesAnswers => Ok(()),
            _ => self.0.deliver(run_id, event, answer).await,
        }
    }

    async fn list(&self) -> Result<Vec<ListedRun>, Refusal> {
        self.0.list().await
    }

    async fn remove(&self, run_id: &str) -> Result<(), Refusal> {
        match self.1 {
            Mistake::RemovesNothing => Ok(()),
            _ => self.0.remove(run_id).await,
        }
    }

    fn another_process(&self) -> Arc<dyn TestedStore> {
        self.0.another_process()
    }
}

/// The cases find what a store does wrong.
#[tokio::test]
async fn broken_promises_are_found() {
    for (mistake, name) in [
        (
            Mistake::RecordsNothing,
            "a_loop_continues_after_a_crash_at_each_call",
        ),
        (Mistake::OverwritesRuns, "a_run_is_started_once"),
        (Mistake::LosesAnswers, "an_early_answer_is_kept"),
        (Mistake::RemovesNothing, "a_removed_run_leaves_nothing"),
    ] {
        let right = check_store_case(name, Subject::<FileStore>::new()).await;
        assert_eq!(right, Some(CaseResult::Passed), "{name}");

        let wrong = Mistaken(Subject::new(), mistake);
        let wrong = check_store_case(name, wrong).await;
        assert!(
            matches!(wrong, Some(CaseResult::Failed(_))),
            "{mistake:?}: {wrong:?}"
        );
    }
}
