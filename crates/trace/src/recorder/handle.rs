//! Makes lines of the events of a run.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use cogwork_flow::{Event, EventKind, FlowGraph, Observer, StepName};
use cogwork_llm::{ChatRequest, Message, ToolDefinition};
use cogwork_text::files::LockFile;
use cogwork_typed::ask::ChatEvent;
use serde_json::{Value, json};

use super::open::OpenRecord;
use super::part::{Part, Sent};
use super::write::LineWriter;
use super::{chat, line, texts};
use crate::{Header, RecorderSettings};

/// Observes a run, and passes lines to the writer.
#[derive(Debug)]
pub(super) struct Handle {
    settings: RecorderSettings,
    state: Mutex<State>,
    writer: LineWriter,
    /// Released after the last line is written.
    _lock: Option<LockFile>,
}

#[derive(Debug)]
struct State {
    /// The id of the recorded run, as it is recorded; from the record or once the run has started.
    run: Option<String>,
    /// The id of the run that started in this process.
    current: Option<String>,
    /// Whether the record has a header.
    has_header: bool,
    /// The id of another run that the recorder was used for.
    other: Option<String>,
    /// The number of bytes of the record.
    bytes: u64,
    is_full: bool,
    lost: u64,
    part: Part,
}

/// The step and the time of an event.
#[derive(Clone, Copy)]
struct Place<'a> {
    step: Option<&'a Arc<StepName>>,
    at: Duration,
}

impl Handle {
    pub(super) fn new(record: OpenRecord, settings: RecorderSettings) -> io::Result<Self> {
        let OpenRecord {
            file,
            lock,
            header,
            bytes,
            next_message,
            next_tools,
            next_call,
        } = record;

        let part = Part::after(next_message, next_tools, next_call);
        let state = State {
            has_header: header.is_some(),
            run: header.map(|header| header.run),
            current: None,
            other: None,
            bytes,
            is_full: false,
            lost: 0,
            part,
        };

        Ok(Self {
            settings,
            state: Mutex::new(state),
            writer: LineWriter::start(file)?,
            _lock: lock,
        })
    }

    /// Waits until all lines are written.
    pub(super) fn flush(&self) -> io::Result<()> {
        {
            let mut state = self.lock();
            self.write_lost(&mut state);

            if let Some(other) = &state.other {
                let run = state.run.as_deref().unwrap_or_default();
                let error = format!("the record is of the run `{run}`, not of `{other}`");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
            }
        }

        self.writer.flush()
    }

    pub(super) fn run(&self) -> Option<String> {
        self.lock().run.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the header, or that the run is resumed.
    fn start(&self, state: &mut State, run: &str, flow: &FlowGraph) -> serde_json::Result<()> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let started = since.unwrap_or_default().as_secs_f64();
        let started = (started * 1e3).round() / 1e3;

        if state.has_header {
            let resumed = json!({ "at": 0.0, "type": "resumed", "started": started });
            self.write(state, format!("{resumed}\n").into_bytes());
            return Ok(());
        }

        let mut header = Header::new(run, &flow.name, started);
        header.graph = Some(flow.clone());
        header.content = self.settings.content();
        header.forked_from.clone_from(&self.settings.forked_from);

        let mut line = self.header(&header)?;
        line.push('\n');
        state.has_header = self.write(state, line.into_bytes());
        Ok(())
    }

    /// Returns the JSON of the header, without secrets.
    fn header(&self, header: &Header) -> serde_json::Result<String> {
        if self.settings.secrets.is_empty() {
            return serde_json::to_string(header);
        }

        let shown = texts::names(serde_json::to_value(header)?, &self.settings);
        let shown: Header = serde_json::from_value(shown)?;
        serde_json::to_string(&shown)
    }

    fn record(&self, state: &mut State, event: &Event) -> serde_json::Result<()> {
        let place = Place {
            step: event.step.as_ref(),
            at: event.at,
        };

        if let EventKind::Reported { report } = &event.kind
            && let Some(chat) = report.downcast_ref::<ChatEvent>()
        {
            return self.record_chat(state, place, chat);
        }

        self.write_kind(state, place, line::kind(&event.kind)?)
            .map(drop)
    }

    fn record_chat(
        &self,
        state: &mut State,
        place: Place<'_>,
        event: &ChatEvent,
    ) -> serde_json::Result<()> {
        let report = match event {
            ChatEvent::Sent { call } => {
                let sent = Sent {
                    messages: self.record_messages(state, place, &call.request)?,
                    tools: self.record_tools(state, place, call.request.tools())?,
                };
                state.part.send(call.number, sent);
                return Ok(());
            }
            ChatEvent::Replied {
                call,
                response,
                took,
            } => {
                let text = response.text();
                if *texts::redacted(text, &self.settings) != *text {
                    state.part.note_redacted(call.number);
                }

                let sent = state.part.end(call.number);
                let number = state.part.call(call.number);
                let prices = self.settings.prices.as_ref();
                chat::reply(number, call, &sent, response, *took, prices)
            }
            ChatEvent::Failed {
                call,
                error,
                text_so_far,
                took,
            } => {
                let sent = state.part.end(call.number);
                let number = state.part.call(call.number);
                chat::failure(number, call, &sent, error, text_so_far, *took)
            }
            ChatEvent::Embedded { call } => {
                let number = state.part.call(call.number);
                chat::embedded(number, call, self.settings.prices.as_ref())
            }
            ChatEvent::Judged {
                call,
                verdict,
                problem,
                repairs,
            } => {
                let has_places = !state.part.was_redacted(*call);
                let number = state.part.call(*call);
                chat::judged(number, *verdict, problem.as_deref(), repairs, has_places)
            }
            _ => return Ok(()),
        };

        self.write_chat(state, place, &report).map(drop)
    }

    /// Writes the messages that aren't in the record yet. Returns the numbers of all.
    fn record_messages(
        &self,
        state: &mut State,
        place: Place<'_>,
        request: &ChatRequest,
    ) -> serde_json::Result<Vec<u64>> {
        let messages = request.messages().into_iter();

        messages
            .map(|message| match state.part.message(message) {
                Some(id) => Ok(id),
                None => self.record_message(state, place, message),
            })
            .collect()
    }

    fn record_message(
        &self,
        state: &mut State,
        place: Place<'_>,
        message: &Message,
    ) -> serde_json::Result<u64> {
        let id = state.part.add_message(message.clone());

        if !self.write_chat(state, place, &chat::message(id, message))? {
            state.part.forget(message);
        }

        Ok(id)
    }

    /// Writes a list of tools that isn't in the record yet. Returns its number, or `None` if it is
    /// empty.
    fn record_tools(
        &self,
        state: &mut State,
        place: Place<'_>,
        tools: &[ToolDefinition],
    ) -> serde_json::Result<Option<u64>> {
        if tools.is_empty() {
            return Ok(None);
        }
        if let Some(id) = state.part.tools(tools) {
            return Ok(Some(id));
        }

        let id = state.part.add_tools(tools);
        if !self.write_chat(state, place, &chat::tools(id, tools))? {
            state.part.forget_tools(id);
        }

        Ok(Some(id))
    }

    fn write_chat(
        &self,
        state: &mut State,
        place: Place<'_>,
        report: &Value,
    ) -> serde_json::Result<bool> {
        self.write_kind(state, place, line::chat(report)?)
    }

    fn write_kind(
        &self,
        state: &mut State,
        place: Place<'_>,
        kind: String,
    ) -> serde_json::Result<bool> {
        let kind = texts::prepared(kind, &self.settings)?;
        let step = place.step.map(ToString::to_string);
        let step = step
            .as_deref()
            .map(|step| texts::name(step, &self.settings));
        let line = line::with_kind(step.as_deref(), place.at.as_secs_f64(), &kind)?;

        Ok(self.write(state, line))
    }

    /// Passes a line to the writer. Returns whether it will be written.
    fn write(&self, state: &mut State, line: Vec<u8>) -> bool {
        if state.is_full {
            return false;
        }

        let limit = self.settings.max_record;
        if state.bytes.saturating_add(line.len() as u64) > limit {
            state.is_full = true;
            let full = json!({ "at": 0.0, "type": "full", "limit": limit });
            self.push(state, format!("{full}\n").into_bytes());
            return false;
        }

        if !self.write_lost(state) || !self.push(state, line) {
            state.lost += 1;
            return false;
        }

        true
    }

    /// Writes how many events were lost, if any were. Returns whether all of them are counted in the
    /// record now.
    fn write_lost(&self, state: &mut State) -> bool {
        if state.lost == 0 {
            return true;
        }

        let lost = json!({ "at": 0.0, "type": "lost", "count": state.lost });
        let is_written = self.push(state, format!("{lost}\n").into_bytes());
        if is_written {
            state.lost = 0;
        }

        is_written
    }

    fn push(&self, state: &mut State, line: Vec<u8>) -> bool {
        let bytes = line.len() as u64;
        let is_written = self.writer.push(line, self.settings.max_waiting);
        if is_written {
            state.bytes = state.bytes.saturating_add(bytes);
        }

        is_written
    }
}

impl Observer for Handle {
    fn run_started(&self, run: &str, flow: &FlowGraph) {
        let mut state = self.lock();

        let shown = texts::name(run, &self.settings);

        match &state.run {
            Some(recorded) if **recorded != *shown => {
                state.other = Some(run.to_owned());
                return;
            }
            Some(_) => {}
            None => state.run = Some(shown.into_owned()),
        }

        state.current = Some(run.to_owned());
        if self.start(&mut state, run, flow).is_err() {
            state.lost += 1;
        }
    }

    fn event(&self, event: &Event) {
        let mut state = self.lock();
        let is_of_run = state.current.as_deref() == Some(&*event.run);

        if is_of_run && self.record(&mut state, event).is_err() {
            state.lost += 1;
        }
    }
}
