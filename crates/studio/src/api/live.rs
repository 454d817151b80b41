//! The events of a run, as they are recorded.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use cogwork_flow::engine::Entry;
use cogwork_journal::{EventLine, RecordedEntry, RunSummary, Store, StoreError};
use cogwork_trace::EventReader;
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use super::extract::Params;
use super::{Shared, View, entries};
use crate::growing_text::PieceWatcher;
use crate::http::Refusal;

/// How often to look for new events.
const AGAIN: Duration = Duration::from_millis(200);

/// How often to look for new entries of a journal, which may be read from its beginning.
const JOURNAL_AGAIN: Duration = Duration::from_secs(1);

/// How often something is sent, so that a browser that left is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How many entries of a journal are read at once.
const ENTRIES: u64 = 500;

/// Sends the events as they are recorded, from the one after `Last-Event-ID`.
///
/// An event without a name is one of the run, and its id is the position after it. The others are
/// `current` (all that is recorded so far was sent), `piece` (a part of a text that is being written)
/// and `refused` (the events cannot be read).
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
    Extension(view): Extension<View>,
    Params(watching): Params<Watching>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    let run = shared.runner.find(&watching.id).await?;
    let place = Arc::clone(&shared.streams).try_acquire_owned();
    let place = place.map_err(|_| {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many runs are watched; close other windows of the studio",
        )
    })?;

    // The header is that of a browser that connects again.
    let header = headers.get("last-event-id");
    let header = header.and_then(|id| id.to_str().ok());
    let from = header.and_then(Position::read);
    let position = Position::begin(from, &shared, &run.run_id, view).await;
    let first = match position {
        Position::Event(first) => first,
        Position::Entry { .. } => 0,
    };
    let mut live = Live {
        reader: EventReader::new(shared.runner.store(), &run.run_id, first),
        shared,
        run,
        view,
        position,
        pieces: PieceWatcher::default(),
        waiting: VecDeque::new(),
        is_opened: false,
        is_current: false,
        is_done: false,
        was_completed: false,
        _place: place,
    };

    live.watch_pieces();
    let events = stream::unfold(live, |mut live| async move {
        let event = live.next().await?;
        Some((Ok::<_, Infallible>(event), live))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

/// What a request watches.
#[derive(Deserialize)]
pub(super) struct Watching {
    id: String,
}

/// Where to continue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Among the recorded events, beginning at this one.
    Event(u64),
    /// At the entry of the journal with this index, after a snapshot with this number of steps; 0 if
    /// there was none. A snapshot replaces the entries before it.
    Entry { snapshot: u64, index: u64 },
}

impl Position {
    /// Reads the id of an event.
    fn read(id: &str) -> Option<Self> {
        let Some(id) = id.strip_prefix('j') else {
            return id.parse().ok().map(Self::Event);
        };
        let (snapshot, index) = id.split_once('-')?;
        Some(Self::Entry {
            snapshot: snapshot.parse().ok()?,
            index: index.parse().ok()?,
        })
    }

    /// Returns where a client begins that continues here. Only the full view has the recorded events.
    async fn begin(from: Option<Self>, shared: &Shared, run_id: &str, view: View) -> Self {
        let has_events = view == View::Full && shared.has_events(run_id).await;
        match from {
            Some(from @ Self::Event(_)) if has_events => from,
            Some(from @ Self::Entry { .. }) if !has_events => from,
            _ if has_events => Self::Event(0),
            _ => Self::Entry {
                snapshot: 0,
                index: 0,
            },
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(first) => first.fmt(f),
            Self::Entry { snapshot, index } => write!(f, "j{snapshot}-{index}"),
        }
    }
}

/// A live view of a run.
struct Live {
    shared: Arc<Shared>,
    run: RunSummary,
    view: View,
    position: Position,
    reader: EventReader,
    pieces: PieceWatcher,
    waiting: VecDeque<Event>,
    /// Whether the first event was sent, of a run that is shown from its outcomes.
    is_opened: bool,
    /// Whether all that was recorded at the beginning was sent.
    is_current: bool,
    is_done: bool,
    /// Whether the run was resumed to record its answer, which a crash has lost.
    was_completed: bool,
    _place: OwnedSemaphorePermit,
}

impl Live {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.is_done {
                return None;
            }

            let is_end = self.read().await;
            if !self.waiting.is_empty() || self.is_done || !is_end {
                continue;
            }
            if !self.is_current {
                self.is_current = true;
                return Some(Event::default().event("current").data("{}"));
            }

            let again = self.again();
            let stopping = self.shared.runner.stopping();
            tokio::select! {
                // The server waits for all streams when it shuts down.
                () = stopping.cancelled() => return None,
                piece = self.pieces.next() => {
                    let text = serde_json::to_string(&piece).unwrap_or_default();
                    return Some(Event::default().event("piece").data(text));
                }
                () = tokio::time::sleep(again) => self.watch_pieces(),
            }
        }
    }

    /// Watches the pieces of a run that was started or resumed here.
    fn watch_pieces(&mut self) {
        if self.pieces.is_open() {
            return;
        }

        let pieces = self.shared.runner.pieces(&self.run.run_id);
        let pieces = pieces.filter(|_| self.view == View::Full);
        self.pieces = pieces.map_or_else(PieceWatcher::default, |pieces| pieces.watch());
    }

    fn again(&self) -> Duration {
        match self.position {
            Position::Entry { .. } if !self.shared.runner.is_running(&self.run.run_id) => {
                JOURNAL_AGAIN
            }
            _ => AGAIN,
        }
    }

    /// Reads what is new. Returns whether nothing more is recorded yet.
    async fn read(&mut self) -> bool {
        match self.position {
            Position::Event(_) => self.read_events().await,
            Position::Entry { snapshot, index } => {
                let read = self.read_entries(snapshot, index).await;
                if let Err(error) = read {
                    self.refuse(&error.to_string());
                }
                true
            }
        }
    }

    async fn read_events(&mut self) -> bool {
        let events = match self.reader.next().await {
            Ok(events) => events,
            Err(error) => {
                self.refuse(&error.to_string());
                return true;
            }
        };

        let is_end = events.is_empty();
        for event in events {
            self.add(event);
        }
        is_end
    }

    fn add(&mut self, event: EventLine) {
        // A crash may have cut one off.
        if serde_json::from_str::<&RawValue>(&event.json).is_ok() {
            let id = event.next.to_string();
            // A carriage return between values would end the line of the stream.
            let text = event.json.replace('\r', " ");
            self.waiting.push_back(Event::default().id(id).data(text));
        }
    }

    async fn read_entries(&mut self, snapshot: u64, index: u64) -> Result<(), StoreError> {
        let run_id = self.run.run_id.clone();
        // In parts, because a journal may be long.
        let range = index..index.saturating_add(ENTRIES);
        let read = self.store().entries(&run_id, range).await?;
        let first = self.store().entries(&run_id, 0..1).await?;
        let current = match first.first().map(|first| &first.entry) {
            Some(Entry::Snapshot(snapshot)) => snapshot.steps,
            _ => 0,
        };
        // The journal was folded since, so its entries have other indexes.
        if current != snapshot {
            self.position = Position::Entry {
                snapshot: current,
                index: 0,
            };
            return Ok(());
        }

        if index == 0 && !self.is_opened {
            self.is_opened = true;
            let header = entries::header(&self.run).to_string();
            self.waiting.push_back(Event::default().data(header));
        }
        for entry in read {
            if !self.add_entry(&entry, snapshot).await {
                break;
            }
        }
        Ok(())
    }

    /// Adds the event of an entry. Returns whether that is possible now.
    async fn add_entry(&mut self, entry: &RecordedEntry, snapshot: u64) -> bool {
        let mut event = entries::event(entry, self.run.started, self.view);
        if let (Entry::Ended { .. }, Some(event)) = (&entry.entry, &mut event) {
            let Some(answer) = self.answer().await else {
                return false;
            };
            event["answer"] = json!(answer);
        }

        let index = entry.index + 1;
        self.position = Position::Entry { snapshot, index };
        if let Some(event) = event {
            let id = self.position.to_string();
            let event = Event::default().id(id).data(event.to_string());
            self.waiting.push_back(event);
        }
        true
    }

    /// Returns the answer of a run that has ended, if it has one; `None` if that isn't known yet. If the
    /// program was killed before it recorded the answer, the run is resumed, which only replays it.
    async fn answer(&mut self) -> Option<Option<String>> {
        let shared = Arc::clone(&self.shared);
        let run_id = &self.run.run_id;
        // In this order: the answer is recorded while the run is in use.
        let is_in_use = self.store().is_in_use(run_id).await.unwrap_or(false);
        let totals = shared.totals.update(self.store(), &self.run).await;
        let answer = totals.and_then(|totals| totals.answer);
        if answer.is_some() || self.view == View::Full {
            return Some(answer);
        }
        if is_in_use {
            return None;
        }

        let is_completed = self.was_completed || !shared.runner.offers(&self.run.flow);
        self.was_completed = true;
        if is_completed || shared.runner.resume(run_id).await.is_err() {
            return Some(None);
        }
        None
    }

    fn store(&self) -> &Store {
        self.shared.runner.store()
    }

    fn refuse(&mut self, error: &str) {
        let text = json!({"error": error}).to_string();
        self.waiting
            .push_back(Event::default().event("refused").data(text));
        self.is_done = true;
    }
}
