//! The flows, unchanged from how they would run without an engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cogwork::agents::{FlowState, Loader};
use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::{Action, Batch, Flow, from_exec, from_fn, from_phases, idempotency_key};
use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Role, async_trait};
use cogwork::strategies::methods::React;
use cogwork::strategies::{Solver, Solving};
use cogwork::tools::{ToolError, Tools, function};
use cogwork_quickstart::RuleBasedClient;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::calls::{Counted, make};

/// A chain of thought.
pub(crate) fn thought(calls: &Path) -> Flow<Reasoning> {
    ChainOfThought::new(Counted::new(RuleBasedClient::new(), calls)).into_flow()
}

pub(crate) fn problem() -> Reasoning {
    Reasoning::new("What is (17 + 4) * 3 - 15% of 80?")
}

/// A strategy with a tool.
pub(crate) fn strategy(calls: &Path) -> Result<Solver> {
    let file = calls.to_owned();
    let look_up = move |Query { query }: Query| {
        let file = file.clone();
        async move {
            let times = make(&file).await.map_err(ToolError::failed)?;
            let height = match query.as_str() {
                "Galdhøpiggen" => 2469,
                "Glittertind" => 2452,
                _ => return Err(ToolError::failed("nothing found")),
            };
            Ok(Height {
                query,
                height,
                times,
            })
        }
    };

    let tools = Tools::new().with(function("search", "Looks a thing up.", look_up))?;
    let model = Counted::new(Climber, calls);
    Ok(Solver::new(model, React::default()).with_tools(tools))
}

pub(crate) fn question(solver: &Solver) -> Solving {
    solver.begin("Which is higher, Galdhøpiggen or Glittertind?")
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// The search term.
    query: String,
}

#[derive(Serialize)]
struct Height {
    query: String,
    height: u32,
    times: u64,
}

/// A model whose reply depends on nothing but the number of its earlier ones.
struct Climber;

#[async_trait]
impl LlmClient for Climber {
    async fn complete(&self, request: ChatRequest) -> std::result::Result<ChatResponse, LlmError> {
        let messages = request.messages().iter();
        let earlier = messages.filter(|message| message.role() == Role::Assistant);

        Ok(ChatResponse::new(match earlier.count() {
            0 => "thought: I must know both.\naction: search\naction_input: Galdhøpiggen",
            1 => "thought: One is missing.\naction: search\naction_input: Glittertind",
            _ => "thought: 2469 is more.\naction: finish\naction_input: Galdhøpiggen, by 17 m",
        }))
    }
}

/// A writer and a critic, from a file.
pub(crate) fn agents(calls: &Path) -> Result<Flow<FlowState>> {
    let calls = calls.to_owned();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/files/review.yaml");
    let loader =
        Loader::new().with_client_wrapper(move |_, client| Arc::new(Counted::new(client, &calls)));

    Ok(loader.load(file)?.into_flow())
}

pub(crate) fn topic() -> FlowState {
    FlowState::new("the sea")
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Survey {
    rounds: u32,
    /// The input of the next calls. It depends on every earlier outcome, so a lost outcome changes
    /// all later ones.
    number: u64,
    keys: Vec<String>,
}

const ROUNDS: u32 = 4;
const ITEMS: u64 = 6;
const AGAIN: Action = Action::from_static("again");

/// A loop around a call and a batch of calls, three at a time, for which other workers exist.
pub(crate) fn survey(calls: &Path) -> Result<Flow<Survey>> {
    let ask = from_phases(
        |survey: &mut Survey| survey.number,
        answers(calls),
        |survey, answer| {
            survey.number = answer.number;
            survey.keys.push(answer.key);
        },
    );
    let grade = from_exec(answers(calls));

    let split = |survey: &Survey| {
        let numbers = (0..ITEMS).map(|index| survey.number + index);
        numbers.collect::<Vec<_>>()
    };
    let join = |survey: &mut Survey, answers: Vec<Answer>| {
        for answer in answers {
            survey.number ^= answer.number;
            survey.keys.push(answer.key);
        }
    };
    let judge = from_fn(|survey: &mut Survey| {
        survey.rounds += 1;
        if survey.rounds < ROUNDS {
            AGAIN
        } else {
            Action::DEFAULT
        }
    });

    let flow = Flow::builder("survey")
        .start("ask")
        .node("ask", ask)
        .batch("grade", Batch::at_most(3, grade, split, join))
        .node("judge", judge.with_actions([AGAIN, Action::DEFAULT]))
        .edge("ask", Action::DEFAULT, "grade")
        .edge("grade", Action::DEFAULT, "judge")
        .edge("judge", AGAIN, "ask")
        .end("judge", Action::DEFAULT)
        .build()?;
    Ok(flow)
}

#[derive(Serialize, Deserialize)]
struct Answer {
    key: String,
    number: u64,
    times: u64,
}

type Answered = std::pin::Pin<Box<dyn Future<Output = std::io::Result<Answer>> + Send>>;

fn answers(calls: &Path) -> impl Fn(u64) -> Answered + Send + Sync + 'static {
    let calls: PathBuf = calls.to_owned();

    move |number: u64| {
        let calls = calls.clone();
        Box::pin(async move {
            let times = make(&calls).await?;
            let key = idempotency_key().unwrap_or_default();
            let mixed = number.wrapping_mul(6_364_136_223_846_793_005);
            let number = mixed.wrapping_add(key.len() as u64) >> 20;
            Ok(Answer { key, number, times })
        })
    }
}
