//! A program that is killed at random moments and restarted until its run ends. Every call of its
//! nodes is counted independently of the journal, to show that no recorded call is made again.
//!
//! `cargo run --example crash_and_resume -- --kills 200` kills more often. With `--journal runs.db`, the
//! runs are in a SQLite database instead of a folder. The effect of each kill is printed to standard error.
//!
//! ```text
//! 30 rounds, each with a subflow that loops and a batch of 5 items, 3 at a time
//! run 1: 158 steps, the same end as a run that nobody killed
//! kills: 5, recorded calls: 248, made twice: 0, lost: 0
//! ```

use std::collections::{HashMap, HashSet};
use std::env;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use cogwork::flow::engine::{Entry, MemoryJournal};
use cogwork::flow::{
    Action, Batch, Flow, from_exec_with, from_fn, from_phases_with, idempotency_key,
};
use cogwork::journal::{Store, StoreErrorKind};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The whole program that survives a crash. It starts the run, or resumes it after a restart.
async fn child(place: &str, calls: &Path, run_id: &str) -> Result<()> {
    let flow = flow(calls)?;
    let journal = Store::at(place)?
        .start_or_resume(run_id, &flow, &Survey::default())
        .await?;
    let mut survey: Survey = journal.state()?;
    flow.begin()
        .with_journal(journal)
        .finish(&mut survey)
        .await?;

    Ok(())
}

#[derive(Default, Serialize, Deserialize)]
struct Survey {
    rounds: u32,
    /// The input of the next call. It depends on every earlier outcome, so a lost outcome changes
    /// all later ones.
    number: u64,
    answers: Vec<Answer>,
}

/// The outcome of a call. The text makes its line long, so that writing it takes a while.
#[derive(Clone, Serialize, Deserialize)]
struct Answer {
    key: String,
    /// A different value each time the call is made.
    made: String,
    number: u64,
    text: String,
}

const ROUNDS: u32 = 30;
const ITEMS: u64 = 5;
const AGAIN: Action = Action::from_static("again");
const ENOUGH: Action = Action::from_static("enough");

/// A loop around a subflow, which contains another loop, and a batch with three items at a time.
fn flow(calls: &Path) -> Result<Flow<Survey>> {
    let find = from_phases_with(
        calls.to_owned(),
        |survey: &mut Survey| survey.number,
        async |calls, number| make(calls, number, 20_000).await,
        |survey, answer| {
            survey.number = answer.number;
            survey.answers.push(answer);
            if survey.number.is_multiple_of(3) {
                ENOUGH
            } else {
                AGAIN
            }
        },
    )
    .with_actions([AGAIN, ENOUGH]);

    let find = Flow::builder("find")
        .start("ask")
        .node("ask", find)
        .edge("ask", AGAIN, "ask")
        .end("ask", ENOUGH)
        .build()?;

    let grade = from_exec_with(calls.to_owned(), async |calls, number| {
        make(calls, number, 100).await
    });

    let split = |survey: &Survey| {
        let numbers = (0..ITEMS).map(|index| survey.number + index);
        numbers.collect::<Vec<_>>()
    };

    let join = |survey: &mut Survey, answers: Vec<Answer>| {
        survey.answers.extend(answers);
        survey.number = survey
            .answers
            .iter()
            .rev()
            .take(2)
            .map(|answer| answer.number)
            .sum();
    };

    let judge = from_fn(|survey: &mut Survey| {
        survey.rounds += 1;
        if survey.rounds < ROUNDS {
            AGAIN
        } else {
            ENOUGH
        }
    });

    let flow = Flow::builder("survey")
        .start("find")
        .subflow("find", find, |survey: &mut Survey| survey)
        .batch("grade", Batch::at_most(3, grade, split, join))
        .node("judge", judge.with_actions([AGAIN, ENOUGH]))
        .edge("find", ENOUGH, "grade")
        .edge("grade", Action::DEFAULT, "judge")
        .edge("judge", AGAIN, "find")
        .end("judge", ENOUGH)
        .build()?;

    Ok(flow)
}

/// The call that would cost money. It is counted before anything else happens.
async fn make(calls: PathBuf, number: u64, length: usize) -> std::io::Result<Answer> {
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

    tokio::time::sleep(Duration::from_micros(random() % 2_000)).await;
    let number = number
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(key.len() as u64)
        >> 20;
    Ok(Answer {
        key,
        made,
        number,
        text: "text ".repeat(length / 5),
    })
}

/// Returns a random number, taken from the seed of a hash map.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// The maximum number of kills per run. With more kills, a run could end before the last one.
const KILLS_A_RUN: u64 = 10;

/// A run, observed from the outside.
struct Watched {
    _folder: TempDir,
    run_id: String,
    calls: PathBuf,
    /// Where the journal is, in the folder.
    place: String,
    store: Store,
    /// The offset up to which the file of calls has been read.
    read: u64,
    /// The outcome of each key that was recorded at the time of a kill.
    recorded: HashMap<String, String>,
    twice: usize,
    /// The approximate time until the first call of the program.
    start_up: Duration,
}

impl Watched {
    fn new(run_id: String, place: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let calls = folder.path().join("calls.txt");
        let place = folder.path().join(place).display().to_string();
        let store = Store::at(&place)?;
        let start_up = Duration::from_millis(20);

        Ok(Self {
            _folder: folder,
            run_id,
            calls,
            place,
            store,
            read: 0,
            recorded: HashMap::new(),
            twice: 0,
            start_up,
        })
    }

    /// Starts this program again, as the child process that works on the run.
    fn start(&self) -> Result<Child> {
        Ok(Command::new(env::current_exe()?)
            .args(["child", &self.place])
            .arg(&self.calls)
            .arg(&self.run_id)
            .spawn()?)
    }

    /// Returns the number of bytes of the journal on disk.
    fn length(&self) -> u64 {
        let place = Path::new(&self.place);
        let in_folder = fs::read_dir(place).into_iter().flatten().flatten();
        let in_folder = in_folder.map(|file| file.path());
        let in_database = ["", "-wal"].map(|ending| PathBuf::from(self.place.clone() + ending));

        let files = in_folder.chain(in_database).filter(|path| path.is_file());
        files.map(|path| length(&path)).sum()
    }

    /// Starts the child process and kills it. Returns whether it was still running when it was
    /// killed.
    async fn kill(&mut self) -> Result<bool> {
        let started = Instant::now();
        let moment = Moment::any(self.start_up);
        let mut child = self.start()?;
        let waited = moment.wait(&mut child, self);

        // It may have exited just before. The exit status shows which it was.
        child.kill().ok();
        let killed = was_killed(child.wait()?)?;
        waited?;
        let took = started.elapsed();
        let made = self.look().await?;

        if (1..5).contains(&made) {
            self.start_up = took;
        }

        eprintln!(
            "{}: killed: {killed}, {took:.1?} {moment:?}, calls: {made}",
            self.run_id
        );
        Ok(killed)
    }

    /// Called after a process has exited. Counts each call that was made although its outcome had
    /// been recorded, and each call that the process made twice. Then reads the new outcomes.
    /// Returns the number of calls that the process made.
    async fn look(&mut self) -> Result<usize> {
        let mut text = String::new();
        if let Ok(mut file) = File::open(&self.calls) {
            file.seek(SeekFrom::Start(self.read))?;
            self.read += file.read_to_string(&mut text)? as u64;
        }

        let made = text
            .split('\n')
            .filter_map(|line| line.strip_suffix(';')?.rsplit_once(' '));
        let mut own = HashSet::new();
        for (key, _) in made {
            if self.recorded.contains_key(key) || !own.insert(key) {
                self.twice += 1;
            }
        }

        for answer in self.on_record().await? {
            // The first recorded outcome of a call is kept, so that a different one is detected as
            // a loss.
            self.recorded.entry(answer.key).or_insert(answer.made);
        }

        Ok(own.len())
    }

    /// Lets the run finish, and compares it with a run that was never killed. Returns the number of
    /// outcomes that were lost.
    async fn finish(&mut self) -> Result<usize> {
        if was_killed(self.start()?.wait()?)? {
            return Err("the child was killed by somebody else".into());
        }

        self.look().await?;

        // The final state is read from the journal. Resuming a finished run makes no calls.
        let flow = flow(&self.calls)?;
        let journal = self.store.resume(&self.run_id, &flow).await?;
        let mut survey: Survey = journal.state()?;
        let ended = flow
            .begin()
            .with_journal(journal)
            .finish(&mut survey)
            .await?;

        self.look().await?;

        let mut undisturbed = Survey::default();
        let journal = MemoryJournal::new(self.run_id.as_str());
        let expected = flow
            .begin()
            .with_journal(journal)
            .finish(&mut undisturbed)
            .await?;

        let there: HashMap<_, _> = survey
            .answers
            .iter()
            .map(|answer| (&answer.key, answer))
            .collect();

        let recorded = self.recorded.iter();
        let lost = recorded
            .filter(|(key, made)| there.get(key).is_none_or(|answer| answer.made != **made));
        let missing = undisturbed.answers.iter().filter(|expected| {
            there
                .get(&expected.key)
                .is_none_or(|answer| answer.number != expected.number)
        });

        let lost = lost.count() + missing.count();
        let same = ended == expected && survey.answers.len() == undisturbed.answers.len();
        match (lost, same) {
            (0, true) => {
                println!(
                    "{}: {} steps, the same end as a run that nobody killed",
                    self.run_id.replace('-', " "),
                    ended.steps
                );
            }
            (0, false) => {
                return Err(format!("{} did more than one that nobody killed", self.run_id).into());
            }
            _ => eprintln!(
                "{} did not come to the end of one that nobody killed",
                self.run_id
            ),
        }

        Ok(lost)
    }

    /// Returns the recorded answers, if the run is on record.
    async fn on_record(&self) -> Result<Vec<Answer>> {
        let entries = match self.store.entries(&self.run_id, 0..u64::MAX).await {
            Err(error) if error.kind() == StoreErrorKind::Missing => return Ok(Vec::new()),
            entries => entries?,
        };
        let outcomes = entries
            .into_iter()
            .filter_map(|recorded| match recorded.entry {
                Entry::Outcome { outcome, .. } => Some(outcome),
                _ => None,
            });

        // The outcome of a node without a call is `null`.
        let answers = outcomes.filter_map(|outcome| outcome.read::<Option<Answer>>().transpose());
        Ok(answers.collect::<std::result::Result<_, _>>()?)
    }
}

/// Returns the length of a file, which may not exist.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

/// The moment at which to kill.
#[derive(Debug)]
enum Moment {
    /// This long after the start.
    After(Duration),
    /// After this many more bytes of calls have been written, plus a delay.
    Calls(u64, Duration),
    /// Once the journal has grown by this many bytes, possibly in the middle of a line.
    Record(u64),
}

impl Moment {
    /// `start_up` is the approximate time until the program starts to work.
    fn any(start_up: Duration) -> Self {
        match random() % 3 {
            0 => Self::After(start_up.mul_f64((random() % 1_200) as f64 / 1_000.0)),
            1 => Self::Calls(random() % 1_000, Duration::from_micros(random() % 3_000)),
            _ => Self::Record(random() % 60_000),
        }
    }

    fn wait(&self, child: &mut Child, watched: &Watched) -> Result<()> {
        let calls = length(&watched.calls);
        let record = watched.length();
        let started = Instant::now();

        while child.try_wait()?.is_none() {
            match self {
                Self::After(time) if started.elapsed() < *time => {}
                Self::Calls(bytes, _) if length(&watched.calls) <= calls + bytes => {}
                Self::Record(bytes) if watched.length() <= record + bytes => {}
                _ => break,
            }
        }

        if let Self::Calls(_, time) = self {
            std::thread::sleep(*time);
        }

        Ok(())
    }
}

/// Returns whether the child was killed. If it exits by itself, its code is 0, or 2 with a message.
fn was_killed(status: ExitStatus) -> Result<bool> {
    match status.code() {
        Some(0) => Ok(false),
        Some(2) => Err("the child failed".into()),
        _ => Ok(true),
    }
}

async fn parent(wanted: u64, place: &str) -> Result<bool> {
    println!(
        "{ROUNDS} rounds, each with a subflow that loops and a batch of {ITEMS} items, 3 at a time"
    );
    let mut kills = 0;
    let mut recorded = 0;
    let mut twice = 0;
    let mut lost = 0;
    for run in 1.. {
        let mut watched = Watched::new(format!("run-{run}"), place)?;
        for _ in 0..KILLS_A_RUN.min(wanted - kills) {
            if !watched.kill().await? {
                break;
            }
            kills += 1;
        }

        lost += watched.finish().await?;
        recorded += watched.recorded.len();
        twice += watched.twice;

        if kills == wanted {
            break;
        }
    }

    println!("kills: {kills}, recorded calls: {recorded}, made twice: {twice}, lost: {lost}");
    Ok(twice == 0 && lost == 0)
}

/// The name of the folder with the journals.
const FOLDER: &str = "runs";

async fn with_kills(kills: &str, place: &str) -> Result<bool> {
    match kills.parse() {
        Ok(kills) => parent(kills, place).await,
        Err(_) => Err(format!("--kills: `{kills}` is no number").into()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["child", place, calls, run_id] => {
            let done = child(place, calls.as_ref(), run_id).await;
            done.map(|()| true)
        }
        [] => parent(5, FOLDER).await,
        ["--kills", kills] => with_kills(kills, FOLDER).await,
        ["--kills", kills, "--journal", place] => with_kills(kills, place).await,
        _ => Err("expected no arguments, or `--kills N` and perhaps `--journal NAME`".into()),
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
