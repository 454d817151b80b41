//! Runs whose pages are opened in a browser.

use std::convert::Infallible;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::watch::note;
use cogwork::flow::{Action, Flow, from_fn, from_phases_with};
use cogwork::journal::Store;
use cogwork::strategies::Solver;
use cogwork::strategies::methods::{Search, TreeOfThoughts};
use cogwork::typed::ask::Limits;
use cogwork_quickstart::RuleBasedClient;
use cogwork_trace::{Page, RecorderSettings, RunRecorder};
use serde_json::{Value, json};

use crate::Result;
use crate::number_game::{self, Player};

/// Creates a file with the first event of a run.
fn events_file(path: &Path, run: &str, flow: &str) -> io::Result<fs::File> {
    let mut file = fs::File::create(path)?;
    let opened = json!({"at": 0.0, "type": "opened", "run": run, "flow": flow, "started": 1.0});
    writeln!(file, "{opened}")?;
    Ok(file)
}

/// Makes the page of a session with many branches, and of a plan with deep steps.
///
/// # Errors
///
/// Returns an error if the record cannot be written.
pub fn wide(folder: &Path, branches: u64, depth: u32) -> Result<PathBuf> {
    let path = folder.join("wide.events");
    let mut file = events_file(&path, "wide", "tree")?;
    let mut write = |source: &str, report: Value| {
        let event = json!({"step": "tree/grow#1", "at": 0.5, "type": "reported", "source": source, "report": report});
        writeln!(file, "{event}")
    };

    for number in 1..=branches {
        let name = format!("branch {number}");
        let from = number / 2;
        let status = if number % 3 == 0 { "pruned" } else { "open" };
        write(
            "solving",
            json!({"type": "branch", "id": number, "name": name, "from": from, "status": status, "score": number % 10}),
        )?;
        write(
            "solving",
            json!({"type": "stage", "id": number, "branch": number, "parent": from, "stage": "grow", "text": "Grow."}),
        )?;
    }

    let mut plan = json!([]);
    for level in 0..depth {
        plan = json!([{"description": format!("level {level}"), "status": "Pending", "sub_steps": plan}]);
    }
    write(
        "reasoning",
        json!({"type": "thought", "thought": 1, "text": "Deep.", "plan": plan, "next_thought_needed": false}),
    )?;
    drop(file);

    page_of(&path)
}

/// Writes the page of a file with events next to it.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or the page cannot be written.
pub fn page_of(events: &Path) -> Result<PathBuf> {
    let text = fs::read_to_string(events)?;
    let page = Page::from_events(text.lines().map(str::to_owned))?;
    write_page(&page, events)
}

/// Writes the page of what was recorded in memory.
///
/// # Errors
///
/// Returns an error if nothing was recorded, or the page cannot be written.
pub fn page_of_recorder(recorder: &RunRecorder, path: &Path) -> Result<PathBuf> {
    write_page(&Page::from_events(recorder.events())?, path)
}

fn write_page(page: &Page, path: &Path) -> Result<PathBuf> {
    let path = path.with_extension("html");
    page.write(fs::File::create(&path)?)?;
    Ok(path)
}

/// Makes the page of the quickstart, and returns its path.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn quickstart(folder: &Path) -> Result<PathBuf> {
    let record = folder.join("quickstart.events");
    let recorder = RunRecorder::in_memory(RecorderSettings::default());
    let client = RuleBasedClient::new().with_delay(Duration::from_millis(30));

    let flow = ChainOfThought::new(client).into_flow();
    let problem = "A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?";
    let run = flow.begin().with_id("quickstart");
    run.with_events(&recorder)
        .finish(&mut Reasoning::new(problem))
        .await?;

    page_of_recorder(&recorder, &record)
}

/// Makes the page of a tree of thoughts.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn tree_of_thoughts(folder: &Path) -> Result<PathBuf> {
    let record = folder.join("tree.events");
    let recorder = RunRecorder::in_memory(RecorderSettings::default());

    let tree = TreeOfThoughts {
        approaches: 2,
        proposals: 2,
        depth: 4,
        search: Search::BreadthFirst { beam_width: 2 },
        ..TreeOfThoughts::default()
    };
    let budget = Limits::default().with_calls(2_000).with_tokens(u64::MAX);
    let solver = Solver::new(Player, tree).with_limits(budget);

    let mut solving = solver.begin(number_game::problem());
    let flow = solver.into_flow()?;
    let run = flow.begin().with_id("number game");
    run.with_events(&recorder).finish(&mut solving).await?;

    page_of_recorder(&recorder, &record)
}

/// Makes the page of a run that stopped in the middle and was resumed.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn resumed(folder: &Path) -> Result<PathBuf> {
    let store = Store::files(folder.join("journal"));

    // The first attempt never finishes its second step, as if it had crashed there.
    for is_stuck in [true, false] {
        let flow = shop(is_stuck)?;
        let journal = store
            .start_or_resume("order-17", &flow, &String::new())
            .await?;
        let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
        let mut order: String = journal.state()?;

        let mut run = flow.begin().with_journal(journal).with_events(&recorder);
        let finished = tokio::time::timeout(Duration::from_millis(300), run.finish(&mut order));
        let _ = finished.await;
        recorder.flush().await?;
    }

    let page = Page::of_run(&store, "order-17").await?;
    write_page(&page, &folder.join("resumed"))
}

fn shop(is_stuck: bool) -> Result<Flow<String>> {
    let pack = from_phases_with(
        is_stuck,
        |_: &mut String| (),
        async |is_stuck, ()| {
            if is_stuck {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(())
        },
        |order: &mut String, ()| order.push_str(", packed"),
    );

    let flow = Flow::builder("shop")
        .start("pay")
        .node("pay", from_fn(|order: &mut String| order.push_str("paid")))
        .node("pack", pack)
        .node(
            "send",
            from_fn(|order: &mut String| order.push_str(", sent")),
        )
        .edge("pay", Action::DEFAULT, "pack")
        .edge("pack", Action::DEFAULT, "send")
        .end("send", Action::DEFAULT)
        .build()?;
    Ok(flow)
}

/// Makes the page of a run with many steps.
///
/// # Errors
///
/// Returns the error of the run.
pub async fn long(folder: &Path, steps: u64) -> Result<PathBuf> {
    let record = folder.join("long.events");
    let recorder = RunRecorder::in_memory(RecorderSettings::default());
    const AGAIN: Action = Action::from_static("again");
    const ENOUGH: Action = Action::from_static("enough");

    let count = from_fn(move |count: &mut u64| {
        *count += 1;
        note(|| format!("counted {count}"));
        if *count < steps { AGAIN } else { ENOUGH }
    });
    let flow = Flow::builder("count")
        .start("count")
        .node("count", count.with_actions([AGAIN, ENOUGH]))
        .edge("count", AGAIN, "count")
        .end("count", ENOUGH)
        .build()?;

    let run = flow.begin().with_id("long").with_max_steps(steps + 1);
    run.with_events(&recorder).finish(&mut 0).await?;
    page_of_recorder(&recorder, &record)
}

/// A text that would do something if it became markup, or if its characters were obeyed.
pub const HOSTILE: &str = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'> \
     \u{202e}evil\u{202c} \u{1b}[2J \u{7} \u{2028} {{script}}";

/// Makes the page of a record that is full of hostile text.
///
/// # Errors
///
/// Returns an error if the record cannot be written.
pub fn hostile(folder: &Path) -> Result<PathBuf> {
    let text = HOSTILE;
    let path = folder.join("hostile.events");
    let mut file = events_file(&path, text, text)?;
    let step = format!("f/{text}#1");
    let mut write = |source: Option<&str>, report: Value| {
        let event = json!({"step": step, "at": 0.5, "type": "reported", "source": source, "report": report});
        writeln!(file, "{event}")
    };

    let change = |kind: &str| json!({"path": "1", "description": text, "change": kind, "from": text, "to": text});
    let table = json!({"type": "table", "strategy": text, "stages": [{"name": text, "next": [text], "is_final": false}]});
    let chat = json!({"type": "chat", "call": 1, "name": text, "model": text, "messages": [0], "settings": {text: text, "tools": 0}, "took": 0.1,
        "reply": text, "thinking": text, "tool_calls": [{"id": text, "name": text, "arguments": text}], "finish": text, "id": text});
    let judged = json!({"type": "judged", "call": 1, "verdict": text, "problem": text,
        "repairs": [{"kind": text, "what": text, "line": 1}]});
    let plan = json!([{"description": text, "status": text, "result": text, "mark": text}]);

    write(
        Some("reasoning"),
        json!({"type": "started", "problem": text}),
    )?;
    write(
        Some("chat"),
        json!({"type": "message", "id": 0, "role": text, "content": text}),
    )?;
    let tool = json!({"name": text, "description": text, "input_schema": text});
    write(
        Some("chat"),
        json!({"type": "tools", "id": 0, "tools": [tool]}),
    )?;
    write(Some("chat"), chat)?;
    write(Some("chat"), judged)?;
    write(
        Some("reasoning"),
        json!({"type": "tool_call", "thought": 1, "name": text, "input": text}),
    )?;
    write(
        Some("reasoning"),
        json!({"type": "tool_result", "thought": 1, "name": text, "output": text, "failed": true}),
    )?;
    write(
        Some("reasoning"),
        json!({"type": "asking_again", "thought": 1, "problem": text}),
    )?;
    let changes = ["added", "removed", "reworded", "moved", text].map(change);
    write(
        Some("reasoning"),
        json!({"type": "thought", "thought": 1, "text": text, "plan": plan, "changes": changes, "next_thought_needed": false}),
    )?;
    write(Some("solving"), table)?;
    write(
        Some("solving"),
        json!({"type": "stage", "branch": text, "id": 2, "stage": text, "text": text, "parameters": {text: text}}),
    )?;
    write(
        Some("solving"),
        json!({"type": "branch", "id": text, "name": text, "from": 1, "status": text}),
    )?;
    write(None, json!({text: text}))?;

    for event in [
        json!({"step": step, "at": 0.6, "type": "noted", "text": text}),
        json!({"step": step, "at": 0.6, "type": "retrying", "attempts": 1, "delay": 0.1, "error": text}),
        json!({"step": step, "at": 0.6, "type": "moved", "action": text, "to": text}),
        json!({"step": step, "at": 0.6, "type": "failed", "error": text}),
    ] {
        writeln!(file, "{event}")?;
    }
    drop(file);

    page_of(&path)
}
