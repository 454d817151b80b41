use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::codec::{OutcomeProblem, OutcomeProblemKind, decode, encode};
use super::{Awaited, Journal, Progress, StepError, Waited, Work};
use crate::{BoxError, StepName};

/// One JSON text, kept as it is written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// A value as JSON.
    ///
    /// # Errors
    ///
    /// When it cannot be written as JSON.
    pub fn of(value: &impl Serialize) -> Result<Self, OutcomeProblem> {
        match encode(value, usize::MAX)? {
            bytes if bytes.is_empty() => {
                Err(OutcomeProblem::new(OutcomeProblemKind::NotRecordable, "a part of it is `Unrecorded`"))
            }
            bytes => Self::from_bytes(bytes),
        }
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<Self, OutcomeProblem> {
        let refused =
            |error: &dyn fmt::Display| OutcomeProblem::new(OutcomeProblemKind::NotRecordable, error);
        let text = String::from_utf8(bytes).map_err(|error| refused(&error))?;
        if text.contains(['\n', '\r']) {
            return Err(refused(&"it has more than one line"));
        }
        RawValue::from_string(text).map(Self).map_err(|error| refused(&error))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// When it is no `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, OutcomeProblem> {
        decode(self.as_str().as_bytes(), OutcomeProblemKind::Unreadable)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A line of a record. Serialised it reads `{"outcome":{"step":"shop/charge#3","outcome":…}}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Entry {
    /// What a step brought.
    Outcome {
        /// Its name.
        step: String,
        /// What its `exec` answered.
        outcome: Json,
    },
    /// A step sleeps.
    Sleep {
        /// Its name.
        step: String,
        /// Until when, in milliseconds since 1970.
        until: u64,
    },
    /// A step waits for an event.
    Waiting {
        /// Its name.
        step: String,
        /// The event.
        event: String,
        /// What for, for whoever is to answer; empty where nothing was said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// Until when, in milliseconds since 1970.
        until: Option<u64>,
    },
    /// An event came. Its answer is kept until a step takes it.
    Answer {
        /// The event.
        event: String,
        /// What was delivered.
        answer: Json,
    },
    /// A step took the oldest answer that was kept for its event.
    Taken {
        /// Its name.
        step: String,
        /// The event.
        event: String,
    },
    /// A step could not read the oldest answer that was kept for its event; the answer is gone.
    Refused {
        /// The event.
        event: String,
        /// Why not, in one line.
        error: String,
    },
    /// No answer came in time.
    TimedOut {
        /// The step that waited.
        step: String,
    },
    /// The run as it stood after a step, in place of all before.
    Snapshot(Snapshot),
    /// The run stopped. It may be taken up again.
    Failed {
        /// Why, in one line.
        error: String,
    },
    /// The run came to its end.
    Ended {
        /// The label it ended on.
        action: String,
        /// Steps in all.
        steps: u64,
    },
}

/// A run as it stood between two steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Snapshot {
    /// The node to be visited next: the names of the subflows down to it, and its own.
    pub node: Vec<String>,
    /// How often the run went on, not counting steps inside items and branches.
    pub number: u64,
    /// Steps in all.
    pub steps: u64,
    /// The state.
    pub state: Json,
}

impl Snapshot {
    pub(crate) fn new(node: Vec<String>, number: u64, steps: u64, state: Json) -> Self {
        Self { node, number, steps, state }
    }
}

/// Where a [`Recorded`] journal writes its lines.
///
/// [`push`](Log::push) queues and [`written`](Log::written) waits: a line whose future is dropped
/// is written all the same, and a run that comes again for the same step waits for that line.
#[async_trait]
pub trait Log: Send + Sync {
    /// Takes a line to be written after all lines taken before. Answers its number; numbers grow.
    fn push(&self, entry: Entry) -> u64;

    /// Takes lines that are to stand in place of all before, at once: after a crash either all of
    /// the old or all of the new are there.
    fn replace(&self, entries: Vec<Entry>) -> u64;

    /// Waits until a line is where a crash cannot take it away.
    ///
    /// # Errors
    ///
    /// When it, or a line before it, could not be written.
    async fn written(&self, number: u64) -> Result<(), BoxError>;
}

/// Keeps nothing beyond the process.
#[async_trait]
impl Log for () {
    fn push(&self, _: Entry) -> u64 {
        0
    }

    fn replace(&self, _: Vec<Entry>) -> u64 {
        0
    }

    async fn written(&self, _: u64) -> Result<(), BoxError> {
        Ok(())
    }
}

/// A journal that keeps its record in memory: for tests, and for runs that pause within one
/// process.
///
/// ```
/// use std::sync::Arc;
/// use cogwork_flow::{Flow, Journal, MemoryJournal, Stepped, Wait};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ask = Wait::for_event("name", |text: &mut String, name: String| text.push_str(&name));
/// let flow = Flow::builder("greet").start("ask").wait("ask", ask).end("ask", "default").build()?;
///
/// let mut text = "Hello, ".to_owned();
/// let mut run = flow.begin().journal(MemoryJournal::new("greeting 1"));
/// let Stepped::Paused(paused) = run.advance(&mut text).await? else { unreachable!() };
/// assert_eq!(paused.to_string(), "paused at greet/ask#1 for the event `name`");
///
/// run.deliver("name", &"Ada").await?;
/// run.finish(&mut text).await?;
/// assert_eq!(text, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
pub type MemoryJournal = Recorded<()>;

impl MemoryJournal {
    /// Forgets the steps that are whole, and keeps the answers that none has taken.
    pub(crate) fn forget_steps(&self) {
        let mut index = self.index();
        index.steps.clear();
        index.moments.clear();
    }

    /// An empty record.
    pub fn new(run_id: impl Into<String>) -> Self {
        Self { run_id: run_id.into(), clock: Clock::new(), index: Mutex::default(), log: () }
    }
}

/// A journal over a list of lines: what a step asks for is looked up, what is new is written to a
/// [`Log`] before it is used.
pub struct Recorded<L> {
    run_id: String,
    clock: Clock,
    index: Mutex<Index>,
    log: L,
}

/// How many answers may be kept for one event.
const MAX_ANSWERS: usize = 1_000;

/// What is known of a run: the lines, and where to find them.
#[derive(Default)]
struct Index {
    steps: HashMap<String, Known>,
    /// The name of the step at each moment, to see that a replay goes the same way.
    moments: HashMap<String, String>,
    answers: HashMap<String, VecDeque<Json>>,
    snapshot: Option<Snapshot>,
    /// The highest number of a step on record, of those that are not inside items and branches.
    last: u64,
    ended: bool,
}

struct Known {
    what: What,
    /// The line to wait for before it is used.
    line: u64,
}

#[derive(Clone)]
enum What {
    Outcome(Json),
    Sleep { until: u64 },
    Waiting { until: Option<u64> },
    Answered { answer: Json },
    TimedOut,
}

impl<L: Log> Recorded<L> {
    /// A journal over the lines on record, which goes on in `log`.
    ///
    /// # Errors
    ///
    /// When a line cannot follow those before it: its index, and why.
    pub fn over(
        run_id: impl Into<String>,
        entries: impl IntoIterator<Item = Entry>,
        log: L,
    ) -> Result<Self, (usize, String)> {
        let mut index = Index::default();
        for (number, entry) in entries.into_iter().enumerate() {
            index.check(&entry).map_err(|problem| (number, problem))?;
            index.add(entry, 0);
        }
        Ok(Self { run_id: run_id.into(), clock: Clock::new(), index: Mutex::new(index), log })
    }

    /// The log behind it.
    pub fn log(&self) -> &L {
        &self.log
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        // Nothing that is done under the lock panics half way.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a step, once it is where a crash cannot take it away.
    async fn known(&self, step: &str) -> Result<Option<What>, BoxError> {
        let known = self.index().steps.get(step).map(|known| (known.what.clone(), known.line));
        match known {
            None => Ok(None),
            Some((what, line)) => self.log.written(line).await.map(|()| Some(what)),
        }
    }

    /// Adds a line, so that whoever asks from now on finds it, and waits until it is written.
    async fn record(&self, entry: Entry) -> Result<(), BoxError> {
        let line = {
            let mut index = self.index();
            // Before it is pushed: a record with a line that cannot follow could not be read again.
            index.check(&entry)?;
            let line = self.log.push(entry.clone());
            index.add(entry, line);
            line
        };
        self.log.written(line).await
    }
}

impl Index {
    /// Whether a line can follow those before it.
    fn check(&self, entry: &Entry) -> Result<(), String> {
        let waits = |step| match self.steps.get(step) {
            Some(Known { what: What::Waiting { .. }, .. }) => Ok(()),
            _ => Err(format!("the step `{step}` does not wait for an event")),
        };
        let answers = |event| self.answers.get(event).map_or(0, VecDeque::len);
        let answered = |event| match answers(event) {
            0 => Err(format!("no answer to `{event}` is on record")),
            _ => Ok(()),
        };
        match entry {
            Entry::Outcome { step, .. } | Entry::Sleep { step, .. } | Entry::Waiting { step, .. }
                if self.steps.contains_key(step) =>
            {
                Err(format!("the step `{step}` is on record already"))
            }
            Entry::Answer { event, .. } if answers(event) >= MAX_ANSWERS => {
                Err(format!("{MAX_ANSWERS} answers to `{event}` wait for a step already"))
            }
            Entry::Taken { step, event } => waits(step).and_then(|()| answered(event)),
            Entry::Refused { event, .. } => answered(event),
            Entry::TimedOut { step } => waits(step),
            _ => Ok(()),
        }
    }

    /// Adds a line that can follow.
    fn add(&mut self, entry: Entry, line: u64) {
        // What follows an end, as when a longer flow takes the run up, makes it none.
        self.ended = matches!(entry, Entry::Ended { .. });
        match entry {
            Entry::Outcome { step, outcome } => self.know(step, What::Outcome(outcome), line),
            Entry::Sleep { step, until } => self.know(step, What::Sleep { until }, line),
            Entry::Waiting { step, until, .. } => self.know(step, What::Waiting { until }, line),
            Entry::Answer { event, answer } => self.answers.entry(event).or_default().push_back(answer),
            Entry::Taken { step, event } => {
                if let Some(answer) = self.take(&event) {
                    self.know(step, What::Answered { answer }, line);
                }
            }
            Entry::Refused { event, .. } => drop(self.take(&event)),
            Entry::TimedOut { step } => self.know(step, What::TimedOut, line),
            Entry::Snapshot(snapshot) => *self = Self { snapshot: Some(snapshot), ..Self::default() },
            Entry::Failed { .. } | Entry::Ended { .. } => {}
        }
    }

    /// What becomes of a wait takes the place of the wait.
    fn know(&mut self, step: String, what: What, line: u64) {
        for (moment, visited) in moments(&step) {
            self.moments.insert(moment, visited.to_owned());
        }
        self.last = self.last.max(outermost_number(&step));
        self.steps.insert(step, Known { what, line });
    }

    fn take(&mut self, event: &str) -> Option<Json> {
        self.answers.get_mut(event)?.pop_front()
    }

    /// That no other node was visited where a step is that is not on record.
    fn same_way(&self, step: &str) -> Result<(), StepError> {
        let other = moments(step).find_map(|(moment, visited)| {
            self.moments.get(&moment).filter(|other| other.as_str() != visited)
        });
        match other {
            Some(other) => Err(StepError::journal(format!(
                "the run goes another way than the one on record, which visited `{other}` here: with the same state \
                 and outcomes, `prep` and `post` must do the same again"
            ))),
            None => Ok(()),
        }
    }

    /// A snapshot of a run that is past its record, and the answers not taken.
    fn after(&self, snapshot: Snapshot) -> Vec<Entry> {
        let mut entries = vec![Entry::Snapshot(snapshot)];
        for (event, answers) in &self.answers {
            entries.extend(
                answers.iter().map(|answer| Entry::Answer { event: event.clone(), answer: answer.clone() }),
            );
        }
        entries
    }
}

#[async_trait]
impl<L: Log> Journal for Recorded<L> {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    async fn step(&self, step: &StepName, work: Work<'_>) -> Result<Vec<u8>, StepError> {
        let name = step.to_string();
        match self.known(&name).await.map_err(StepError::journal)? {
            Some(What::Outcome(outcome)) => return Ok(outcome.as_str().as_bytes().to_vec()),
            Some(_) => return Err(StepError::journal(other_kind(&name))),
            None => self.index().same_way(&name)?,
        }
        let bytes = work.run().await?;
        if !bytes.is_empty() {
            let outcome = Json::from_bytes(bytes.clone()).map_err(StepError::journal)?;
            self.record(Entry::Outcome { step: name, outcome }).await.map_err(StepError::journal)?;
        }
        Ok(bytes)
    }

    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError> {
        let name = step.to_string();
        let until = match self.known(&name).await? {
            Some(What::Sleep { until }) => until,
            Some(_) => return Err(other_kind(&name).into()),
            None => {
                self.index().same_way(&name)?;
                let until = self.clock.after(duration);
                self.record(Entry::Sleep { step: name, until }).await?;
                until
            }
        };
        tokio::time::sleep(self.clock.left(until)).await;
        Ok(())
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        let (name, event) = (step.to_string(), awaited.event.to_owned());
        let until = match self.known(&name).await? {
            Some(What::Answered { answer }) => {
                return Ok(Waited::Answered(answer.as_str().as_bytes().to_vec()));
            }
            Some(What::TimedOut) => return Ok(Waited::TimedOut),
            Some(What::Waiting { until }) => until,
            Some(_) => return Err(other_kind(&name).into()),
            None => {
                self.index().same_way(&name)?;
                let until = awaited.within.map(|within| self.clock.after(within));
                let why = awaited.why.chars().take(MAX_WHY).collect();
                self.record(Entry::Waiting { step: name.clone(), event: event.clone(), why, until }).await?;
                until
            }
        };
        let answer = self.index().answers.get(&event).and_then(|answers| answers.front().cloned());
        if let Some(answer) = answer {
            let bytes = answer.as_str().as_bytes().to_vec();
            if let Err(error) = awaited.accept(&bytes) {
                let line: String = error.to_string().chars().take(MAX_ERROR).collect();
                self.record(Entry::Refused { event, error: line }).await?;
                return Err(error);
            }
            self.record(Entry::Taken { step: name, event }).await?;
            return Ok(Waited::Answered(bytes));
        }
        if until.is_some_and(|until| self.clock.left(until).is_zero()) {
            self.record(Entry::TimedOut { step: name }).await?;
            return Ok(Waited::TimedOut);
        }
        let until = until.and_then(|until| UNIX_EPOCH.checked_add(Duration::from_millis(until)));
        Ok(Waited::Pending { until })
    }

    async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError> {
        let answer = Json::from_bytes(answer)?;
        self.record(Entry::Answer { event: event.to_owned(), answer }).await
    }

    async fn progress(&self, progress: Progress<'_>) -> Result<(), BoxError> {
        match progress {
            Progress::At { .. } => Ok(()),
            Progress::Ended { .. } if self.index().ended => Ok(()),
            Progress::Ended { action, steps } => {
                self.record(Entry::Ended { action: action.to_string(), steps }).await
            }
            Progress::Failed { error } => {
                self.record(Entry::Failed { error: error.chars().take(MAX_ERROR).collect() }).await
            }
        }
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.index().snapshot.clone()
    }

    async fn fold(&self, snapshot: Snapshot) -> Result<(), BoxError> {
        let line = {
            let mut index = self.index();
            // In a replay what follows must stay on record, and to write it again at each fold would
            // cost the square of it.
            if snapshot.number < index.last {
                return Ok(());
            }
            let entries = index.after(snapshot);
            let line = self.log.replace(entries.clone());
            for entry in entries {
                index.add(entry, line);
            }
            line
        };
        self.log.written(line).await
    }
}

/// How much of what a run waits for is put on record, in characters.
const MAX_WHY: usize = 10_000;

/// How much of an error is put on record, in characters.
const MAX_ERROR: usize = 1_000;

fn other_kind(step: &str) -> String {
    format!("the step `{step}` is on record as another kind of step")
}

/// What only one node can have been visited at in a run, and that node: of the step, without its
/// item, and of each step that it is inside of.
fn moments(step: &str) -> impl Iterator<Item = (String, &str)> {
    // Names hold none of the marks, so each `#` is that of a step.
    step.match_indices('#').filter_map(|(mark, _)| {
        let (before, number) = (step.get(..mark)?, step.get(mark + 1..)?);
        let digits = number.find(|character: char| !character.is_ascii_digit()).unwrap_or(number.len());
        // Up to the last item or branch the way is part of the moment; what follows are subflows.
        let way = before.rfind(']').and_then(|end| before.get(..=end)).unwrap_or("");
        Some((format!("{way}#{}", number.get(..digits)?), step.get(..=mark + digits)?))
    })
}

fn outermost_number(step: &str) -> u64 {
    let number = step.split_once('#').map_or("", |(_, rest)| rest);
    let digits = number.find(|character: char| !character.is_ascii_digit()).unwrap_or(number.len());
    number.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// The time of day, as far as tokio's clock has come since this first looked: nobody can set that one
/// back, and tests can pause it.
struct Clock {
    then: SystemTime,
    since: Instant,
}

impl Clock {
    fn new() -> Self {
        let since = Instant::now();
        // A clock that was paused may be ahead, and a journal opened later must not fall behind it.
        let ahead = since.into_std().saturating_duration_since(std::time::Instant::now());
        let now = SystemTime::now();
        Self { then: now.checked_add(ahead).unwrap_or(now), since }
    }

    /// Milliseconds since 1970, so long from now.
    fn after(&self, duration: Duration) -> u64 {
        let then = self.then.duration_since(UNIX_EPOCH).unwrap_or_default();
        let after = then.saturating_add(self.since.elapsed()).saturating_add(duration);
        // No later than a `SystemTime` can say anywhere: some hundred years from now.
        u64::try_from(after.as_millis()).unwrap_or(u64::MAX).min(LAST_MILLISECOND)
    }

    fn left(&self, until: u64) -> Duration {
        Duration::from_millis(until.saturating_sub(self.after(Duration::ZERO)))
    }
}

/// The end of the year 2500.
const LAST_MILLISECOND: u64 = 16_756_761_600_000;

impl<L> fmt::Debug for Recorded<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}
