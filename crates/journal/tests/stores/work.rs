//! The flow of most tests: a loop, a parallel batch and a subflow that loops.

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use cogwork_flow::{Action, Batch, Flow, Node, Wait, from_phases, idempotency_key};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) rounds: usize,
    pub(crate) numbers: Vec<u64>,
    pub(crate) added: usize,
    pub(crate) total: u64,
}

impl Work {
    pub(crate) fn of(rounds: usize) -> Self {
        Self {
            rounds,
            numbers: Vec::new(),
            added: 0,
            total: 0,
        }
    }
}

/// What each `exec` does with its number.
pub(crate) type Call =
    Arc<dyn Fn(u64) -> Pin<Box<dyn Future<Output = Result<u64, String>> + Send>> + Send + Sync>;

/// Keys of the calls that were made.
pub(crate) type Calls = Arc<Mutex<Vec<String>>>;

/// Adds one, and says that it was called.
pub(crate) fn counted(calls: &Calls) -> Call {
    let calls = Arc::clone(calls);
    Arc::new(move |n| {
        let calls = Arc::clone(&calls);
        Box::pin(async move {
            calls
                .lock()
                .unwrap()
                .push(idempotency_key().unwrap_or_default());
            tokio::task::yield_now().await;
            Ok(n + 1)
        })
    })
}

fn node<S: Send>(
    call: &Call,
    actions: &[&'static str],
    take: fn(&mut S) -> u64,
    put: fn(&mut S, u64) -> &'static str,
) -> impl Node<S, Exec = u64> + use<S> {
    let call = Arc::clone(call);
    from_phases(
        take,
        move |n| call(n),
        move |state, n| Action::from_static(put(state, n)),
    )
    .with_actions(actions.iter().copied())
}

pub(crate) fn flow(call: &Call) -> Flow<Work> {
    changed(call, "double")
}

/// The same, but for the name of the batch.
pub(crate) fn changed(call: &Call, batch: &str) -> Flow<Work> {
    let gather = node(
        call,
        &["more", "enough"],
        |work: &mut Work| work.numbers.len() as u64,
        |work, n| {
            work.numbers.push(n);
            if work.numbers.len() < work.rounds {
                "more"
            } else {
                "enough"
            }
        },
    );

    let double = node(
        call,
        &["default"],
        |n: &mut u64| *n,
        |n, more| {
            *n += more;
            "default"
        },
    );

    let add = node(
        call,
        &["more", "enough"],
        |work: &mut Work| work.numbers[work.added],
        |work, n| {
            work.total += n;
            work.added += 1;
            if work.added < work.numbers.len() {
                "more"
            } else {
                "enough"
            }
        },
    );

    let adding = Flow::builder("adding")
        .start("add")
        .node("add", add)
        .edge("add", "more", "add")
        .end("add", "enough")
        .build()
        .unwrap();

    let double = Batch::at_most(
        3,
        double,
        |work: &Work| work.numbers.clone(),
        |work, numbers| work.numbers = numbers,
    );

    Flow::builder("work")
        .start("gather")
        .node("gather", gather)
        .batch(batch, double)
        .subflow("adding", adding, |work: &mut Work| work)
        .edge("gather", "more", "gather")
        .edge("gather", "enough", batch)
        .edge(batch, Action::DEFAULT, "adding")
        .end("adding", "enough")
        .build()
        .unwrap()
}

/// What the flow comes to where nothing disturbs it.
pub(crate) async fn undisturbed(rounds: usize) -> Work {
    let mut work = Work::of(rounds);
    flow(&counted(&Calls::default()))
        .run(&mut work)
        .await
        .unwrap();
    work
}

/// A flow that waits for a name.
pub(crate) fn greeting() -> Flow<String> {
    let ask = Wait::for_event("name", |text: &mut String, name: String| {
        text.push_str(&name)
    })
    .with_reason(|text| format!("whom to say {text} to"));
    Flow::builder("greeting")
        .start("ask")
        .wait("ask", ask)
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap()
}

/// The entry in a whole line of a file, or of a database.
pub(crate) fn entry(line: &str) -> serde_json::Value {
    let json = if line.starts_with('{') {
        line
    } else {
        &line[9..]
    };
    match serde_json::from_str(json).unwrap() {
        serde_json::Value::Array(mut line) => line.pop().unwrap(),
        entry => entry,
    }
}

/// The names of the steps with an outcome, of whole lines alone.
pub(crate) fn recorded(text: &str) -> Vec<String> {
    let lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let step = |line: &str| {
        Some(
            entry(line)
                .get("outcome")?
                .get("step")?
                .as_str()?
                .to_owned(),
        )
    };
    lines.filter_map(step).collect()
}

/// An error's line, the folder in it written as `runs`.
pub(crate) fn told(error: impl std::fmt::Display, folder: &Path) -> String {
    format!("{error:#}").replace(&folder.display().to_string(), "runs")
}

/// A line with its checksum, as the documentation says it is made.
pub(crate) fn sealed(json: &str) -> Vec<u8> {
    let checksum = crc32fast::hash(format!(" {json}").as_bytes());
    format!("{checksum:08x} {json}\n").into_bytes()
}

/// Whether tests try all cases, and not only some.
pub(crate) fn is_long() -> bool {
    std::env::var_os("COGWORK_LONG_TESTS").is_some()
}
