//! The trace of a run: lines of JSON with its events, and the requests and replies of models.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_agents::{FileFlow, Loader};
use cogwork_files::{Access, Folder};
use cogwork_flow::{BoxError, Event, EventKind};
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, ReplyStream, async_trait,
};
use cogwork_text::Escaped;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::result::{hide, waits};
use crate::output::tell;

/// The maximum number of bytes that a run adds to the file.
const MAX_BYTES: usize = 64 << 20;

/// The maximum number of bytes of each text, before values are hidden.
const MAX_TEXT: usize = 32 * 1024;

/// The trace, if there is one. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Trace {
    open: Arc<Mutex<Option<Open>>>,
    has_failed: Arc<std::sync::atomic::AtomicBool>,
}

struct Open {
    file: File,
    loaded: Arc<FileFlow>,
    started: Instant,
    /// The bytes that may still be written.
    left: usize,
}

impl Trace {
    /// Returns a loader whose clients are traced.
    pub(super) fn watch(&self, loader: Loader) -> Loader {
        let trace = self.clone();
        loader.with_client_wrapper(move |node, client| {
            Arc::new(Traced {
                client,
                node: node.to_owned(),
                trace: trace.clone(),
                calls: AtomicU64::new(0),
                sent: Mutex::default(),
            })
        })
    }

    /// Opens the file. Nothing is traced before that.
    pub(super) fn begin(&self, path: &Path, loaded: Arc<FileFlow>) -> Result<(), String> {
        let file = open(path).map_err(|error| {
            let path = Escaped::new(path.display());
            format!("the trace could not be opened: {path}: {error}")
        })?;

        *self.lock() = Some(Open {
            file,
            loaded,
            started: Instant::now(),
            left: MAX_BYTES,
        });
        Ok(())
    }

    /// Returns whether a line could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    pub(super) fn event(&self, event: &Event) {
        if !self.is_open() {
            return;
        }

        if let Some(mut line) = line_of(&event.kind) {
            if let Some(step) = &event.step {
                line.insert("step".to_owned(), step.to_string().into());
            }
            self.write(line);
        }
    }

    fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    fn write(&self, mut line: Map<String, Value>) {
        let mut trace = self.lock();
        let Some(open) = trace.as_mut() else { return };

        let at = open.started.elapsed().as_secs_f64();
        line.insert("at".to_owned(), at.into());
        let mut line = Value::Object(line);
        shorten(&mut line);
        hide(&mut line, &open.loaded);

        let mut line = line.to_string();
        line.push('\n');
        let is_full = line.len() > open.left;
        if is_full {
            line = format!("{}\n", json!({"at": at, "event": "trace is full"}));
        }
        open.left = open.left.saturating_sub(line.len());

        let written = open.file.write_all(line.as_bytes());
        if let Err(error) = &written {
            self.has_failed.store(true, Ordering::Relaxed);
            tell(format_args!(
                "cogwork: the trace could not be written: {error}"
            ));
        }
        if is_full || written.is_err() {
            *trace = None;
        }
    }

    /// A panic elsewhere cannot leave the trace inconsistent, so a poisoned lock is still usable.
    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a file to add lines to it. Only the user may read a new one.
fn open(path: &Path) -> Result<File, BoxError> {
    // A new file has no links to follow.
    let (folder, name) = if path.exists() {
        Folder::of_linked_file(path)?
    } else {
        Folder::of_file(path)?
    };

    Ok(folder.open_or_create(&name, Access::Append)?)
}

/// Returns what is written of an event; `None` for notes, whose texts are in the replies.
fn line_of(kind: &EventKind) -> Option<Map<String, Value>> {
    let line = match kind {
        EventKind::RunStarted => json!({"event": "started"}),
        EventKind::StepEntered => json!({"event": "entered"}),
        EventKind::PhaseFinished { phase, took } => json!({
            "event": "finished",
            "phase": phase.to_string(),
            "seconds": took.as_secs_f64(),
        }),
        EventKind::Retrying {
            attempts,
            delay,
            error,
        } => json!({
            "event": "retrying",
            "attempts": attempts,
            "delay": delay.as_secs_f64(),
            "error": error,
        }),
        EventKind::Moved { action, to } => json!({"event": "moved", "action": action, "to": to}),
        EventKind::Ended { action, steps } => {
            json!({"event": "ended", "action": action, "steps": steps})
        }
        EventKind::Replayed => json!({"event": "replayed"}),
        EventKind::Paused(paused) => json!({"event": "paused", "waits": waits(paused)}),
        EventKind::Failed { error } => json!({"event": "failed", "error": error}),
        EventKind::Lost { count } => json!({"event": "lost", "count": count}),
        _ => return None,
    };

    match line {
        Value::Object(line) => Some(line),
        _ => None,
    }
}

/// Shortens all long texts, such as images.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MAX_TEXT => {
            let bytes = text.len();
            let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or_default());
            text.push_str(&format!(" […] ({bytes} bytes)"));
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(entries) => entries.values_mut().for_each(shorten),
        _ => {}
    }
}

/// A client whose requests and replies are traced.
struct Traced {
    client: Arc<dyn LlmClient>,
    node: String,
    trace: Trace,
    calls: AtomicU64,
    /// The messages of the last request, which aren't written again.
    sent: Mutex<Vec<Value>>,
}

/// A call that is traced.
struct Call {
    trace: Trace,
    node: String,
    number: u64,
    started: Instant,
}

impl Traced {
    /// Returns `None` if nothing is traced.
    async fn begin(&self, request: &ChatRequest) -> Option<Call> {
        if !self.trace.is_open() {
            return None;
        }

        // Lets the events before this call be written first.
        tokio::task::yield_now().await;

        let call = Call {
            trace: self.trace.clone(),
            node: self.node.clone(),
            number: self.calls.fetch_add(1, Ordering::Relaxed) + 1,
            started: Instant::now(),
        };
        call.write("request", self.new_in(request));
        Some(call)
    }

    /// Returns the request with only the messages that the last one of this node didn't have.
    fn new_in(&self, request: &ChatRequest) -> Value {
        let mut json = serde_json::to_value(request).unwrap_or_default();
        let Some(messages) = json.get_mut("messages").and_then(Value::as_array_mut) else {
            return json;
        };

        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let all = messages.clone();
        let same = all
            .iter()
            .zip(&*sent)
            .take_while(|(one, other)| one == other);
        let repeated = same.count();
        messages.drain(..repeated);
        *sent = all;

        if let Some(request) = json.as_object_mut().filter(|_| repeated > 0) {
            request.insert("repeated_messages".to_owned(), repeated.into());
        }
        json
    }
}

impl Call {
    fn write(&self, event: &str, value: Value) {
        let mut line = Map::new();
        line.insert("event".to_owned(), event.into());
        line.insert("node".to_owned(), self.node.as_str().into());
        line.insert("call".to_owned(), self.number.into());
        line.insert(event.to_owned(), value);

        if event != "request" {
            let seconds = self.started.elapsed().as_secs_f64();
            line.insert("seconds".to_owned(), seconds.into());
        }
        self.trace.write(line);
    }

    fn end(&self, reply: &ChatResponse) {
        self.write("reply", serde_json::to_value(reply).unwrap_or_default());
    }

    fn fail(&self, error: &LlmError) {
        self.write("error", format!("{error:#}").into());
    }
}

#[async_trait]
impl LlmClient for Traced {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let call = self.begin(&request).await;
        let reply = self.client.complete(request).await;

        if let Some(call) = call {
            match &reply {
                Ok(reply) => call.end(reply),
                Err(error) => call.fail(error),
            }
        }
        reply
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let call = self.begin(&request).await;
        let reply = self.client.stream(request).await;

        let Some(call) = call else { return reply };
        if let Err(error) = &reply {
            call.fail(error);
        }

        Ok(reply?.inspect(move |delta| match delta {
            Ok(Delta::End(reply)) => call.end(reply),
            Err(error) => call.fail(error),
            Ok(_) => {}
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
