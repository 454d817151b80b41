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
use cogwork_journal::RunSummary;
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use super::journal_events;
use crate::http::Refusal;
use crate::pieces::PieceWatcher;
use crate::records::{Batch, Line, Tail, TailError};
use crate::shared::Shared;

/// How often to look for new lines of a record.
const AGAIN: Duration = Duration::from_millis(200);

/// How often to look for new entries of a journal, which may be read from its beginning.
const JOURNAL_AGAIN: Duration = Duration::from_secs(1);

/// How often something is sent, so that a browser that left is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How many bytes of a record one live view is sent before it is asked whether to continue.
const VIEW_BYTES: u64 = 64 << 20;

/// How many entries of a journal are read at once.
const ENTRIES: u64 = 500;

/// Sends the events as they are recorded, from the one after `Last-Event-ID`.
///
/// An event without a name is a line of the record, and its id is where the next one begins. The
/// others are `damaged` (a line was skipped), `current` (all that is recorded so far was sent),
/// `limit` (more on request), `replaced` (the record begins anew) and `refused` (the record cannot be
/// read).
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
    /// A record.
    Record(Box<Tail>),
    /// The journal, from the entry with this index.
    Journal(u64),
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
    /// In a record.
    Byte(u64),
    /// In a journal.
    Entry(u64),
}

impl Place {
    /// Reads the id of an event.
    fn read(id: &str) -> Option<Self> {
        match id.strip_prefix('j') {
            Some(index) => index.parse().ok().map(Self::Entry),
            None => id.parse().ok().map(Self::Byte),
        }
    }
}

async fn source(shared: &Arc<Shared>, run: &RunSummary, from: Option<Place>) -> Source {
    match (shared.record(&run.run_id).await, from) {
        (Some(file), from) => {
            let at = match from {
                Some(Place::Byte(at)) => at,
                _ => 0,
            };
            Source::Record(Box::new(Tail::new(file, at)))
        }
        (None, Some(Place::Entry(index))) => Source::Journal(index),
        (None, _) => Source::Journal(0),
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
            Source::Record(_) => AGAIN,
            Source::Journal(_) => JOURNAL_AGAIN,
        }
    }

    /// Reads what is new. Returns whether nothing more is recorded yet.
    async fn read(&mut self) -> bool {
        match std::mem::replace(&mut self.source, Source::Journal(0)) {
            Source::Record(tail) => self.read_record(tail).await,
            Source::Journal(index) => {
                self.read_journal(index).await;
                true
            }
        }
    }

    async fn read_record(&mut self, mut tail: Box<Tail>) -> bool {
        let reading = tokio::task::spawn_blocking(move || {
            let batch = tail.read();
            (tail, batch)
        });
        let Ok((tail, batch)) = reading.await else {
            self.refuse("the record could not be read");
            return true;
        };
        self.source = Source::Record(tail);

        match batch {
            Ok(Batch { lines, is_end }) => {
                lines.into_iter().for_each(|line| self.add(line));
                return is_end;
            }
            Err(TailError::Replaced) => self.end(Event::default().event("replaced").data("{}")),
            Err(error) => self.refuse(&error.to_string()),
        }
        true
    }

    fn add(&mut self, line: Line) {
        if self.is_done {
            return;
        }

        match line {
            Line::Json { text, end } => {
                self.sent += text.len() as u64;
                self.push(Event::default().id(end.to_string()).data(text));
            }
            Line::Damaged { problem, end } => {
                let text = json!({"problem": problem, "end": end}).to_string();
                let event = Event::default().event("damaged").id(end.to_string());
                self.push(event.data(text));
            }
        }

        if self.sent >= VIEW_BYTES {
            let text = json!({"bytes": self.sent}).to_string();
            self.end(Event::default().event("limit").data(text));
        }
    }

    async fn read_journal(&mut self, index: u64) {
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
        self.source = Source::Journal(index.saturating_add(entries.len() as u64));

        // The run was resumed by a program that records it.
        if entries.is_empty() && self.shared.record(&self.run.run_id).await.is_some() {
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
