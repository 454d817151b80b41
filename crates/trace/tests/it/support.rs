//! Events in memory, and flows to record.

use std::sync::{Arc, Mutex};

use cogwork_flow::{Flow, from_phases};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, Message};
use cogwork_trace::{RecorderSettings, RunRecorder};
use cogwork_typed::ask::{
    Asking, Format, Limit, Policy, RefusedFormats, Repair, RepairKind, Verdict,
};
use serde_json::Value;

/// What recorders of one run record in memory, one after the other.
#[derive(Default)]
pub(crate) struct TestRecord {
    recorders: Mutex<Vec<RunRecorder>>,
}

impl TestRecord {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn recorder(&self, settings: RecorderSettings) -> RunRecorder {
        let recorder = RunRecorder::in_memory(settings);
        self.recorders.lock().unwrap().push(recorder.clone());
        recorder
    }

    /// Returns what is recorded of a run of a flow, however it ends.
    pub(crate) async fn of<S>(flow: Flow<S>, mut state: S, settings: RecorderSettings) -> Self {
        let record = Self::new();
        let recorder = record.recorder(settings);
        let mut run = flow.begin().with_id("r").with_events(&recorder);
        let _ = run.finish(&mut state).await;
        recorder.flush().await.unwrap();
        record
    }

    fn lines(&self) -> Vec<String> {
        let recorders = self.recorders.lock().unwrap();
        recorders.iter().flat_map(RunRecorder::events).collect()
    }

    /// Returns the events, one on each line, with fixed times of starts.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines().into_iter().map(|line| {
            let Some((before, after)) = line.split_once("\"started\":") else {
                return line;
            };
            let end = after.find([',', '}']).unwrap();
            format!("{before}\"started\":0.0{}", after.split_at(end).1)
        });

        lines.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.lines();
        let events = lines.iter().map(|line| serde_json::from_str(line));
        events.map(Result::unwrap).collect()
    }

    /// Returns the reports about models of a type.
    pub(crate) fn chats(&self, name: &str) -> Vec<Value> {
        let events = self.events();
        let chats = events.iter().filter(|event| event["source"] == "chat");
        let reports = chats.map(|event| event["report"].clone());
        reports.filter(|report| report["type"] == name).collect()
    }
}

/// Wants a number, also one in words around it.
struct Number;

pub(crate) struct Read {
    pub(crate) number: u32,
    repairs: Vec<Repair>,
}

impl Policy for Number {
    type Reply = Read;
    type Problem = String;
    type Stop = Limit;

    fn request(&self, _: Format) -> ChatRequest {
        let question = Message::user("How many legs does a spider have?");
        ChatRequest::new([Message::system("You count."), question]).with_temperature(0.2)
    }

    async fn judge(&mut self, response: &ChatResponse, _: Format) -> Verdict<Read, String> {
        let mut repairs = Vec::new();
        let last = response.text().lines().last().unwrap_or_default();
        if last != response.text() {
            let line = response.text().lines().count();
            repairs.push(Repair::new(RepairKind::Prose, line, "left out the prose"));
        }

        match last.trim().parse() {
            Ok(number) => Verdict::Usable(Read { number, repairs }),
            Err(_) => Verdict::Unusable {
                problem: "the reply is not a number".to_owned(),
                message: Message::user("Answer with a number alone."),
            },
        }
    }

    fn repairs<'r>(&self, read: &'r Read) -> &'r [Repair] {
        &read.repairs
    }
}

/// A flow of one node, which asks a model for a number.
pub(crate) fn asking(client: impl LlmClient + 'static) -> Flow<u32> {
    let client = Arc::new(client);
    let number = move |()| {
        let client = Arc::clone(&client);
        async move {
            let refused = RefusedFormats::default();
            let mut asking = Asking::new(&*client, &refused, vec![Format::Text]);
            let read = asking.run(&mut Number).await;
            let number = read.map(|read| read.number);
            number.map_err(|_| std::io::Error::other("no number"))
        }
    };
    let ask = from_phases(|_: &mut u32| (), number, |state, number| *state = number);
    Flow::from_node("count", ask).unwrap()
}
