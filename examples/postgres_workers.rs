//! Several worker processes that share runs in PostgreSQL. Workers, and now and then the server, are
//! killed at random until all runs have ended. Every call is counted independently of the store, to
//! show that no recorded call is made again, and that no recorded outcome is lost.
//!
//! Requires `initdb`; see `scripts/local-postgres`. Start it with
//! `cargo run --features postgres --package cogwork-examples --example postgres_workers -- --kills 100`.
//! The progress is printed to standard error. The last line looks like this:
//!
//! ```text
//! kills: 520, recorded calls: 9160, made twice: 0, lost: 0
//! ```

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use cogwork::flow::{Action, Backoff, Batch, Flow, from_exec_with, from_fn, idempotency_key};
use cogwork::journal::{PostgresStore, QueuedRun, RunQuery, RunStatus, Worker};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A worker process. It executes runs until it gets Ctrl-C.
async fn worker(url: &str, calls: &Path) -> Result<()> {
    let flow = flow(calls)?;
    let worker = Worker::new(store(url)?)
        .with_flow(flow)
        .with_concurrency(4)
        .with_poll_interval(Duration::from_millis(500));

    worker
        .run(async { drop(tokio::signal::ctrl_c().await) })
        .await;
    Ok(())
}

/// Leases are short, because workers die often here, and runs may be interrupted any number of times.
fn store(url: &str) -> Result<PostgresStore> {
    let retries = Backoff::of::<1_000>()
        .with_first(Duration::from_millis(50))
        .with_ceiling(Duration::from_millis(200));
    let store = PostgresStore::new(url)?
        .with_lease(Duration::from_secs(1))
        .with_max_connections(4)
        .with_retries(retries);

    Ok(store)
}

#[derive(Default, Serialize, Deserialize)]
struct Survey {
    rounds: u32,
    answers: Vec<Answer>,
}

/// The outcome of a call.
#[derive(Clone, Serialize, Deserialize)]
struct Answer {
    key: String,
    /// A different value each time the call is made.
    made: String,
}

const WORKERS: usize = 4;
const ROUNDS: u32 = 10;
const ITEMS: u64 = 4;
const AGAIN: Action = Action::from_static("again");
const ENOUGH: Action = Action::from_static("enough");

/// A loop around a batch of calls.
fn flow(calls: &Path) -> Result<Flow<Survey>> {
    let ask = from_exec_with(calls.to_owned(), make);
    let split = |_: &Survey| (0..ITEMS).collect::<Vec<_>>();
    let join = |survey: &mut Survey, answers| survey.answers.extend::<Vec<Answer>>(answers);

    let judge = from_fn(|survey: &mut Survey| {
        survey.rounds += 1;
        if survey.rounds < ROUNDS {
            AGAIN
        } else {
            ENOUGH
        }
    });

    Ok(Flow::builder("survey")
        .start("ask")
        .batch("ask", Batch::at_most(3, ask, split, join))
        .node("judge", judge.with_actions([AGAIN, ENOUGH]))
        .edge("ask", Action::DEFAULT, "judge")
        .edge("judge", AGAIN, "ask")
        .end("judge", ENOUGH)
        .build()?)
}

/// The call that would cost money. It is counted before anything else happens.
async fn make(calls: PathBuf, _: u64) -> std::io::Result<Answer> {
    let key = idempotency_key().unwrap_or_default();
    let made = format!("{}-{}", std::process::id(), random());

    // A kill can truncate a line, so each one starts with a line break and is only complete with
    // its `;`.
    let line = format!("\n{key} {made};");
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(calls)?
        .write_all(line.as_bytes())?;

    tokio::time::sleep(Duration::from_micros(random() % 80_000)).await;
    Ok(Answer { key, made })
}

/// Returns a random number, taken from the seed of a hash map.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// The server, with its data in a temporary folder. It is stopped when this is dropped.
struct Server {
    home: TempDir,
    url: String,
}

impl Server {
    fn start() -> Result<Self> {
        let home = TempDir::with_prefix("cw")?;

        // The server doesn't run as root, and its user has to reach the folder.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(home.path(), PermissionsExt::from_mode(0o711))?;
        }

        let mut server = Self {
            home,
            url: String::new(),
        };
        server.url = server.begin()?;
        Ok(server)
    }

    /// Starts the server and returns its connection string.
    fn begin(&self) -> Result<String> {
        let printed = self.script("start")?;
        let (_, url) = printed.split_once('\'').ok_or("no connection string")?;
        let (url, _) = url.split_once('\'').ok_or("no connection string")?;
        Ok(url.to_owned())
    }

    fn kill(&self) -> Result<()> {
        self.script("kill")?;
        std::thread::sleep(Duration::from_millis(random() % 300));
        self.begin().map(drop)
    }

    fn script(&self, command: &str) -> Result<String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/local-postgres");
        let output = Command::new(script)
            .arg(command)
            .env("COGWORK_POSTGRES_HOME", self.home.path().join("pg"))
            .stderr(Stdio::piped())
            .output()?;

        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script("stop"));
    }
}

/// The worker processes.
struct Workers<'a> {
    server: &'a Server,
    calls: &'a Path,
    children: Vec<Child>,
}

impl Workers<'_> {
    fn spawn(&self) -> Result<Child> {
        Ok(Command::new(env::current_exe()?)
            .arg("worker")
            .arg(&self.server.url)
            .arg(self.calls)
            .spawn()?)
    }

    /// Kills a worker and starts another one.
    fn kill_one(&mut self) -> Result<()> {
        let index = usize::try_from(random())? % self.children.len();
        let new = self.spawn()?;
        let mut old = self.children.swap_remove(index);
        self.children.push(new);

        if let Some(status) = old.try_wait()? {
            return Err(format!("a worker stopped by itself: {status}").into());
        }
        old.kill()?;
        old.wait()?;
        Ok(())
    }

    /// Asks all workers to stop, and waits for them.
    fn stop(&mut self) -> Result<()> {
        for child in &self.children {
            let id = child.id().to_string();
            Command::new("kill").args(["-INT", &id]).status()?;
        }
        for child in &mut self.children {
            let status = child.wait()?;
            if !status.success() {
                return Err(format!("a worker failed: {status}").into());
            }
        }

        self.children.clear();
        Ok(())
    }
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        for child in &mut self.children {
            drop(child.kill());
        }
    }
}

/// The recorded outcomes of a run: the key of each call, and which call was recorded.
type Outcomes = HashMap<String, String>;

/// Returns the recorded outcomes by run, read from the tables.
async fn on_record(url: &str, which: &str) -> Result<HashMap<String, Outcomes>> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    let connection = tokio::spawn(connection);
    let sql = format!(
        "SELECT id, line FROM cogwork.lines JOIN cogwork.runs ON run = key WHERE number > 1 AND {which}"
    );
    let rows = client.query(&sql, &[]).await;
    let rows = rows.map_err(|error| format!("the record cannot be read: {error:?}"))?;
    connection.abort();

    let mut runs: HashMap<String, Outcomes> = HashMap::new();
    for row in rows {
        let line: serde_json::Value = serde_json::from_str(row.get(1))?;

        // The outcome of a node without a call is `null`.
        if let Some(answer @ serde_json::Value::Object(_)) = line.pointer("/outcome/outcome") {
            let answer: Answer = serde_json::from_value(answer.clone())?;
            let outcomes = runs.entry(row.get(0)).or_default();
            outcomes.insert(answer.key, answer.made);
        }
    }

    Ok(runs)
}

/// What is on record, and what went wrong.
#[derive(Default)]
struct Tally {
    recorded: HashMap<String, Outcomes>,
    lost: usize,
}

impl Tally {
    /// Reads the record of the runs that haven't ended. Each outcome that was there must still be
    /// there.
    async fn look(&mut self, url: &str) -> Result<()> {
        self.look_at(url, "status <> 'ended'").await
    }

    async fn look_at(&mut self, url: &str, which: &str) -> Result<()> {
        for (run_id, now) in on_record(url, which).await? {
            let before = self.recorded.entry(run_id).or_default();
            let is_lost = |(key, made): &(&String, &String)| now.get(*key) != Some(*made);
            self.lost += before.iter().filter(is_lost).count();
            *before = now;
        }

        Ok(())
    }

    fn calls(&self) -> usize {
        self.recorded.values().map(HashMap::len).sum()
    }

    fn is_recorded(&self, key: &str, id: &str) -> bool {
        let run = key
            .split_once(':')
            .and_then(|(run, _)| self.recorded.get(run));
        run.and_then(|outcomes| outcomes.get(key))
            .is_some_and(|made| made == id)
    }

    /// Returns the number of calls, and of those that were made again although an earlier one is the one on record.
    fn made_twice(&self, calls: &Path) -> Result<(usize, usize)> {
        let text = std::fs::read_to_string(calls)?;
        let made = text
            .split('\n')
            .filter_map(|line| line.strip_suffix(';')?.rsplit_once(' '));

        let [mut calls, mut twice] = [0, 0];
        let mut is_recorded: HashMap<&str, bool> = HashMap::new();
        for (key, id) in made {
            calls += 1;
            let recorded = is_recorded.entry(key).or_default();
            twice += usize::from(*recorded);
            *recorded |= self.is_recorded(key, id);
        }

        Ok((calls, twice))
    }
}

/// How many runs are waiting or executed at any time.
const RUNS: usize = 12;

/// Enqueues runs so that the workers always have something to do.
async fn enqueue(store: &PostgresStore, flow: &Flow<Survey>, number: &mut usize) -> Result<()> {
    let missing = RUNS.saturating_sub(unfinished(store).await?.len());
    for _ in 0..missing {
        *number += 1;
        let run_id = format!("run {number}");
        let input = Survey::default();
        store.enqueue(&run_id, flow, &input).await?;
    }

    Ok(())
}

async fn unfinished(store: &PostgresStore) -> Result<Vec<QueuedRun>> {
    let mut runs = store.queued(RunQuery::new().limit(100_000)).await?;
    runs.retain(|run| !matches!(run.run.status, RunStatus::Ended { .. }));
    Ok(runs)
}

async fn parent(wanted: u64) -> Result<bool> {
    let server = Server::start()?;
    let folder = tempfile::tempdir()?;
    let calls = folder.path().join("calls.txt");

    let flow = flow(&calls)?;
    let store = store(&server.url)?;
    let mut runs = 0;
    enqueue(&store, &flow, &mut runs).await?;

    let mut workers = Workers {
        server: &server,
        calls: &calls,
        children: Vec::new(),
    };
    for _ in 0..WORKERS {
        let worker = workers.spawn()?;
        workers.children.push(worker);
    }

    let mut tally = Tally::default();
    let mut server_kills = 0;
    for kill in 1..=wanted {
        tokio::time::sleep(Duration::from_millis(random() % 200)).await;
        if kill % 20 == 10 {
            server.kill()?;
            server_kills += 1;
            eprintln!("kill {kill}: the server");
        } else {
            workers.kill_one()?;
        }

        tally.look(&server.url).await?;
        enqueue(&store, &flow, &mut runs).await?;
        if kill % 20 == 0 {
            eprintln!(
                "kill {kill}: {} calls on record, {runs} runs",
                tally.calls()
            );
        }
    }

    while !unfinished(&store).await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    workers.stop()?;
    tally.look_at(&server.url, "true").await?;
    let Tally { lost, .. } = tally;
    let (made, twice) = tally.made_twice(&calls)?;
    let recorded = tally.calls();
    let in_flight = made.saturating_sub(recorded);

    println!("{WORKERS} workers, {runs} runs, {server_kills} of the kills were of the server");
    println!("calls in flight at a kill, which were made again: {in_flight}");
    println!("kills: {wanted}, recorded calls: {recorded}, made twice: {twice}, lost: {lost}");
    Ok(twice == 0 && lost == 0)
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["worker", url, calls] => worker(url, calls.as_ref()).await.map(|()| true),
        [] => parent(20).await,
        ["--kills", kills] => match kills.parse() {
            Ok(kills) => parent(kills).await,
            Err(_) => Err(format!("--kills: `{kills}` isn't a number").into()),
        },
        _ => Err("expected no arguments or `--kills N`".into()),
    };

    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
