//! The cases of `cogwork-conformance`, over all stores.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_conformance::{
    Ability, Attempt, ListedRun, ListedStatus, Open, Opened, Refusal, RefusalKind, State,
    TestedStore,
};
use cogwork_flow::BoxError;
use cogwork_journal::{FileStore, Fork, RunJournal, RunStatus, Store, StoreError};
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::each::Tested;
use crate::outage::Outage;

mod files {
    cogwork_conformance::store_tests!(Some(super::Subject::<super::FileStore>::new()));
}

#[cfg(feature = "sqlite")]
mod database {
    use cogwork_journal::SqliteStore;

    cogwork_conformance::store_tests!(Some(super::Subject::<SqliteStore>::new()));
}

#[cfg(feature = "postgres")]
mod postgres {
    use cogwork_journal::PostgresStore;

    fn subject() -> Option<super::Subject<PostgresStore>> {
        crate::server::url().map(|_| super::Subject::new())
    }

    cogwork_conformance::store_tests!(subject());
}

/// The maximum length of a line in bytes.
const MAX_LINE: usize = 60_000;

/// Why stores lack outages here, if they do.
const NO_OUTAGES: Option<&str> = if cfg!(unix) {
    None
} else {
    Some("files in use cannot be moved, and there are no sockets to cut")
};

/// What the suite needs to do to a store.
#[async_trait]
pub(crate) trait Conforming: Tested {
    /// The reason why the store lacks an ability that others have.
    fn lacks(ability: Ability) -> Option<&'static str>;

    fn with_max_line(self, bytes: usize) -> Self;

    /// Returns a store in a folder, and what makes it unavailable.
    fn with_outages(folder: &Path) -> (Self, Outage) {
        (Self::within(folder), Outage::Folder(folder.to_owned()))
    }

    async fn expire_lease(&self, _run_id: &str) -> Result<(), BoxError> {
        Err("there are no leases".into())
    }
}

#[async_trait]
impl Conforming for FileStore {
    fn lacks(ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::Fences => Some("the lock on a file lasts as long as its process"),
            Ability::Outages => Some("the disk is part of the machine"),
            _ => None,
        }
    }

    fn with_max_line(self, bytes: usize) -> Self {
        self.with_max_line(bytes)
    }
}

#[cfg(feature = "sqlite")]
#[async_trait]
impl Conforming for cogwork_journal::SqliteStore {
    fn lacks(ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::Fences => Some("the lock on a file lasts as long as its process"),
            Ability::Outages => Some("the disk is part of the machine"),
            Ability::TornWrites => Some("a transaction is written as a whole"),
            _ => None,
        }
    }

    fn with_max_line(self, bytes: usize) -> Self {
        self.with_max_line(bytes)
    }
}

#[cfg(feature = "postgres")]
#[async_trait]
impl Conforming for cogwork_journal::PostgresStore {
    fn lacks(ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::Outages => NO_OUTAGES,
            Ability::TornWrites => Some("a transaction is written as a whole"),
            _ => None,
        }
    }

    fn with_max_line(self, bytes: usize) -> Self {
        self.with_max_line(bytes)
    }

    #[cfg(unix)]
    fn with_outages(folder: &Path) -> (Self, Outage) {
        let proxy = crate::proxy::Proxy::start();
        let store = Self::new(&proxy.url()).unwrap();
        let schema = crate::server::schema(folder);
        let store = store.with_schema(schema).with_max_connections(3);
        (store, Outage::Network(proxy))
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
    outage: Outage,
}

impl<S: Conforming> Subject<S> {
    pub(crate) fn new() -> Self {
        Self::within(Arc::new(tempfile::tempdir().unwrap()))
    }

    fn within(folder: Arc<TempDir>) -> Self {
        let (store, outage) = S::with_outages(&runs(&folder));
        Self {
            store: Conforming::with_max_line(store.unsynced(), MAX_LINE),
            folder,
            outage,
        }
    }
}

/// The folder of the runs.
fn runs(folder: &TempDir) -> PathBuf {
    folder.path().join("runs")
}

fn refused(error: StoreError) -> Refusal {
    let kinds = [
        (error.is_missing(), RefusalKind::Missing),
        (error.is_already_there(), RefusalKind::AlreadyThere),
        (error.is_locked(), RefusalKind::InUse),
        (error.is_another_flow(), RefusalKind::AnotherFlow),
        (error.is_another_input(), RefusalKind::AnotherInput),
        (error.is_ended(), RefusalKind::Ended),
        (error.is_unknown_event(), RefusalKind::UnknownEvent),
        (error.is_too_large(), RefusalKind::TooLarge),
        (error.is_damaged(), RefusalKind::Damaged),
    ];
    let kind = kinds.into_iter().find(|(is, _)| *is);
    Refusal::new(kind.map_or(RefusalKind::Other, |(_, kind)| kind), error)
}

async fn open(store: &impl Store, how: Open, attempt: &Attempt) -> Result<RunJournal, StoreError> {
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

fn status(status: RunStatus) -> ListedStatus {
    match status {
        RunStatus::Paused { waits } => {
            ListedStatus::Waiting(waits.into_iter().map(|wait| wait.event).collect())
        }
        RunStatus::Failed { .. } => ListedStatus::Failed,
        RunStatus::Ended { .. } => ListedStatus::Ended,
        RunStatus::Damaged { .. } => ListedStatus::Damaged,
        _ => ListedStatus::Open,
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
        let journal = open(&self.store, how, attempt).await.map_err(refused)?;
        let state: State = journal.state().map_err(refused)?;
        Ok(Opened {
            journal: Arc::new(journal),
            state,
        })
    }

    async fn fork(&self, run_id: &str, step: u64, attempt: &Attempt) -> Result<Opened, Refusal> {
        let fork = Fork::at(step).with_run_id(&attempt.run_id);
        let journal = self.store.fork(run_id, &attempt.flow, fork).await;
        let journal = journal.map_err(refused)?;
        let state: State = journal.state().map_err(refused)?;
        Ok(Opened {
            journal: Arc::new(journal),
            state,
        })
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        let answer = RawValue::from_string(answer.to_owned()).unwrap();
        let delivered = self.store.deliver(run_id, event, &answer).await;
        delivered.map_err(refused)
    }

    async fn list(&self) -> Result<Vec<ListedRun>, Refusal> {
        let runs = self.store.runs().await.map_err(refused)?;
        let listed = runs.into_iter().map(|run| ListedRun {
            run_id: run.run_id,
            status: status(run.status),
        });
        Ok(listed.collect())
    }

    async fn remove(&self, run_id: &str) -> Result<(), Refusal> {
        self.store.remove(run_id).await.map_err(refused)
    }

    fn another_process(&self) -> Arc<dyn TestedStore> {
        Arc::new(Self::within(Arc::clone(&self.folder)))
    }

    fn max_outcome(&self) -> Option<usize> {
        Some(MAX_LINE)
    }

    async fn expire_lease(&self, run_id: &str) -> Result<(), BoxError> {
        Conforming::expire_lease(&self.store, run_id).await
    }

    async fn record_size(&self, run_id: &str) -> Result<u64, BoxError> {
        let path = FileStore::new(runs(&self.folder)).path(run_id);
        Ok(std::fs::metadata(path)?.len())
    }

    async fn tear(&self, run_id: &str, bytes: u64) -> Result<(), BoxError> {
        let path = FileStore::new(runs(&self.folder)).path(run_id);
        let file = OpenOptions::new().write(true).open(path)?;
        Ok(file.set_len(bytes)?)
    }

    async fn set_available(&self, is_available: bool) -> Result<(), BoxError> {
        Ok(self.outage.set_available(is_available)?)
    }
}
