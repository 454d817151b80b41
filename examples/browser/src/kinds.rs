//! A run of each kind of flow, with what its page has to show.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cogwork::agents::{FlowState, Loader};
use cogwork::flow::{Action, Batch, Branches, Flow, Wait, from_exec, from_phases};
use cogwork::journal::Store;
use cogwork::strategies::methods::{Search, TreeOfThoughts};
use cogwork::strategies::{Solver, Solving};
use cogwork::typed::ask::Limits;
use cogwork_trace::{Page, RecorderSettings, RunRecorder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Result;
use crate::number_game::Player;

/// The page of a run, and what it has to show.
pub struct Kind {
    /// The name of the run.
    pub name: &'static str,
    /// The page.
    pub page: PathBuf,
    /// Texts of the summary, such as the input and the answer.
    pub summary: Vec<&'static str>,
    /// Nodes, and texts of their details.
    pub details: Vec<(&'static str, &'static str)>,
}

/// Begins or resumes a run, and makes its page.
async fn page_of<S>(
    store: &Store,
    folder: &Path,
    flow: &Flow<S>,
    name: &str,
    input: S,
    answer: fn(&S) -> String,
) -> Result<PathBuf>
where
    S: Serialize + DeserializeOwned + Clone + Send + Sync + 'static,
{
    let journal = store.start_or_resume(name, flow, &input).await?;
    let text = serde_json::to_value(&input)?;
    let text = text
        .as_str()
        .map_or_else(|| text.to_string(), str::to_owned);
    let recorder = RunRecorder::new(&journal, RecorderSettings::default().with_input(text)).await;
    let mut state: S = journal.state()?;

    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    let finished = tokio::time::timeout(Duration::from_millis(500), run.finish(&mut state)).await;
    if let Ok(Ok(_)) = finished {
        recorder.record_answer(&answer(&state));
    }
    recorder.flush().await?;
    drop(run);

    let page = Page::of_run(store, name).await?;
    let path = folder.join(name).with_extension("html");
    page.write(std::fs::File::create(&path)?)?;
    Ok(path)
}

const AGENTS: &str = "
name: press
nodes:
  - id: writer
    type: agent
    config: {provider: rules, rules: [], else: The sea is a grey door., prompt: 'Write about {input}.', role: You are a poet.}
  - id: critic
    type: agent
    config: {provider: rules, rules: [], else: 'Good, but short.', prompt: 'Judge this: {writer}'}
edges: [{from: writer, to: critic}]
";

/// A flow of agents.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn agents(folder: &Path) -> Result<Kind> {
    let loaded = Loader::new().load_text("press.yaml", AGENTS)?;
    let recorder = RunRecorder::in_memory(RecorderSettings::default().with_input("the sea"));
    let mut state = FlowState::new("the sea");
    let run = loaded.flow().begin().with_id("agents");
    { run }.with_events(&recorder).finish(&mut state).await?;
    recorder.record_answer(&loaded.answer(&state)?.text);

    Ok(Kind {
        name: "agents",
        page: crate::runs::page_of_recorder(&recorder, &folder.join("agents"))?,
        summary: vec!["the sea", "Good, but short."],
        details: vec![
            ("writer", "You are a poet."),
            ("writer", "Write about the sea."),
            ("writer", "The sea is a grey door."),
            ("critic", "Judge this: The sea is a grey door."),
            ("critic", "Good, but short."),
        ],
    })
}

const PROBLEM: &str = "Get from 5 to 26 by adding 4 and doubling.";

struct Game {
    solving: Solving,
    checked: String,
}

/// A flow with a strategy inside, after which something else is the answer.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn strategy(folder: &Path) -> Result<Kind> {
    let tree = TreeOfThoughts {
        approaches: 2,
        proposals: 2,
        depth: 4,
        search: Search::BestFirst,
        ..TreeOfThoughts::default()
    };
    let limits = Limits::default().with_calls(2_000).with_tokens(u64::MAX);
    let solver = Solver::new(Player, tree).with_limits(limits);
    let solving = solver.begin(PROBLEM);
    let check = from_phases(
        |game: &mut Game| game.solving.answer().unwrap_or_default().to_owned(),
        async |answer: String| Ok::<_, Infallible>(format!("Checked: {answer}")),
        |game, checked| game.checked = checked,
    );
    let flow = Flow::builder("checked game")
        .subflow("solve", solver.into_flow()?, |game: &mut Game| {
            &mut game.solving
        })
        .node("check", check)
        .start("solve")
        .edge("solve", "solved", "check")
        .edge("solve", "stopped", "check")
        .end("check", Action::DEFAULT)
        .build()?;

    let settings = RecorderSettings::default().with_input(PROBLEM);
    let recorder = RunRecorder::in_memory(settings);
    let mut game = Game {
        solving,
        checked: String::new(),
    };
    let run = flow.begin().with_id("strategy");
    { run }.with_events(&recorder).finish(&mut game).await?;
    recorder.record_answer(&game.checked);

    Ok(Kind {
        name: "strategy",
        page: crate::runs::page_of_recorder(&recorder, &folder.join("strategy"))?,
        summary: vec![
            PROBLEM,
            "Checked: 5 + 4 = 9, 9 * 2 = 18, 18 + 4 = 22, 22 + 4 = 26",
        ],
        details: vec![("solve", "22 + 4 = 26")],
    })
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Crawl {
    addresses: Vec<String>,
    lengths: Vec<usize>,
    sum: usize,
    longest: usize,
}

fn crawl() -> Result<Flow<Crawl>> {
    let fetch = from_exec(async |address: String| Ok::<_, Infallible>(address.len()));
    let fetch = Batch::at_most(
        2,
        fetch,
        |crawl: &Crawl| crawl.addresses.clone(),
        |crawl, lengths| crawl.lengths = lengths,
    );
    let add = from_phases(
        |(lengths, _): &mut (Vec<usize>, usize)| lengths.iter().sum(),
        async |sum: usize| Ok::<_, Infallible>(sum),
        |(_, sum), found| *sum = found,
    );
    let compare = from_phases(
        |(lengths, _): &mut (Vec<usize>, usize)| lengths.iter().copied().max().unwrap_or(0),
        async |longest: usize| Ok::<_, Infallible>(longest),
        |(_, longest), found| *longest = found,
    );

    let part = |crawl: &Crawl| (crawl.lengths.clone(), 0);
    let branches = Branches::new()
        .branch(
            "sum",
            Flow::from_node("add", add)?,
            part,
            |crawl: &mut Crawl, (_, sum)| {
                crawl.sum = sum;
            },
        )
        .branch(
            "longest",
            Flow::from_node("compare", compare)?,
            part,
            |crawl, (_, longest)| {
                crawl.longest = longest;
            },
        );
    Ok(Flow::builder("crawl")
        .batch("fetch", fetch.with_item_text(|address| address.clone()))
        .branches("figures", branches)
        .chain(["fetch", "figures"])
        .build()?)
}

/// A flow with a batch and branches, in any store.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn batch(folder: &Path, store: &Store, name: &'static str) -> Result<Kind> {
    let input = Crawl {
        addresses: ["a.example", "bb.example", "ccc.example"]
            .map(str::to_owned)
            .to_vec(),
        ..Crawl::default()
    };
    let answer = |crawl: &Crawl| format!("{} letters, {} at most", crawl.sum, crawl.longest);

    Ok(Kind {
        name,
        page: page_of(store, folder, &crawl()?, name, input, answer).await?,
        summary: vec!["bb.example", "30 letters, 11 at most"],
        details: vec![
            ("fetch", "bb.example"),
            ("fetch", "10"),
            ("add", "30"),
            ("compare", "11"),
        ],
    })
}

fn draft() -> impl cogwork::flow::Node<String, Exec = String> {
    from_phases(
        |order: &mut String| order.clone(),
        async |order: String| Ok::<_, Infallible>(format!("a refund for {order}")),
        |order, drafted| *order = drafted,
    )
}

/// A flow that waits.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn waits(folder: &Path, store: &Store) -> Result<Kind> {
    let wait = Wait::for_event("approval", |order: &mut String, is_granted: bool| {
        order.push_str(if is_granted { ", granted" } else { ", refused" });
    });
    let flow = Flow::builder("refund")
        .node("draft", draft())
        .wait(
            "approve",
            wait.with_reason(|order| format!("Grant {order}?"))
                .with_schema(json!({"type": "boolean"})),
        )
        .chain(["draft", "approve"])
        .build()?;

    let input = "a lamp".to_owned();
    Ok(Kind {
        name: "waits",
        page: page_of(store, folder, &flow, "waits", input, String::clone).await?,
        summary: vec![
            "a lamp",
            "Waits for approval",
            "Grant a refund for a lamp?",
            "--answer",
        ],
        details: vec![
            ("draft", "a refund for a lamp"),
            ("approve", "Grant a refund for a lamp?"),
        ],
    })
}

/// A flow that failed.
///
/// # Errors
///
/// Returns an error if the page cannot be written.
pub async fn failed(folder: &Path, store: &Store) -> Result<Kind> {
    let pay = from_phases(
        |order: &mut String| order.clone(),
        async |_: String| Err::<(), _>(std::io::Error::other("the card was refused")),
        |_, ()| (),
    );
    let flow = Flow::builder("payment")
        .node("draft", draft())
        .node("pay", pay)
        .chain(["draft", "pay"])
        .build()?;

    let input = "a lamp".to_owned();
    Ok(Kind {
        name: "failed",
        page: page_of(store, folder, &flow, "failed", input, String::clone).await?,
        summary: vec!["a lamp", "Failed", "the card was refused"],
        details: vec![
            ("draft", "a refund for a lamp"),
            ("pay", "the card was refused"),
        ],
    })
}

/// A flow that was interrupted in its second step, and again in its third.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn resumed_twice(folder: &Path, store: &Store) -> Result<Kind> {
    let shop = |stuck: &'static str| {
        let step = move |name: &'static str| {
            from_phases(
                |order: &mut String| order.clone(),
                move |order: String| async move {
                    if name == stuck {
                        std::future::pending::<()>().await;
                    }
                    Ok::<_, Infallible>(format!("{order}, {name}"))
                },
                |order: &mut String, done| *order = done,
            )
        };
        Flow::builder("shop")
            .node("paid", step("paid"))
            .node("packed", step("packed"))
            .node("sent", step("sent"))
            .chain(["paid", "packed", "sent"])
            .build()
    };

    let mut page = PathBuf::new();
    for stuck in ["packed", "sent", ""] {
        let input = "a lamp".to_owned();
        page = page_of(
            store,
            folder,
            &shop(stuck)?,
            "resumed",
            input,
            String::clone,
        )
        .await?;
    }
    Ok(Kind {
        name: "resumed",
        page,
        summary: vec!["a lamp", "a lamp, paid, packed, sent", "resumed 2 times"],
        details: vec![
            ("paid", "a lamp, paid"),
            ("packed", "a lamp, paid, packed"),
            ("sent", "a lamp, paid, packed, sent"),
        ],
    })
}
