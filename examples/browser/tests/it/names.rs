//! Names that a script could mistake for something else: numbers, fields of objects, and characters
//! that are escaped in the names of steps.

use std::fs;

use cogwork::flow::{Branches, Flow, from_fn};
use cogwork_browser::{Result, runs};
use cogwork_trace::{RecorderSettings, RunRecorder};
use serde_json::{Value, json};

use crate::support::{assert_quiet, desktop, select_everything};

const NAMES: [&str; 8] = [
    "__proto__",
    "constructor",
    "toString",
    "7",
    "0",
    "a b",
    "100%/#[1]",
    "\u{202e}nigeb\u{7}",
];

const VISITED: &str = "return document.querySelectorAll('.node.visited').length";
const NODES: &str = "return document.querySelectorAll('.node').length";

/// A flow in which every name is the name of a node, and of a branch with a node of this name.
fn named() -> Result<Flow<u32>> {
    let mut branches = Branches::new();
    for name in NAMES {
        let flow = Flow::from_node(name, from_fn(|_: &mut u32| ()))?;
        branches = branches.branch(name, flow, |number: &u32| *number, |_: &mut u32, _| ());
    }

    let builder = NAMES
        .into_iter()
        .fold(Flow::builder("names"), |builder, name| {
            builder.node(name, from_fn(|_: &mut u32| ()))
        });
    let flow = builder.branches("fork", branches);
    Ok(flow.chain(NAMES.into_iter().chain(["fork"])).build()?)
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn nodes_and_branches_of_any_name_light_up() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let record = folder.path().join("names.events");
    let recorder = RunRecorder::in_memory(RecorderSettings::default());
    let flow = named()?;
    flow.begin().with_events(&recorder).finish(&mut 0).await?;
    let page = runs::page_of_recorder(&recorder, &record)?;

    let browser = desktop().await?;
    browser.open(&page).await?;
    let all = 2 * NAMES.len() + 1;
    // The branches begin folded, because the graph is high.
    assert_eq!(browser.run(NODES).await?, NAMES.len() + 1);
    browser
        .run("document.querySelector('.fold').dispatchEvent(new Event('click'))")
        .await?;
    assert_eq!(browser.run(NODES).await?, all);
    assert_eq!(browser.run(VISITED).await?, all);

    // The first step alone lights up one node.
    browser
        .run("document.querySelector('[aria-label=\"First step\"]').click()")
        .await?;
    assert_eq!(browser.run(VISITED).await?, 1);
    assert_eq!(select_everything(&browser).await?, json!([all]));
    browser.screenshot("names").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

/// Words that are looked up: types, sources, statuses and so on. Those of objects change nothing.
#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn words_of_a_record_are_not_fields_of_objects() -> Result<()> {
    let words = [
        "__proto__",
        "constructor",
        "toString",
        "freeze",
        "assign",
        "setPrototypeOf",
    ];
    let header = json!({"at": 0.0, "type": "opened", "run": "r", "flow": "f", "started": 1.0});
    let mut lines = vec![header];
    let mut add = |event: Value| lines.push(event);
    let reported = |source: &str, report: Value| json!({"at": 0.5, "step": "f/n#1", "type": "reported", "source": source, "report": report});

    add(json!({"at": 0.1, "step": "f/n#1", "type": "step_entered"}));
    for source in words {
        for word in words {
            add(reported(
                source,
                json!({"type": word, "steps": null, "calls": 7}),
            ));
        }
    }
    for word in words {
        let plan = json!([{"description": "a", "status": word}]);
        let change = json!({"path": "1", "description": "a", "change": word, "sign": 7});
        add(json!({"at": 0.6, "type": word, "step": word}));
        add(
            json!({"at": 0.6, "step": "f/n#1", "type": "phase_finished", "phase": word, "took": 0.5}),
        );
        add(reported("reasoning", json!({"type": word})));
        add(reported(
            "reasoning",
            json!({"type": "thought", "thought": 1, "text": "t", "plan": plan, "changes": [change]}),
        ));
        add(reported(
            "reasoning",
            json!({"type": "ended", "reason": word}),
        ));
        add(reported(
            "chat",
            json!({"type": "chat", "call": 1, "model": word, "settings": {word: word}}),
        ));
        add(reported(
            "chat",
            json!({"type": "judged", "call": 1, "verdict": word}),
        ));
        add(reported(
            "solving",
            json!({"type": "branch", "id": 1, "name": word, "status": word}),
        ));
        add(reported(
            "solving",
            json!({"type": "stage", "id": 1, "branch": 1, "stage": word, "parameters": {word: word}}),
        ));
    }
    add(json!({"at": 1.0, "step": "f/n#1", "type": "ended", "action": "done", "steps": 1}));

    let folder = tempfile::tempdir()?;
    let record = folder.path().join("words.events");
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    fs::write(&record, lines.join("\n") + "\n")?;
    let page = runs::page_of(&record)?;

    let browser = desktop().await?;
    browser.open(&page).await?;
    let shown = select_everything(&browser).await?;
    assert_eq!(shown.as_array().map(Vec::len), Some(1), "{shown}");

    let text = browser
        .run("return document.querySelector('#app').textContent")
        .await?;
    let text = text.as_str().unwrap_or_default();
    for odd in ["undefined", "native code", "cannot be shown", "[object"] {
        assert!(!text.contains(odd), "{odd} in {text}");
    }
    assert_quiet(&browser).await?;
    browser.close().await
}
