//! Makes a line of each event of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::engine::StepName;
use cogwork_flow::watch::{Event, EventKind, Observer};
use cogwork_typed::ask::{ChatCall, ChatEvent};
use serde_json::{Value, json};

use super::earlier::Earlier;
use super::numbers::Sent;
use super::{Target, chat};
use crate::event_reader::IN_JOURNAL;
use crate::header::Opening;
use crate::{Header, LeftOut, RecorderSettings};

/// The maximum number of bytes that are recorded until the run ends or stops.
const MAX_RECORD: u64 = 64 << 20;

/// Observes a run, and records a line for each event.
#[derive(Debug)]
pub(super) struct Handle {
    settings: RecorderSettings,
    target: Target,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: u64,
    is_full: bool,
    lost: u64,
    earlier: Earlier,
}

/// The step and the time of an event.
#[derive(Clone, Copy)]
struct Moment<'a> {
    step: Option<&'a Arc<StepName>>,
    at: f64,
}

impl Handle {
    pub(super) fn new(target: Target, earlier: Earlier, mut settings: RecorderSettings) -> Self {
        // Otherwise, whoever continues a run would have to remember how it was started.
        settings.left_out = settings.left_out.max(earlier.left_out);
        let state = State {
            earlier,
            ..State::default()
        };

        Self {
            settings,
            target,
            state: Mutex::new(state),
        }
    }

    /// Records the answer of the run.
    pub(super) fn answer(&self, text: &str) {
        // The clock of the run isn't known here.
        let answered = json!({ "at": 0.0, "type": "answered", "text": text });
        self.write(&mut self.lock(), answered);
    }

    /// Records how many events were lost.
    pub(super) fn finish(&self) {
        self.write_lost(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the run is started or resumed.
    fn start(&self, state: &mut State, run: &str, flow: &FlowGraph) -> serde_json::Result<()> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let started = since.unwrap_or_default().as_secs_f64();

        let header = Header {
            run: run.to_owned(),
            flow: flow.name.clone(),
            started: (started * 1e3).round() / 1e3,
            graph: Some(flow.clone()),
            input: self.settings.input.clone(),
            forked_from: state.earlier.forked_from.clone(),
            prices: self.settings.prices.source().map(str::to_owned),
            left_out: self.settings.left_out,
        };
        let opened = serde_json::to_value(Opening::Opened { at: 0.0, header })?;

        self.write(state, opened);
        // The header alone says that the others weren't wanted.
        state.is_full |= self.settings.left_out == Some(LeftOut::Events);
        Ok(())
    }

    fn record(&self, state: &mut State, event: &Event) -> serde_json::Result<()> {
        let moment = Moment {
            step: event.step.as_ref(),
            // Microseconds are precise enough, and shorter.
            at: (event.at.as_secs_f64() * 1e6).round() / 1e6,
        };

        let EventKind::Reported { report } = &event.kind else {
            self.write_at(state, moment, serde_json::to_value(&event.kind)?);
            return Ok(());
        };
        // Read as its type and not as JSON: a request has the whole conversation, of which little
        // is new.
        if let Some(chat) = report.downcast_ref::<ChatEvent>() {
            self.record_chat(state, moment, chat);
            return Ok(());
        }

        let value = report
            .to_json()
            .and_then(|json| serde_json::from_str(&json));
        // What cannot be written is still shown, with the reason.
        let value = value
            .unwrap_or_else(|error| json!({ "type": "unwritable", "error": error.to_string() }));
        self.write_at(state, moment, reported(report.source(), value));
        Ok(())
    }

    fn record_chat(&self, state: &mut State, moment: Moment<'_>, event: &ChatEvent) {
        let prices = &self.settings.prices;
        let report = match event {
            ChatEvent::Replied {
                call,
                response,
                took,
            } => {
                let sent = self.record_request(state, moment, call);
                let number = state.earlier.numbers.call(call.number);
                chat::reply(number, call, &sent, response, *took, prices)
            }
            ChatEvent::Failed {
                call,
                error,
                text_so_far,
                took,
            } => {
                let sent = self.record_request(state, moment, call);
                let number = state.earlier.numbers.call(call.number);
                chat::failure(number, call, &sent, error, text_so_far, *took)
            }
            ChatEvent::Judged {
                call,
                verdict,
                problem,
                repairs,
            } => {
                let number = state.earlier.numbers.call(*call);
                chat::judged(number, *verdict, problem.as_deref(), repairs)
            }
            // What was sent is recorded with the reply.
            _ => return,
        };

        self.write_at(state, moment, reported(chat::SOURCE, report));
    }

    /// Writes the messages and tools of a request that aren't in the record yet.
    fn record_request(&self, state: &mut State, moment: Moment<'_>, call: &ChatCall) -> Sent {
        let mut sent = Sent::default();
        for message in call.request.messages() {
            let report = || chat::message(message);
            let numbers = &mut state.earlier.numbers.messages;
            let (id, is_new) = numbers.of(message, || self.settings.event(report()).to_string());
            sent.messages.push(id);
            if is_new {
                self.write_numbered(state, moment, id, report());
            }
        }

        let tools = call.request.tools();
        if !tools.is_empty() {
            let report = || chat::tools(tools);
            let numbers = &mut state.earlier.numbers.tools;
            let (id, is_new) = numbers.of(&tools.to_vec(), || {
                self.settings.event(report()).to_string()
            });
            sent.tools = Some(id);
            if is_new {
                self.write_numbered(state, moment, id, report());
            }
        }
        sent
    }

    /// Writes what later events refer to by its number.
    fn write_numbered(&self, state: &mut State, moment: Moment<'_>, id: u64, mut report: Value) {
        // Without its content, there is nothing to refer to.
        if self.settings.left_out.is_none()
            && let Value::Object(fields) = &mut report
        {
            fields.insert("id".to_owned(), id.into());
            self.write_at(state, moment, reported(chat::SOURCE, report));
        }
    }

    fn write_at(&self, state: &mut State, moment: Moment<'_>, mut event: Value) {
        if let Value::Object(fields) = &mut event {
            fields.insert("at".to_owned(), moment.at.into());
            let step = moment.step.map(|step| step.to_string().into());
            fields.extend(step.map(|step| ("step".to_owned(), step)));
        }
        self.write(state, event);
    }

    /// Records an event. One that cannot be kept is counted.
    fn write(&self, state: &mut State, event: Value) {
        if state.is_full {
            return;
        }

        let line = self.recorded(event).to_string();
        if state.bytes.saturating_add(line.len() as u64) > MAX_RECORD {
            state.is_full = true;
            // Recorded itself, so that the page shows that something is missing.
            let full = json!({ "at": 0.0, "type": "full", "limit": MAX_RECORD });
            self.push(state, full.to_string());
        // The gap is told before what comes after it.
        } else if !self.write_lost(state) || !self.push(state, line) {
            state.lost += 1;
        }
    }

    /// Returns an event as it is recorded.
    ///
    /// An outcome that is shown just as it is isn't stored a second time: the event only says that it
    /// may be shown. One with a secret is in the journal, too, but is shown as it is here.
    fn recorded(&self, event: Value) -> Value {
        let mut recorded = self.settings.event(event.clone());
        let is_outcome = event.get("type").is_some_and(|name| name == "outcome");

        if is_outcome
            && self.target.has_outcomes()
            && recorded == event
            && let Value::Object(fields) = &mut recorded
        {
            fields.remove("outcome");
            fields.insert(IN_JOURNAL.to_owned(), true.into());
        }
        recorded
    }

    /// Records how many events were lost, if any were. Returns whether all of them are on record now.
    fn write_lost(&self, state: &mut State) -> bool {
        if state.lost == 0 {
            return true;
        }

        let lost = json!({ "at": 0.0, "type": "lost", "count": state.lost });
        let is_written = self.push(state, lost.to_string());
        if is_written {
            state.lost = 0;
        }
        is_written
    }

    fn push(&self, state: &mut State, line: String) -> bool {
        let bytes = line.len() as u64;
        let is_kept = self.target.push(line);
        if is_kept {
            state.bytes = state.bytes.saturating_add(bytes);
        }
        is_kept
    }
}

fn reported(source: &str, report: Value) -> Value {
    json!({ "type": "reported", "source": source, "report": report })
}

impl Observer for Handle {
    fn run_started(&self, run: &str, flow: &FlowGraph) {
        let mut state = self.lock();
        // Without a journal, the first run that starts is the one to record.
        let recorded = state.earlier.run.get_or_insert_with(|| run.to_owned());

        if *recorded == run && self.start(&mut state, run, flow).is_err() {
            state.lost += 1;
        }
    }

    fn event(&self, event: &Event) {
        let mut state = self.lock();
        // Several runs may share a sink.
        let is_of_run = state.earlier.run.as_deref() == Some(&*event.run);

        if is_of_run && !state.earlier.has(event) && self.record(&mut state, event).is_err() {
            state.lost += 1;
        }
    }
}
