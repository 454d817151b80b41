use std::collections::{HashMap, VecDeque};

use cogwork_flow::engine::{Entry, Json};
use cogwork_journal::{EventLine, Store, StoreError};
use serde_json::{Map, Value};

/// The field of an event whose outcome is in the journal.
pub(crate) const IN_JOURNAL: &str = "in_journal";

/// How many entries of a journal are read at once.
const ENTRIES: u64 = 500;

/// Reads the events of a run in a store, with the outcomes that they leave to the journal of the run.
///
/// A journal that was [folded](cogwork_flow::Run::with_fold_every) has the outcomes after the last
/// snapshot alone.
///
/// ```
/// use cogwork_flow::{Flow, from_exec};
/// use cogwork_journal::Store;
/// use cogwork_trace::{EventReader, RecorderSettings, RunRecorder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::files(folder.path());
/// let double = from_exec(async |n: u32| Ok::<_, std::io::Error>(2 * n));
/// let flow = Flow::from_node("double", double)?;
///
/// let journal = store.start("21", &flow, &21).await?;
/// let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
/// flow.begin().with_journal(journal).with_events(&recorder).finish(&mut 21).await?;
/// recorder.flush().await?;
///
/// let mut reader = EventReader::new(&store, "21", 0);
/// let events = reader.next().await?;
/// assert!(events.iter().any(|event| event.json.contains(r#""outcome":42"#)));
/// assert!(reader.next().await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EventReader {
    store: Store,
    run_id: String,
    /// The position of the next event.
    position: u64,
    outcomes: Outcomes,
}

impl EventReader {
    /// Creates a reader that begins at this position: 0, or the [`next`](EventLine::next) of an event.
    pub fn new(store: &Store, run_id: &str, position: u64) -> Self {
        Self {
            store: store.clone(),
            run_id: run_id.to_owned(),
            position,
            outcomes: Outcomes::default(),
        }
    }

    /// Reads some events; none at their end. If the run is in use, more can follow.
    ///
    /// # Errors
    ///
    /// Returns an error if the run doesn't exist, or if the store cannot be read.
    pub async fn next(&mut self) -> Result<Vec<EventLine>, StoreError> {
        let mut events = self.store.events(&self.run_id, self.position).await?;

        let marked = events.iter_mut().filter_map(|event| {
            let fields = marked(&event.json)?;
            Some((event, fields))
        });
        let marked: Vec<_> = marked.collect();
        if !marked.is_empty() {
            // Each outcome is written before its event, so all of them are on record.
            self.outcomes.read(&self.store, &self.run_id).await?;
        }

        for (event, fields) in marked {
            // If a snapshot has replaced the outcome, the event stays without it.
            if let Some(fields) = self.outcomes.put_into(fields) {
                event.json = Value::Object(fields).to_string();
            }
        }
        // Only now, so that no event is lost if the outcomes could not be read.
        self.position = events.last().map_or(self.position, |last| last.next);
        Ok(events)
    }
}

/// Returns the fields of an event whose outcome is in the journal.
fn marked(event: &str) -> Option<Map<String, Value>> {
    // Few events have an outcome, and the others needn't be parsed.
    let is_candidate = event.contains(IN_JOURNAL);
    let fields: Map<_, _> = is_candidate.then(|| serde_json::from_str(event).ok())??;
    fields.contains_key(IN_JOURNAL).then_some(fields)
}

/// The outcomes and the used answers in a journal, as far as it was read.
#[derive(Debug, Default)]
struct Outcomes {
    by_step: HashMap<String, Json>,
    /// The answers that no step has used yet, by event.
    answers: HashMap<String, VecDeque<Json>>,
    /// The index of the next entry.
    next: u64,
    /// The number of steps before the snapshot with which the journal begins; 0 if there is none.
    folded: u64,
}

impl Outcomes {
    /// Reads all entries that are new.
    async fn read(&mut self, store: &Store, run_id: &str) -> Result<(), StoreError> {
        // The first entry shows whether the record was folded since the last call.
        let first = store.entries(run_id, 0..1).await?;
        let folded = match first.first().map(|first| &first.entry) {
            Some(Entry::Snapshot(snapshot)) => snapshot.steps,
            _ => 0,
        };
        if folded != self.folded {
            // A snapshot has replaced the entries that were read, and all have new indexes.
            (self.folded, self.next) = (folded, 0);
            // A snapshot repeats the unused answers, and outcomes that were read before stay known.
            self.answers.clear();
        }

        loop {
            let entries = store
                .entries(run_id, self.next..self.next + ENTRIES)
                .await?;
            if entries.is_empty() {
                return Ok(());
            }

            self.next += entries.len() as u64;
            entries.into_iter().for_each(|read| self.add(read.entry));
        }
    }

    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Outcome { step, outcome } => drop(self.by_step.insert(step, outcome)),
            Entry::Answer { event, answer } => {
                self.answers.entry(event).or_default().push_back(answer);
            }
            Entry::Taken { step, event } => {
                let answer = self.take_answer(&event);
                self.by_step.extend(answer.map(|answer| (step, answer)));
            }
            Entry::Refused { event, .. } => drop(self.take_answer(&event)),
            _ => {}
        }
    }

    /// Adds the outcome of its step to the fields of an event, if it is known.
    fn put_into(&self, mut fields: Map<String, Value>) -> Option<Map<String, Value>> {
        let step = fields.get("step")?.as_str()?;
        let outcome = self.by_step.get(step)?.read().ok()?;

        fields.remove(IN_JOURNAL);
        fields.insert("outcome".to_owned(), outcome);
        Some(fields)
    }

    fn take_answer(&mut self, event: &str) -> Option<Json> {
        self.answers.get_mut(event)?.pop_front()
    }
}
