//! With a model that follows the schemas of the questions, every strategy ends without a refusal by
//! the session, and a run that is dropped at any point can be resumed. With a model that doesn't, the
//! run still ends in good order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use cogwork_flow::Stepped;
use cogwork_flow::engine::MemoryJournal;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ReplyFormat, ToolCall,
};
use cogwork_strategies::methods::{Evaluator, React, Search, SelfConsistency, TreeOfThoughts};
use cogwork_strategies::{EndReason, Method, Solver, Solving, StrategyName};
use cogwork_tools::{ToolError, Tools, async_trait, function};
use cogwork_typed::ask::{Limit, Limits};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{is_unreadable, kind_of};
use super::wires::tree;

/// A model that fills in the schema of each question at random. The same question gets the same
/// reply.
#[derive(Clone, Default)]
struct Random {
    seed: u64,
    /// Whether some calls fail, and some replies are damaged.
    spoils: bool,
    /// Whether it calls tools natively.
    calls: bool,
    requests: Arc<Mutex<Vec<ChatRequest>>>,
}

#[async_trait]
impl LlmClient for Random {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let messages = request.messages().iter();
        let said: Vec<String> = messages.map(|message| message.text().to_owned()).collect();
        let mut hasher = DefaultHasher::new();
        (self.seed, said).hash(&mut hasher);
        let mut dice = Dice(hasher.finish() | 1);

        self.requests.lock().unwrap().push(request.clone());
        if self.spoils && dice.below(20) == 0 {
            return Err(LlmError::new(LlmErrorKind::Server, "overloaded"));
        }
        if self.calls && dice.below(3) > 0 && !request.tools().is_empty() {
            let call = |id| ToolCall::new(format!("id{id}"), "look", "{\"text\": \"51\"}");
            return Ok(ChatResponse::new("").with_tool_calls((0..2).map(call)));
        }

        let reply = match request.format() {
            Some(ReplyFormat::Schema { schema, .. }) => {
                filled(&serde_json::from_str(schema).unwrap(), &mut dice).to_string()
            }
            _ => dice.word(),
        };
        Ok(ChatResponse::new(match self.spoils {
            true => spoilt(&reply, &mut dice),
            false => reply,
        }))
    }

    fn capabilities(&self) -> Capabilities {
        let json = Capabilities::none().with(Capability::JsonSchema);
        match self.calls {
            true => json.with(Capability::Tools),
            false => json,
        }
    }
}

/// Marsaglia's xorshift generator (2003), which is good enough for tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn one_of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len() as u64) as usize]
    }

    fn word(&mut self) -> String {
        let words = [
            "stone", "3 apples", "51", "finish", "a: b", "**so**", "ünï", "none",
        ];
        format!("{} {}", self.one_of(&words), self.below(1000))
    }
}

/// Returns a value of a schema.
fn filled(schema: &Value, dice: &mut Dice) -> Value {
    if let Some(choices) = schema["enum"].as_array() {
        return dice.one_of(choices).clone();
    }
    if let Some(schemas) = schema["anyOf"].as_array() {
        return filled(dice.one_of(schemas), dice);
    }

    let bound = |name: &str, otherwise: u64| schema[name].as_f64().map_or(otherwise, |n| n as u64);
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties
                .map(|(name, schema)| (name.clone(), filled(schema, dice)))
                .collect()
        }
        Some("array") => {
            let least = bound("minItems", 0);
            let count = least + dice.below(4);
            let count = count.min(bound("maxItems", 4)).max(least);
            (0..count).map(|_| filled(&schema["items"], dice)).collect()
        }
        Some("integer" | "number") => {
            let (least, most) = (bound("minimum", 1), bound("maximum", 2));
            json!(least + dice.below(most - least + 1))
        }
        Some("boolean") => json!(dice.below(2) == 0),
        Some("null") => Value::Null,
        _ => dice.word().into(),
    }
}

/// Damages a reply as models do: a half of it, the reply twice, misplaced signs.
fn spoilt(reply: &str, dice: &mut Dice) -> String {
    let place = dice.below(reply.chars().count() as u64 + 1) as usize;
    let first: String = reply.chars().take(place).collect();
    let rest: String = reply.chars().skip(place).collect();
    let signs = [
        "", ":", "\n#E1 = ", "#E99", "\nPlan:", "[", "}", "```", "\u{0}", "-1", "]]\n",
    ];

    match dice.below(12) {
        0 => first,
        1 => rest,
        2 => format!("{reply}\n{reply}"),
        3 => String::new(),
        4 | 5 => format!("{first}{}{rest}", dice.one_of(&signs)),
        _ => reply.to_owned(),
    }
}

fn solver(method: Box<dyn Method>, client: &Random, calls: u32) -> Solver {
    let look = |input: Value| async move {
        match input.to_string().len() % 3 {
            0 => Err(ToolError::failed("nothing to be seen")),
            _ => Ok(format!("seen: {input}")),
        }
    };
    let tools = Tools::new().with(function("look", "Looks.", look));
    Solver::new(client.clone(), method)
        .with_tools(tools.unwrap())
        .with_limits(Limits::default().with_calls(calls).with_thoughts(300))
        .with_asks_again(3)
}

/// All strategies, and those with other ways for other settings.
fn methods() -> Vec<Box<dyn Method>> {
    let to_the_end = SelfConsistency {
        paths: 3,
        all_paths: true,
        ..SelfConsistency::default()
    };
    let judging = TreeOfThoughts {
        evaluation: Evaluator::Values(3),
        threshold: 4.0,
        ..tree(Search::BreadthFirst { beam_width: 3 })
    };
    let (deep, best) = (tree(Search::DepthFirst), tree(Search::BestFirst));

    let others: [Box<dyn Method>; 4] =
        [to_the_end.into(), judging.into(), deep.into(), best.into()];
    let all = StrategyName::ALL.map(<Box<dyn Method>>::from);
    all.into_iter().chain(others).collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

async fn ends(method: Box<dyn Method>, client: Random) {
    let place = format!("{} {}", method.strategy().name(), client.seed);
    let solver = solver(method, &client, 40);
    let solved = solver.solve("What is 17 * 3?").await.unwrap();

    let spent = solved.spent();
    assert_eq!(spent.calls as usize, client.requests.lock().unwrap().len());
    match solved.end().unwrap() {
        EndReason::Answered => assert!(solved.answer().is_some(), "{place}"),
        EndReason::OutOf { limit } => match limit {
            Limit::Calls(limit) => assert_eq!(spent.calls, *limit),
            Limit::Thoughts(limit) => {
                assert!(solved.session().thoughts().len() >= *limit as usize);
            }
            other => panic!("{place}: {other}"),
        },
        EndReason::NoProgress { .. } | EndReason::GaveUp { .. } => {}
        other => panic!("{place}: {other}"),
    }
}

/// Drops a run after some steps and resumes it, from the journal and from the saved state.
async fn goes_on(number: usize, seed: u64) {
    let method = || methods().remove(number);
    // Only the measured time may differ.
    let timeless = |solved: Solving| {
        let mut value = serde_json::to_value(solved).unwrap();
        value["spent"]["seconds"] = Value::Null;
        value
    };
    let model = || Random {
        seed,
        ..Random::default()
    };

    let undisturbed = solver(method(), &model(), 12);
    let whole = undisturbed.solve("What is 17 * 3?").await.unwrap();
    let calls = whole.spent().calls as usize;
    let whole = timeless(whole);
    let mut ended = false;
    for stop in 0.. {
        if ended {
            return;
        }

        let client = model();
        let solver = solver(method(), &client, 12);
        let flow = solver.clone().into_flow().unwrap();
        let journal = Arc::new(MemoryJournal::new("run"));
        let mut dropped = solver.begin("What is 17 * 3?");
        let mut run = flow.begin().with_journal(Arc::clone(&journal));
        for _ in 0..stop {
            ended = !matches!(run.step(&mut dropped).await.unwrap(), Stepped::Moved { .. });
        }
        drop(run);

        let saved = serde_json::to_string(&dropped).unwrap();
        let read: Solving = serde_json::from_str(&saved).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), saved);

        let mut solving = solver.begin("What is 17 * 3?");
        let mut resumed = flow.begin().with_journal(journal);
        resumed.finish(&mut solving).await.unwrap();
        let place = format!("method {number}, seed {seed}, dropped after {stop} steps");
        assert_eq!(timeless(solving), whole, "{place}");
        assert_eq!(client.requests.lock().unwrap().len(), calls, "{place}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn replies_that_fit_lead_to_an_end(seed in any::<u64>()) {
        for method in methods() {
            block_on(ends(method, Random { seed, ..Random::default() }));
        }
        block_on(ends(React::default().into(), Random { seed, calls: true, ..Random::default() }));
    }

    /// No damage leads to a thought that the session refuses.
    #[test]
    fn spoilt_replies_and_failures_end_a_run_in_good_order(seed in any::<u64>()) {
        for method in methods() {
            let client = Random { seed, spoils: true, ..Random::default() };
            let ended = block_on(solver(method, &client, 40).solve("What is 17 * 3?"));
            if let Err(error) = ended {
                prop_assert!(is_unreadable(&error) || kind_of(&error).is_some(), "{error}");
            }
        }
    }
}

#[test]
fn a_run_that_is_dropped_after_any_step_goes_on_without_a_call_made_twice() {
    for number in 0..methods().len() {
        (0..2).for_each(|seed| block_on(goes_on(number, seed)));
    }
}
