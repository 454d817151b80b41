//! The cases for all stores, and for one that somebody else wrote.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::draw::FlowGraph;
use cogwork_flow::engine::{Entry, Json, Log, Recorded};
use cogwork_journal::conformance::{Attempt, Open, Opened, State, TestedStore, check_store};
use cogwork_journal::{StoreError, StoreErrorKind};
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::each::{Tested, for_each_store};

for_each_store! {
    every_promise_is_kept,
}

async fn every_promise_is_kept<S: Tested>() {
    let report = check_store(Subject::<S>::new).await;
    println!("{report}");
    assert!(report.failed().is_empty(), "{report}");
}

/// A store in a folder of its own.
struct Subject<S> {
    store: S,
    folder: Arc<TempDir>,
}

impl<S: Tested> Subject<S> {
    fn new() -> Self {
        Self::within(Arc::new(tempfile::tempdir().unwrap()))
    }

    fn within(folder: Arc<TempDir>) -> Self {
        let runs: PathBuf = folder.path().join("runs");
        let store = S::within(&runs);
        Self { store, folder }
    }
}

#[async_trait]
impl<S: Tested> TestedStore for Subject<S> {
    async fn open(&self, how: Open, attempt: &Attempt) -> Result<Opened, StoreError> {
        let (run_id, flow) = (&attempt.run_id, &attempt.flow);
        let journal = match how {
            Open::Start => self.store.start(run_id, flow, &attempt.input).await?,
            Open::Resume => self.store.resume(run_id, flow).await?,
            Open::StartOrResume => {
                let opened = self.store.start_or_resume(run_id, flow, &attempt.input);
                opened.await?
            }
        };
        Ok(Opened {
            state: journal.state()?,
            journal: Arc::new(journal),
        })
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), StoreError> {
        let answer = RawValue::from_string(answer.to_owned()).unwrap();
        Ok(self.store.deliver(run_id, event, &answer).await?)
    }

    fn another_process(&self) -> Arc<dyn TestedStore> {
        Arc::new(Self::within(Arc::clone(&self.folder)))
    }
}

/// A store over a map, as somebody else could write it.
#[derive(Clone, Default)]
struct Map {
    runs: Arc<Mutex<BTreeMap<String, MapRun>>>,
    mistake: Option<Mistake>,
}

/// Something that a store does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    RecordsNothing,
    OverwritesRuns,
    LosesAnswers,
    TakesAnyInput,
    SharesRuns,
}

struct MapRun {
    graph: FlowGraph,
    input: State,
    entries: Arc<Mutex<Vec<Entry>>>,
    /// Alive while the run is in use.
    user: Weak<()>,
}

struct MapLog {
    entries: Arc<Mutex<Vec<Entry>>>,
    records: bool,
    _user: Arc<()>,
}

#[async_trait]
impl Log for MapLog {
    fn push(&self, entry: Entry) -> u64 {
        if self.records {
            self.entries.lock().unwrap().push(entry);
        }
        1
    }

    fn replace(&self, entries: Vec<Entry>) -> u64 {
        *self.entries.lock().unwrap() = entries;
        1
    }

    async fn written(&self, _: u64) -> Result<(), BoxError> {
        Ok(())
    }
}

fn refused<T>(kind: StoreErrorKind, error: &str) -> Result<T, StoreError> {
    Err(StoreError::new(kind, error))
}

impl MapRun {
    fn is_in_use(&self) -> bool {
        self.user.strong_count() > 0
    }

    fn has_ended(&self) -> bool {
        matches!(
            self.entries.lock().unwrap().last(),
            Some(Entry::Ended { .. })
        )
    }

    fn open(&mut self, run_id: &str, records: bool) -> Opened {
        let user = Arc::new(());
        self.user = Arc::downgrade(&user);
        let log = MapLog {
            entries: Arc::clone(&self.entries),
            records,
            _user: user,
        };

        let entries = self.entries.lock().unwrap().clone();
        let state = match entries.first() {
            Some(Entry::Snapshot(snapshot)) => snapshot.state.read().unwrap(),
            _ => self.input.clone(),
        };
        Opened {
            journal: Arc::new(Recorded::over(run_id, entries, log).unwrap()),
            state,
        }
    }
}

#[async_trait]
impl TestedStore for Map {
    async fn open(&self, how: Open, attempt: &Attempt) -> Result<Opened, StoreError> {
        let mut runs = self.runs.lock().unwrap();
        let graph = attempt.flow.graph();
        let may_start = matches!(how, Open::Start | Open::StartOrResume);
        if may_start && !runs.contains_key(&attempt.run_id) {
            let run = MapRun {
                graph: graph.clone(),
                input: attempt.input.clone(),
                entries: Arc::default(),
                user: Weak::new(),
            };
            runs.insert(attempt.run_id.clone(), run);
        } else if how == Open::Start && self.mistake != Some(Mistake::OverwritesRuns) {
            return refused(StoreErrorKind::AlreadyThere, "it exists");
        }

        let Some(run) = runs.get_mut(&attempt.run_id) else {
            return refused(StoreErrorKind::Missing, "it doesn't exist");
        };
        if run.is_in_use() && self.mistake != Some(Mistake::SharesRuns) {
            return refused(StoreErrorKind::InUse, "it is in use");
        }
        if let Some(difference) = graph.difference(&run.graph) {
            return refused(StoreErrorKind::AnotherFlow, &difference);
        }
        let takes_any_input = self.mistake == Some(Mistake::TakesAnyInput);
        if how == Open::StartOrResume && run.input != attempt.input && !takes_any_input {
            return refused(StoreErrorKind::AnotherInput, "it has another input");
        }

        let records = self.mistake != Some(Mistake::RecordsNothing);
        Ok(run.open(&attempt.run_id, records))
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), StoreError> {
        let journal = {
            let mut runs = self.runs.lock().unwrap();
            let Some(run) = runs.get_mut(run_id) else {
                return refused(StoreErrorKind::Missing, "it doesn't exist");
            };
            if run.has_ended() {
                return refused(StoreErrorKind::Ended, "it has ended");
            }
            let opened = run.open(run_id, self.mistake != Some(Mistake::LosesAnswers));
            if !run.graph.events().contains(event) && !opened.journal.awaits(event) {
                return refused(StoreErrorKind::UnknownEvent, "nobody waits for it");
            }
            opened.journal
        };
        let delivered = journal.deliver(event, Json::from_record(answer)).await;
        delivered.map_err(|error| StoreError::new(StoreErrorKind::Other, error))
    }

    fn another_process(&self) -> Arc<dyn TestedStore> {
        Arc::new(self.clone())
    }
}

#[tokio::test]
async fn a_store_of_somebody_else_passes() {
    let report = check_store(Map::default).await;
    assert!(report.failed().is_empty(), "{report}");
}

/// The cases find what a store does wrong.
#[tokio::test]
async fn broken_promises_are_found() {
    for (mistake, name) in [
        (
            Mistake::RecordsNothing,
            "runs_continue_after_a_crash_at_each_call",
        ),
        (Mistake::OverwritesRuns, "a_run_is_started_once"),
        (Mistake::LosesAnswers, "an_early_answer_is_kept"),
        (Mistake::TakesAnyInput, "a_run_is_resumed_with_its_input"),
        (Mistake::SharesRuns, "of_many_takers_one_gets_the_run"),
    ] {
        let broken = || Map {
            mistake: Some(mistake),
            ..Map::default()
        };
        let report = check_store(broken).await;
        assert!(report.failed().contains(&name), "{mistake:?}: {report}");
    }
}
