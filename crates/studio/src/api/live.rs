//! The events of a run, as they are recorded.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use cogwork_journal::{EventLine, RunSummary};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use super::journal_events;
use crate::http::Refusal;
use crate::pieces::PieceWatcher;
use crate::shared::Shared;

/// How often to look for new events.
const AGAIN: Duration = Duration::from_millis(200);

/// How often to look for new entries of a journal, which may be read from its beginning.
const JOURNAL_AGAIN: Duration = Duration::from_secs(1);

/// How often something is sent, so that a browser that left is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How many bytes of events one live view is sent before it is asked whether to continue.
const VIEW_BYTES: u64 = 64 << 20;

/// How many entries of a journal are read at once.
const ENTRIES: u64 = 500;

/// Sends the events as they are recorded, from the one after `Last-Event-ID`.
///
/// An event without a name is one of the run, and its id is the position after it. The others are
/// `damaged` (one was skipped), `current` (all that is recorded so far was sent), `limit` (more on
/// request), `replaced` (there are events now, of a run that had only a journal) and `refused` (they
/// cannot be read).
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
    watching: Result<Query<Watching>, QueryRejection>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    let Query(watching) = watching.map_err(|error| Refusal::bad_request(error.body_text()))?;
    let run_id = watching.id;
    let run = shared.find(&run_id).await?;
    let run = run.ok_or_else(Refusal::missing_run)?;
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
    let from = header.or(watching.from.as_deref()).and_then(Place::read);
    let source = source(&shared, &run, from).await;
    let mut live = Live {
        stopped: shared.stop.clone(),
        shared,
        run,
        source,
        pieces: PieceWatcher::default(),
        waiting: VecDeque::new(),
        sent: 0,
        is_current: false,
        is_done: false,
        _place: place,
    };

    live.watch_pieces();
    let events = stream::unfold(live, |mut live| async move {
        let event = live.next().await?;
        Some((Ok::<_, Infallible>(event), live))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

/// Where the events come from.
enum Source {
    /// The events, from this position.
    Events(u64),
    /// The entries of a run without events, from the one with this index.
    Entries(u64),
}

/// What a request watches.
#[derive(Deserialize)]
pub(super) struct Watching {
    id: String,
    /// The id of the last event that arrived.
    from: Option<String>,
}

/// Where to continue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Event(u64),
    Entry(u64),
}

impl Place {
    /// Reads the id of an event.
    fn read(id: &str) -> Option<Self> {
        match id.strip_prefix('j') {
            Some(index) => index.parse().ok().map(Self::Entry),
            None => id.parse().ok().map(Self::Event),
        }
    }
}

async fn source(shared: &Shared, run: &RunSummary, from: Option<Place>) -> Source {
    match (shared.has_events(&run.run_id).await, from) {
        (true, Some(Place::Event(position))) => Source::Events(position),
        (true, _) => Source::Events(0),
        (false, Some(Place::Entry(index))) => Source::Entries(index),
        (false, _) => Source::Entries(0),
    }
}

/// A live view of a run.
struct Live {
    shared: Arc<Shared>,
    stopped: tokio_util::sync::CancellationToken,
    run: RunSummary,
    source: Source,
    pieces: PieceWatcher,
    waiting: VecDeque<Event>,
    sent: u64,
    /// Whether all that was recorded at the beginning was sent.
    is_current: bool,
    is_done: bool,
    _place: OwnedSemaphorePermit,
}

impl Live {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.is_done || self.stopped.is_cancelled() {
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
            tokio::select! {
                () = self.stopped.cancelled() => return None,
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

        let pieces = self.shared.flows.pieces(&self.run.run_id);
        self.pieces = pieces.map_or_else(PieceWatcher::default, |pieces| pieces.watch());
    }

    fn again(&self) -> Duration {
        match self.source {
            Source::Events(_) => AGAIN,
            Source::Entries(_) => JOURNAL_AGAIN,
        }
    }

    /// Reads what is new. Returns whether nothing more is recorded yet.
    async fn read(&mut self) -> bool {
        match self.source {
            Source::Events(position) => self.read_events(position).await,
            Source::Entries(index) => {
                self.read_entries(index).await;
                true
            }
        }
    }

    async fn read_events(&mut self, position: u64) -> bool {
        let events = match self.shared.store.events(&self.run.run_id, position).await {
            Ok(events) => events,
            Err(error) => {
                self.refuse(&error.to_string());
                return true;
            }
        };

        if let Some(last) = events.last() {
            self.source = Source::Events(last.next);
        }
        let is_end = events.is_empty();
        events.into_iter().for_each(|event| self.add(&event));
        is_end
    }

    fn add(&mut self, event: &EventLine) {
        if self.is_done {
            return;
        }

        // An event of a stream is a single line, and a lone carriage return ends one, too.
        let text = event.json.replace('\r', " ");
        let id = event.next.to_string();
        if serde_json::from_str::<&RawValue>(&text).is_ok() {
            self.sent += text.len() as u64;
            self.push(Event::default().id(id).data(text));
        } else {
            self.push(Event::default().event("damaged").id(id).data("{}"));
        }

        if self.sent >= VIEW_BYTES {
            let text = json!({"bytes": self.sent}).to_string();
            self.end(Event::default().event("limit").data(text));
        }
    }

    async fn read_entries(&mut self, index: u64) {
        let store = &self.shared.store;
        let entries = store
            .entries(&self.run.run_id, index..index.saturating_add(ENTRIES))
            .await;
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.refuse(&error.to_string()),
        };

        if index == 0 && self.sent == 0 {
            let header = journal_events::header(&self.run).to_string();
            self.sent += header.len() as u64;
            self.push(Event::default().data(header));
        }
        for entry in &entries {
            let next = entry.index + 1;
            for event in journal_events::events(entry, self.run.started) {
                let event = Event::default()
                    .id(format!("j{next}"))
                    .data(event.to_string());
                self.push(event);
            }
        }
        self.source = Source::Entries(index.saturating_add(entries.len() as u64));

        // The run was resumed by a program that records it.
        if entries.is_empty() && self.shared.has_events(&self.run.run_id).await {
            self.end(Event::default().event("replaced").data("{}"));
        }
    }

    fn push(&mut self, event: Event) {
        self.waiting.push_back(event);
    }

    fn refuse(&mut self, error: &str) {
        let text = json!({"error": error}).to_string();
        self.end(Event::default().event("refused").data(text));
    }

    fn end(&mut self, event: Event) {
        self.push(event);
        self.is_done = true;
    }
}
