//! Calls of a composite node that are recorded, and used again when the run is resumed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::{Action, Backoff, BoxError, Flow, Node};
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, ScriptedClient,
    ScriptedReply, ToolCall,
};
use cogwork_tools::{ToolError, Tools, async_trait, function};
use cogwork_typed::Model;
use cogwork_typed::ask::{Spent, record_call};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// Looks a number up, replies with a word, and gives the number when it is asked again. The number
/// and the time of each call follow from the question.
#[derive(Clone, Default)]
struct Numbers {
    seconds: [[u64; 3]; 2],
    /// How often each call has returned, by the question and the length of the conversation.
    returned: Arc<Mutex<BTreeMap<(usize, usize), u32>>>,
}

#[async_trait]
impl LlmClient for Numbers {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let question = request.messages().iter().next().unwrap().text().to_owned();
        let which = usize::from(question.starts_with("How many cats"));
        let number = (which + 1) * 11;

        let length = request.messages().len();
        let (call, response) = match length {
            1 => {
                let arguments = format!(r#"{{"number": {number}}}"#);
                let call = ToolCall::new("1", "look_up", arguments);
                (0, ChatResponse::new("").with_tool_calls([call]))
            }
            3 => (1, ChatResponse::new(format!("Hm, {which}."))),
            _ => {
                let found = request.messages().iter().nth(2).unwrap().text().to_owned();
                (2, ChatResponse::new(format!(r#"{{"answer": {found}}}"#)))
            }
        };

        tokio::time::sleep(Duration::from_secs(self.seconds[which][call])).await;
        *self
            .returned
            .lock()
            .unwrap()
            .entry((which, length))
            .or_default() += 1;
        Ok(response)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().with(Capability::Tools)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Found {
    number: u32,
}

struct Both(Model<u32>);

impl Both {
    fn new(client: &Numbers) -> Self {
        let look_up = function("look_up", "Looks up.", |found: Found| async move {
            Ok::<_, ToolError>(found.number.to_string())
        });
        let tools = Tools::new().with(look_up).unwrap();
        Self(Model::typed(client.clone()).with_tools(tools))
    }
}

impl Node<[u32; 2]> for Both {
    type Prep = ();
    type Exec = [u32; 2];
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, _: &mut [u32; 2]) -> Result<(), BoxError> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<[u32; 2], BoxError> {
        let dogs = self.0.ask("How many dogs?");
        let cats = self.0.ask("How many cats?");
        let (dogs, cats) = tokio::join!(dogs, cats);
        Ok([dogs?.value, cats?.value])
    }

    fn post(&self, state: &mut [u32; 2], (): (), found: [u32; 2]) -> Result<Action, BoxError> {
        *state = found;
        Ok(Action::DEFAULT)
    }
}

async fn crash_and_resume(seconds: [[u64; 3]; 2], crash: Duration) -> ([u32; 2], Numbers) {
    let client = Numbers {
        seconds,
        ..Numbers::default()
    };
    let flow = Flow::from_node("both", Both::new(&client)).unwrap();
    let journal = Arc::new(MemoryJournal::new("run"));

    let mut state = [0, 0];
    let mut run = flow.begin().with_journal(Arc::clone(&journal));
    let _ = tokio::time::timeout(crash, run.finish(&mut state)).await;
    drop(run);

    let mut state = [0, 0];
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.unwrap();
    (state, client)
}

proptest! {
    #[test]
    fn questions_at_the_same_time_keep_their_replies_after_a_crash(
        dogs in [1_u64..9, 1_u64..9, 1_u64..9],
        cats in [1_u64..9, 1_u64..9, 1_u64..9],
        crash in 0_u64..30,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();

        let crash = Duration::from_millis(crash * 1_000 + 500);
        let (found, client) = runtime.block_on(crash_and_resume([dogs, cats], crash));

        prop_assert_eq!(found, [11, 22]);
        let returned = client.returned.lock().unwrap();
        prop_assert_eq!(returned.len(), 6);
        prop_assert!(returned.values().all(|times| *times == 1), "{:?}", returned);
    }
}

/// Asks a second model if the first one is overloaded.
struct OneOfTwo(ScriptedClient);

impl Node<String> for OneOfTwo {
    type Prep = ();
    type Exec = String;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, _: &mut String) -> Result<(), BoxError> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<String, BoxError> {
        let ask = |question: &str| {
            let request = ChatRequest::new([Message::user(question)]);
            let client = self.0.clone();
            async move {
                let asked = record_call(&request, || client.complete(request.clone()));
                asked.await.result
            }
        };

        match ask("One?").await {
            Err(error) if error.kind() == LlmErrorKind::Overloaded => {
                Ok(ask("Two?").await?.into_text())
            }
            one => Ok(one?.into_text()),
        }
    }

    fn post(&self, state: &mut String, (): (), reply: String) -> Result<Action, BoxError> {
        *state = reply;
        Ok(Action::DEFAULT)
    }
}

#[tokio::test(start_paused = true)]
async fn a_recorded_error_keeps_its_kind() {
    let client = ScriptedClient::default()
        .then(LlmError::new(LlmErrorKind::Overloaded, "come back later"))
        .then(ScriptedReply::from("Too slow.").after(Duration::from_secs(9)))
        .then("Two.");
    let flow = Flow::from_node("ask", OneOfTwo(client.clone())).unwrap();
    let journal = Arc::new(MemoryJournal::new("run"));

    let mut state = String::new();
    let mut run = flow.begin().with_journal(Arc::clone(&journal));
    let crash = Duration::from_secs(1);
    let _ = tokio::time::timeout(crash, run.finish(&mut state)).await;
    drop(run);

    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.unwrap();
    assert_eq!(state, "Two.");
    assert_eq!(client.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn calls_that_a_retry_does_not_repeat_are_counted_once() {
    let call = ToolCall::new("1", "look_up", r#"{"number": 7}"#);
    let client = ScriptedClient::default()
        .then(ChatResponse::new("").with_tool_calls([call]))
        .then(LlmError::new(LlmErrorKind::Overloaded, "busy"))
        .then(r#"{"answer": 7}"#)
        .with_capabilities(Capabilities::none().with(Capability::Tools));
    let look_up = function("look_up", "Looks up.", |found: Found| async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok::<_, ToolError>(found.number.to_string())
    });

    let tools = Tools::new().with(look_up).unwrap();
    let ask = Model::<u32>::typed(client).with_tools(tools);
    let ask = ask.node(|_| "How many?", |_, _| ());
    let ask = ask.with_log(|state: &mut Option<Spent>, log, _| *state = Some(log.spent));
    let flow = Flow::from_node("ask", ask.retry(Backoff::of::<2>())).unwrap();

    let mut state = None;
    let mut run = flow.begin().with_journal(MemoryJournal::new("run"));
    run.finish(&mut state).await.unwrap();
    let spent = state.unwrap();
    assert_eq!((spent.calls, spent.tool_calls), (3, 1));
    assert!(spent.time < Duration::from_secs(9), "{spent:?}");
}
