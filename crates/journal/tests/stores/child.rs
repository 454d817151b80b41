//! The test executable, started again as another process that works on a run.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use cogwork_journal::Store;

use crate::each::{FileStore, Tested};
use crate::work::{Call, Work, flow};

/// What a child is to do.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// Its [`Tested::NAME`].
    pub(crate) store: &'static str,
    pub(crate) folder: PathBuf,
    pub(crate) run_id: String,
    pub(crate) rounds: usize,
    /// How long a call takes at most.
    pub(crate) slow: u64,
}

impl Job {
    /// This executable, as a child that does the job.
    pub(crate) fn command(&self) -> Command {
        self.command_of("child::works")
    }

    /// The same as a child that executes the test with this name, which is ignored otherwise.
    pub(crate) fn command_of(&self, test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        self.describe(&mut command, test);
        command
    }

    /// The same, started by a shell that first does something else.
    #[cfg(unix)]
    pub(crate) fn command_after(&self, before: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{before}; exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap());
        self.describe(&mut command, "child::works");

        command
    }

    fn describe(&self, command: &mut Command, test: &str) {
        // The name of the schema depends on the process that chose it.
        #[cfg(feature = "postgres")]
        command.env("JOB_SCHEMA", crate::server::schema(&self.folder));

        command
            .args(["--exact", test, "--ignored", "--nocapture", "--quiet"])
            .env("JOB_STORE", self.store)
            .env("JOB_FOLDER", &self.folder)
            .env("JOB_RUN", &self.run_id)
            .env("JOB_ROUNDS", self.rounds.to_string())
            .env("JOB_SLOW", self.slow.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub(crate) fn from_environment() -> Option<Self> {
        let number = |name: &str| std::env::var(name).unwrap().parse().unwrap();
        let store = std::env::var("JOB_STORE").ok()?;
        Some(Self {
            store: ["files", "database", "postgres"]
                .into_iter()
                .find(|name| *name == store)?,
            folder: std::env::var_os("JOB_FOLDER")?.into(),
            run_id: std::env::var("JOB_RUN").unwrap(),
            rounds: number("JOB_ROUNDS") as usize,
            slow: number("JOB_SLOW"),
        })
    }
}

/// Waits until the child holds its run. What it says after that is still to be read.
pub(crate) fn wait_until_it_runs(child: &mut Child) {
    let said = child.stdout.as_mut().unwrap();
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"it runs\n") {
        let length = said.read(&mut byte).unwrap();
        assert!(
            length > 0,
            "the child ended before it ran: {}",
            String::from_utf8_lossy(&line)
        );

        line.push(byte[0]);
    }
}

/// Adds one after a while.
fn slow(most_millis: u64) -> Call {
    Arc::new(move |n| {
        Box::pin(async move {
            let noise = std::collections::hash_map::RandomState::new();
            let micros = std::hash::BuildHasher::hash_one(&noise, n) % (most_millis * 1_000 + 1);
            tokio::time::sleep(Duration::from_micros(micros)).await;
            Ok(n + 1)
        })
    })
}

#[test]
#[ignore = "the other process of other tests"]
fn works() {
    in_its_store::<Works>();
}

/// What a child does in a store of any kind.
pub(crate) trait Task {
    async fn execute(store: &Store, job: &Job);
}

/// Executes a task in the store of the job, if this is a child that has one.
pub(crate) fn in_its_store<T: Task>() {
    let Some(job) = Job::from_environment() else {
        return;
    };

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();

    // A kill loses nothing that was written, synced or not, and syncing takes most of the time.
    match job.store {
        FileStore::NAME => {
            let store = FileStore::within(&job.folder);
            runtime.block_on(T::execute(&store, &job));
        }
        #[cfg(feature = "sqlite")]
        "database" => {
            let store = crate::each::SqliteStore::within(&job.folder);
            runtime.block_on(T::execute(&store, &job));
        }
        #[cfg(feature = "postgres")]
        "postgres" => {
            let store = cogwork_journal::PostgresStore::within(&job.folder);
            runtime.block_on(T::execute(&store, &job));
        }
        store => unreachable!("no store {store}"),
    }
}

/// Works on the run of the job, and prints what became of it.
struct Works;

impl Task for Works {
    async fn execute(store: &Store, job: &Job) {
        work_on(store, job).await;
    }
}

async fn work_on(store: &Store, job: &Job) {
    let flow = flow(&slow(job.slow));
    let journal = store
        .start_or_resume(&job.run_id, &flow, &Work::of(job.rounds))
        .await
        .unwrap();
    println!("\nit runs");
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);

    match run.finish(&mut work).await {
        Ok(_) => println!("\n{}", serde_json::to_string(&work).unwrap()),
        Err(error) => println!("\n{error}"),
    }
}
