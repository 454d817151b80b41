//! With a model that follows the forms of the questions, every strategy ends, along the edges of its table,
//! and a run that is dropped at any point can be resumed. With a model that doesn't, the run ends without a
//! panic.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests, over what the tests made"
)]

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use cogwork_flow::Stepped;
use cogwork_flow::journal::MemoryJournal;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Role};
use cogwork_strategies::{
    EndReason, Limit, Limits, Method, Search, SelfConsistency, Session, Solved, Solver,
    StrategyName, TreeOfThoughts,
};
use cogwork_tools::{ToolError, Tools, async_trait, function};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A model that fills in the form of each question at random. The same question gets the same reply.
#[derive(Clone)]
struct Legal {
    seed: u64,
    /// Whether some replies are corrupted.
    spoils: bool,
    requests: Arc<Mutex<Vec<ChatRequest>>>,
}

impl Legal {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            spoils: false,
            requests: Arc::default(),
        }
    }
}

#[async_trait]
impl LlmClient for Legal {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.requests.lock().unwrap().push(request.clone());
        let said: Vec<_> = request
            .messages()
            .iter()
            .map(|message| message.text().to_owned())
            .collect();

        let mut hasher = DefaultHasher::new();
        (self.seed, &said).hash(&mut hasher);
        let mut dice = Dice(hasher.finish() | 1);
        let asked = request
            .messages()
            .iter()
            .filter(|message| message.role() == Role::User);
        let asked: Vec<_> = asked.map(|message| message.text()).collect();

        // After a complaint, nothing is left out.
        let again = asked
            .iter()
            .rev()
            .take_while(|text| text.starts_with("That reply cannot be used"))
            .count();

        let question = asked[asked.len() - 1 - again];
        let reply = reply(question, &mut dice, again > 0);
        Ok(ChatResponse::new(if self.spoils {
            spoilt(reply, &mut dice)
        } else {
            reply
        }))
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

    fn word(&mut self) -> String {
        let words = [
            "stone", "river", "look", "3 apples", "51", "wait", "finish", "a: b", "**so**", "ünï",
        ];
        let word = words[self.below(words.len() as u64) as usize];
        format!("{word} {}", self.below(1000))
    }
}

fn reply(question: &str, dice: &mut Dice, whole: bool) -> String {
    let Some((before, form)) = question.split_once("each name at the beginning of a line:\n")
    else {
        return match question.contains("#E1 = tool[input]") {
            true => plan(dice),
            false => dice.word(),
        };
    };

    let mut lines = Vec::new();
    let mut form = form.lines().peekable();
    while let Some(line) = form.next() {
        let (name, about) = line.split_once(": ").unwrap();
        let kind = about
            .rsplit_once(" (")
            .map_or(about, |(_, kind)| kind.trim_end_matches(')'));
        if name == "next" {
            let mut stages = Vec::new();
            while let Some(stage) = form.next_if(|line| line.starts_with("  ")) {
                stages.push(stage.trim().split(' ').next().unwrap());
            }

            lines.push(format!(
                "next: {}",
                stages[dice.below(stages.len() as u64) as usize]
            ));
        } else if !kind.contains("may be left out") || whole || dice.below(3) > 0 {
            let action = name == "action" && dice.below(2) == 0;
            let value = if action {
                "finish".to_owned()
            } else {
                value(kind, before, dice)
            };

            lines.push(format!("{name}: {value}"));
        }
    }

    lines.join("\n")
}

/// Corrupts a reply as models do: half a reply, the form twice, an open fence, misplaced characters.
fn spoilt(reply: String, dice: &mut Dice) -> String {
    let place = dice.below(reply.chars().count() as u64 + 1) as usize;
    let (first, rest): (String, String) = (
        reply.chars().take(place).collect(),
        reply.chars().skip(place).collect(),
    );
    let signs = [
        "",
        ":",
        "\n#E1 = ",
        "#E99",
        "\nPlan:",
        "[",
        "}",
        "```",
        "\nnext:",
        "\u{0}",
        "-1",
        "\nanswer:",
        "]]\n",
    ];

    match dice.below(8) {
        0 => first,
        1 => rest,
        2 => format!("{reply}\n{reply}"),
        3 => String::new(),
        4..6 => format!(
            "{first}{}{rest}",
            signs[dice.below(signs.len() as u64) as usize]
        ),
        _ => reply,
    }
}

/// Returns a value of the type in the form.
fn value(kind: &str, before: &str, dice: &mut Dice) -> String {
    let bound = |word: &str| -> Option<u64> {
        kind.split_once(word)?
            .1
            .split([' ', ','])
            .next()?
            .parse()
            .ok()
    };

    let least = bound("from ").or(bound("least ")).unwrap_or(0);
    let most = bound(" to ").unwrap_or(20);
    if let Some(fields) = kind
        .split_once("objects {")
        .map(|(_, rest)| rest.trim_end_matches('}'))
    {
        let mut object = || -> Value {
            let typed = |field: &str| {
                let (name, kind) = field.split_once(": ")?;
                let value = value(kind, before, dice);
                let value = match kind.contains("number") {
                    true => serde_json::from_str(&value).unwrap(),
                    false => Value::from(value),
                };

                Some((name.to_owned(), value))
            };
            fields.split(", ").filter_map(typed).collect()
        };
        return json!([object(), object(), object()]).to_string();
    }

    match kind {
        kind if kind.starts_with("a list") => {
            let items = 1 + dice.below(4);
            (0..items).map(|_| format!("\n- {}", dice.word())).collect()
        }
        kind if kind.starts_with("an object") => format!("{{\"x\": {}}}", dice.below(100)),
        kind if kind.starts_with("the number of a thought") => {
            let (_, named) = before.rsplit_once("can name: ").unwrap();
            let named: Vec<_> = named.split('.').next().unwrap().split(", ").collect();
            named[dice.below(named.len() as u64) as usize].to_owned()
        }
        kind if kind.starts_with("an integer") || kind.starts_with("a number") => {
            (least + dice.below(most - least + 1)).to_string()
        }
        kind if kind.starts_with("true or false") => {
            ["yes", "no"][dice.below(2) as usize].to_owned()
        }
        _ => dice.word(),
    }
}

/// Returns a plan whose calls refer to earlier evidence.
fn plan(dice: &mut Dice) -> String {
    let step = |number: u64| {
        let of = if number > 1 {
            format!("#E{}", 1 + dice.below(number - 1))
        } else {
            dice.word()
        };
        format!("Plan: {}\n#E{number} = look[{of}]", dice.word())
    };
    (1..=4).map(step).collect::<Vec<_>>().join("\n")
}

fn tools() -> Tools {
    let look = |input: Value| async move {
        let input = input.to_string();
        match input.len() % 3 {
            0 => Err(ToolError::failed("nothing to be seen")),
            _ => Ok(format!("seen: {input}")),
        }
    };
    Tools::new().with(function("look", "Looks.", look)).unwrap()
}

fn solver(driver: impl Into<Box<dyn Method>>, client: &Legal) -> Solver {
    let budget = Limits::default().with_calls(40).with_thoughts(300);
    Solver::new(client.clone(), driver)
        .with_tools(tools())
        .with_limits(budget)
}

/// Checks that every move followed an edge of the table.
fn keeps_to_the_table(session: &Session) -> bool {
    session.thoughts().iter().all(|thought| {
        let from = thought.parent().and_then(|parent| session.thought(parent));
        let Some(from) = from else {
            return thought.stage() == session.strategy().start().name();
        };

        let mut next = session.stage_of(from).next_names().iter();
        from.stage() == thought.stage() || next.any(|next| next == thought.stage())
    })
}

#[tokio::main(flavor = "current_thread")]
async fn ends(name: StrategyName, seed: u64) {
    let client = Legal::new(seed);
    let solver = solver(name, &client);
    let solved = solver.solve("What is 17 * 3?").await.unwrap();

    let spent = solved.spent();
    assert!(
        keeps_to_the_table(solved.trace().session()),
        "{name} {seed}"
    );
    assert_eq!(spent.calls as usize, client.requests.lock().unwrap().len());

    match solved.end() {
        EndReason::Answered => assert!(solved.answer().is_some(), "{name} {seed}"),
        EndReason::OutOf {
            limit: Limit::Calls(limit),
        } => assert_eq!(spent.calls, *limit),
        EndReason::OutOf {
            limit: Limit::Thoughts(limit),
        } => {
            assert!(solved.trace().session().thoughts().len() >= *limit as usize);
        }
        EndReason::NoProgress { .. } | EndReason::GaveUp { .. } => {}
        other => panic!("{name} {seed}: {other}"),
    }
}

/// Drops a run after some steps and resumes it, from the journal and from the saved state.
#[tokio::main(flavor = "current_thread")]
async fn goes_on<D: Into<Box<dyn Method>> + Clone + Debug>(driver: D, seed: u64) {
    let timeless = |solved: cogwork_strategies::Solved| {
        let mut value = serde_json::to_value(solved).unwrap();

        // Only the measured time may differ.
        value["spent"]["seconds"] = Value::Null;
        value
    };

    let whole = solver(driver.clone(), &Legal::new(seed))
        .solve("What is 17 * 3?")
        .await
        .unwrap();
    let calls = whole.spent().calls as usize;
    let whole = timeless(whole);
    let mut stop = 0;

    loop {
        let client = Legal::new(seed);
        let solver = solver(driver.clone(), &client);
        let flow = solver.clone().into_flow().unwrap();
        let journal = Arc::new(MemoryJournal::new("run"));
        let mut dropped = solver.begin("What is 17 * 3?");
        let mut run = flow.begin().with_journal(Arc::clone(&journal));
        let mut ended = false;

        for _ in 0..stop {
            ended = !matches!(run.step(&mut dropped).await.unwrap(), Stepped::Moved { .. });
        }

        drop(run);
        let saved = serde_json::to_string(&dropped).unwrap();
        let read: cogwork_strategies::Solving = serde_json::from_str(&saved).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), saved);

        let mut solving = solver.begin("What is 17 * 3?");
        flow.begin()
            .with_journal(journal)
            .finish(&mut solving)
            .await
            .unwrap();

        assert_eq!(
            timeless(Solved::from(solving)),
            whole,
            "{driver:?} {seed}, dropped after {stop} steps"
        );

        assert_eq!(
            client.requests.lock().unwrap().len(),
            calls,
            "{driver:?} {seed}"
        );

        if ended {
            return;
        }

        stop += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn legal_replies_lead_to_an_end_along_the_table(seed in any::<u64>()) {
        StrategyName::ALL.into_iter().for_each(|name| ends(name, seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// The run is answered or stopped with a reason. No reply leads to a thought that the session refuses.
    #[test]
    fn spoilt_replies_end_a_run_in_good_order(seed in any::<u64>()) {
        for name in StrategyName::ALL {
            let client = Legal { spoils: true, ..Legal::new(seed) };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let (so_far, end) = match runtime.block_on(solver(name, &client).solve("What is 17 * 3?")) {
                Ok(solved) => (solved.trace().session().clone(), solved.end().to_string()),
                Err(error) => {
                    prop_assert!(error.is_unreadable(), "{name}: {error}");
                    (error.so_far().unwrap().session().clone(), error.to_string())
                }
            };
            prop_assert!(keeps_to_the_table(&so_far), "{name}: {end}");
        }
    }
}

#[test]
fn a_run_that_is_dropped_after_any_step_goes_on_without_a_call_made_twice() {
    for name in StrategyName::ALL {
        (0..2).for_each(|seed| goes_on(name, seed));
    }

    goes_on(
        SelfConsistency {
            paths: 3,
            all_paths: true,
            ..SelfConsistency::default()
        },
        0,
    );
    for search in [Search::DepthFirst, Search::BestFirst] {
        goes_on(
            TreeOfThoughts {
                proposals: 2,
                search,
                ..TreeOfThoughts::default()
            },
            0,
        );
    }
}
