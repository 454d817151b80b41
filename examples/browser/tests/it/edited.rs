//! Records that were edited: contradictory events, and texts and lists that are made to be slow.

use std::fs;
use std::path::{Path, PathBuf};

use cogwork_browser::{Result, runs};
use serde_json::{Value, json};

use crate::support::{assert_quiet, desktop, number, select_everything, text};

fn page_of(folder: &Path, events: &[Value]) -> Result<PathBuf> {
    let header = json!({"at": 0.0, "type": "opened", "run": "edited", "flow": "f", "started": 1.0});
    let lines = [&header].into_iter().chain(events);
    let lines: Vec<_> = lines.map(Value::to_string).collect();

    let record = folder.join("edited.events");
    fs::write(&record, lines.join("\n") + "\n")?;
    runs::page_of(&record)
}

fn reported(at: f64, source: &str, report: Value) -> Value {
    json!({"at": at, "step": "f/n#1", "type": "reported", "source": source, "report": report})
}

fn chat(at: f64, report: Value) -> Value {
    reported(at, "chat", report)
}

fn solving(report: Value) -> Value {
    reported(0.5, "solving", report)
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn contradictory_events_are_shown() -> Result<()> {
    let mut events = vec![
        json!({"at": 9.0, "step": "f/n#1", "type": "ended", "action": "done", "steps": 7}),
        json!({"at": 1.0, "step": "f/n#1", "type": "moved", "action": "on", "to": "nowhere"}),
        json!({"at": -5.0, "step": "f/n#1", "type": "phase_finished", "phase": "exec", "took": -3.0}),
        json!({"at": 0.5, "step": "f/n#1", "type": "step_entered"}),
        json!({"at": 1e308, "type": "opened", "started": -1e308}),
        json!({"at": 1e308, "step": "f/m#1", "type": "step_entered"}),
        json!({"at": 1e308, "type": "opened", "started": 1e308}),
        json!({"at": 1.0, "type": "run_started"}),
        chat(
            1.0,
            json!({"type": "judged", "call": 99, "verdict": "usable"}),
        ),
    ];
    for cost in [-3.5, 1e308, 1e308, 1e-10] {
        // All calls have the same number, and send messages that aren't there.
        let usage = json!({"input": 5, "output": 0});
        let call = json!({"type": "chat", "call": 1, "messages": [7, [3, 5]], "took": -4.0, "cost": cost, "reply": "r", "usage": usage});
        events.push(chat(2.0, call));
    }
    for (name, from) in [("a", 2), ("b", 1), ("c", 3), ("d", 99)] {
        let number = events.len() - 12;
        let branch = json!({"type": "branch", "id": 1, "name": name, "from": from, "status": "merged", "into": number});
        let stage = json!({"type": "stage", "thought": number, "branch": name, "parents": [number, 2], "stage": "s"});
        events.push(solving(branch));
        events.push(solving(stage));
        events.push(solving(json!({"type": "merged", "thought": number, "into": name, "branches": ["a", "b", name]})));
    }

    let folder = tempfile::tempdir()?;
    let page = page_of(folder.path(), &events)?;
    let browser = desktop().await?;
    browser.open(&page).await?;

    let shown = select_everything(&browser).await?;
    assert_eq!(shown.as_array().map(Vec::len), Some(1), "{shown}");
    let branches = "return document.querySelector('#tab-branch .count').textContent * 1";
    assert_eq!(number(&browser, branches).await?, 4.0);

    browser.run("document.querySelector('#tab-call').click(); document.querySelector('#panel-call .list-row').click()").await?;
    browser
        .run("for (const part of document.querySelectorAll('details')) part.open = true")
        .await?;
    let detail = text(&browser, ".detail").await?;
    assert!(
        detail.contains("Message 7 is not in the record."),
        "{detail}"
    );

    for scale in ["order", "time"] {
        let script = format!(
            "const scale = document.querySelector('.timeline select'); scale.value = '{scale}'; scale.dispatchEvent(new Event('change'));"
        );
        browser.run(&script).await?;
        browser.run("for (let zoom = 0; zoom < 9; zoom += 1) document.querySelector('[aria-label=\"Zoom in\"]').click()").await?;
    }
    browser.screenshot("edited").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

/// Each of these kept the page busy for minutes, or for ever.
#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn what_is_made_to_be_slow_is_shown() -> Result<()> {
    let step = format!("f/{}", "#1[".repeat(300_000));
    let judgement = format!("Evaluation {}", "1".repeat(300_000));
    let changes: Vec<_> = (0..50_000)
        .map(|_| json!({"path": "1", "change": "reworded", "from": "x"}))
        .collect();
    let ranges = json!([0, 1_000_000_000]);
    let mut events = vec![
        json!({"at": 0.1, "step": step, "type": "step_entered"}),
        reported(
            0.2,
            "reasoning",
            json!({"type": "thought", "thought": 1, "text": judgement, "plan": [], "changes": changes}),
        ),
        chat(
            0.3,
            json!({"type": "chat", "call": 1, "messages": vec![ranges; 10_000], "reply": "rrrr\n".repeat(20_000)}),
        ),
    ];
    let repairs: Vec<_> = (0..20_000)
        .map(|at| json!({"kind": "json", "what": "w", "line": at + 1}))
        .collect();
    events.push(chat(
        0.4,
        json!({"type": "judged", "call": 1, "verdict": "usable", "repairs": repairs}),
    ));
    for number in 0..100_000 {
        events.push(solving(
            json!({"type": "stage", "thought": number, "branch": "b", "stage": "s", "text": "t"}),
        ));
    }

    let folder = tempfile::tempdir()?;
    let page = page_of(folder.path(), &events)?;
    let browser = desktop().await?;
    browser.open(&page).await?;
    browser.run("document.querySelector('#tab-call').click(); document.querySelector('#panel-call .list-row').click()").await?;
    assert!(
        number(
            &browser,
            "return document.querySelectorAll('.detail mark.repair').length"
        )
        .await?
            > 0.0
    );

    assert_quiet(&browser).await?;
    browser.close().await
}

/// A report of a program may have any values.
#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn the_search_finds_values_that_are_not_texts() -> Result<()> {
    let plan = json!([{"description": {"deep": "needle"}, "status": "Done", "result": 42}]);
    let thought = json!({"type": "thought", "thought": 1, "text": ["a"], "plan": plan});
    let folder = tempfile::tempdir()?;
    let page = page_of(folder.path(), &[reported(0.5, "reasoning", thought)])?;

    let browser = desktop().await?;
    browser.open(&page).await?;
    for wanted in ["42", "needle"] {
        let script = format!(
            "const input = document.querySelector('#search'); input.value = '{wanted}'; input.dispatchEvent(new Event('input'));"
        );
        browser.run(&script).await?;
        browser
            .until("return document.querySelectorAll('.search-popup .list-row').length === 1")
            .await?;
        browser.run("document.querySelector('#search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))").await?;
    }

    assert_quiet(&browser).await?;
    browser.close().await
}
