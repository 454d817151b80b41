//! Makes lines of the events of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::engine::StepName;
use cogwork_flow::watch::{Event, EventKind, Observer};
use cogwork_llm::{ChatRequest, ToolDefinition};
use cogwork_typed::ask::ChatEvent;
use serde_json::{Value, json};

use super::part::{Part, Sent};
use super::{Target, chat, line, texts};
use crate::{Header, RecorderSettings};

/// Observes a run, and records a line for each event.
#[derive(Debug)]
pub(super) struct Handle {
    settings: RecorderSettings,
    target: Target,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The id of the recorded run, once it is known.
    run: Option<String>,
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
    pub(super) fn new(target: Target, run: Option<String>, settings: RecorderSettings) -> Self {
        let state = State {
            run,
            bytes: 0,
            is_full: false,
            lost: 0,
            part: Part::default(),
        };

        Self {
            settings,
            target,
            state: Mutex::new(state),
        }
    }

    /// Records the answer of the run.
    pub(super) fn answer(&self, text: &str) {
        let text = texts::content(text, &self.settings);
        let answered = json!({ "at": 0.0, "type": "answered", "text": text });
        self.write(&mut self.lock(), answered.to_string());
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
        let started = (started * 1e3).round() / 1e3;

        let mut header = Header::new(run, &flow.name, started);
        header.graph = Some(flow.clone());
        header.content = self.settings.content();
        header.prices = self.settings.prices.source().map(str::to_owned);
        header.forked_from.clone_from(&self.settings.forked_from);
        let input = self.settings.input.as_deref();
        header.input = input.map(|input| texts::content(input, &self.settings));

        let header = self.header(header)?;
        state.part = Part::default();
        self.write(state, header);
        Ok(())
    }

    /// Returns the JSON of the header, without secrets.
    fn header(&self, header: Header) -> serde_json::Result<String> {
        if self.settings.secrets.is_empty() {
            return header.to_json();
        }

        let shown = texts::names(serde_json::to_value(header)?, &self.settings);
        let shown: Header = serde_json::from_value(shown)?;
        shown.to_json()
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
                let sent = state.part.end(call.number);
                let number = state.part.call(call.number);
                let prices = &self.settings.prices;
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
                chat::embedded(number, call, &self.settings.prices)
            }
            ChatEvent::Judged {
                call,
                verdict,
                problem,
                repairs,
            } => {
                let number = state.part.call(*call);
                chat::judged(number, *verdict, problem.as_deref(), repairs)
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
        let numbers = messages.map(|message| {
            if let Some(id) = state.part.messages.get(message) {
                return Ok(id);
            }

            let id = state.part.messages.new_number();
            // One that isn't written is written the next time.
            if self.write_chat(state, place, &chat::message(id, message))? {
                state.part.messages.add(message.clone(), id);
            }
            Ok(id)
        });
        numbers.collect()
    }

    /// Writes a list of tools that isn't in the record yet. Returns its number, or `None` if it is
    /// empty.
    fn record_tools(
        &self,
        state: &mut State,
        place: Place<'_>,
        tools: &[ToolDefinition],
    ) -> serde_json::Result<Option<u64>> {
        let list = tools.to_vec();
        let known = state.part.tools.get(&list);
        if tools.is_empty() || known.is_some() {
            return Ok(known);
        }

        let id = state.part.tools.new_number();
        if self.write_chat(state, place, &chat::tools(id, tools))? {
            state.part.tools.add(list, id);
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

    /// Records a line. Returns whether it will be kept.
    fn write(&self, state: &mut State, line: String) -> bool {
        if state.is_full {
            return false;
        }

        let limit = self.settings.max_record;
        if state.bytes.saturating_add(line.len() as u64) > limit {
            state.is_full = true;
            let full = json!({ "at": 0.0, "type": "full", "limit": limit });
            self.push(state, full.to_string());
            return false;
        }

        if !self.write_lost(state) || !self.push(state, line) {
            state.lost += 1;
            return false;
        }

        true
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

impl Observer for Handle {
    fn run_started(&self, run: &str, flow: &FlowGraph) {
        let mut state = self.lock();
        let recorded = state.run.get_or_insert_with(|| run.to_owned());

        if *recorded == run && self.start(&mut state, run, flow).is_err() {
            state.lost += 1;
        }
    }

    fn event(&self, event: &Event) {
        let mut state = self.lock();
        let is_of_run = state.run.as_deref() == Some(&*event.run);

        if is_of_run && self.record(&mut state, event).is_err() {
            state.lost += 1;
        }
    }
}
