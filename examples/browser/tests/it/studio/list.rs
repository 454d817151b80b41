//! The list of runs, and what is opened from it.

use cogwork_browser::Result;
use fantoccini::Locator;
use fantoccini::key::Key;

use super::{ENDED, WAITING, enter, labelled, press, studio, until_rows, until_text};
use crate::controls::click_every_control;
use crate::support::{assert_quiet, desktop, text};

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn has_each_status_and_is_searched() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;
    until_rows(&browser, "rows.length === 4").await?;
    let address = browser.client().current_url().await?;
    assert_eq!(address.query(), None, "the token doesn't stay");

    browser.screenshot("studio-list").await?;
    browser.prefer("dark").await?;
    browser.screenshot("studio-list-dark").await?;
    for shown in [
        "✓ ended",
        "‖ waiting",
        "× failed",
        "… open",
        "the disk is full",
        "decision",
    ] {
        until_text(&browser, ".runs-table tbody", shown).await?;
    }
    until_text(
        &browser,
        &format!("[data-run='{ENDED}'] [data-label=Answer]"),
        "210",
    )
    .await?;

    for (filter, runs) in [
        ("Open", "import of Monday"),
        ("Waiting", WAITING),
        ("Failed", "upload"),
        ("Ended", ENDED),
        ("Damaged", ""),
    ] {
        press(&browser, filter).await?;
        until_rows(&browser, &format!("rows.join() === {runs:?}")).await?;
    }
    until_text(&browser, ".empty", "No run matches").await?;

    press(&browser, "All").await?;
    let search = browser.client().find(Locator::Css("[type=search]")).await?;
    search.send_keys("DISK is").await?;
    until_rows(&browser, "rows.join() === 'upload'").await?;
    browser.screenshot("studio-search").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn opens_a_run_that_has_ended() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;

    browser
        .client()
        .find(Locator::LinkText(ENDED))
        .await?
        .click()
        .await?;
    until_text(&browser, ".studio-actions", "✓ ended").await?;
    until_text(&browser, "#tab-thought .count", "9").await?;
    assert_eq!(text(&browser, ".player-where").await?, "9 / 9");
    assert_eq!(text(&browser, "#tab-thought .count").await?, "9");
    browser.screenshot("studio-run").await?;

    browser
        .client()
        .find(Locator::LinkText("← All runs"))
        .await?
        .click()
        .await?;
    until_rows(&browser, "rows.length === 4").await?;
    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn compares_two_runs() -> Result<()> {
    let studio = studio().await?;
    let other = "A train goes 80 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?";
    studio
        .finish(cogwork_browser::studio::TRAIN, "faster", other)
        .await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;
    until_rows(&browser, "rows.length === 5").await?;

    for run in [ENDED, "faster"] {
        let name = format!("[aria-label='Compare run {run}']");
        browser
            .client()
            .find(Locator::Css(&name))
            .await?
            .click()
            .await?;
    }
    press(&browser, "Compare").await?;
    until_text(&browser, ".figures-table", "Thoughts").await?;
    until_text(&browser, "[aria-label=Answers] del", "210").await?;
    until_text(&browser, "[aria-label=Answers] ins", "260").await?;
    browser.screenshot("studio-compare").await?;
    browser.prefer("dark").await?;
    browser.screenshot("studio-compare-dark").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn starts_a_flow_of_a_file() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;

    press(&browser, "Start a flow").await?;
    labelled(&browser, "Flow")
        .await?
        .select_by_value("review")
        .await?;
    labelled(&browser, "Input")
        .await?
        .send_keys("the sea")
        .await?;
    browser.screenshot("studio-start").await?;
    press(&browser, "Start").await?;

    until_text(
        &browser,
        ".wait-why",
        "Publish this? The sea is a grey door",
    )
    .await?;
    labelled(&browser, "action")
        .await?
        .select_by_label("yes")
        .await?;
    press(&browser, "Send the answer").await?;
    until_text(&browser, ".studio-actions", "✓ ended").await?;
    until_text(&browser, ".waits", "The run continues.").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn every_control_can_be_clicked() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;

    enter(&browser, &studio).await?;
    let clicked = click_every_control(&browser).await?;
    assert!(clicked >= 9, "{clicked} on the list");

    for (run, least) in [(ENDED, 20), (WAITING, 12)] {
        super::open_run(&browser, &studio, run).await?;
        until_text(&browser, ".studio-actions", "Fork").await?;
        let clicked = click_every_control(&browser).await?;
        assert!(clicked >= least, "{clicked} on {run}");
        assert_quiet(&browser).await?;
    }
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn is_used_with_the_keyboard() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;
    let key = async |key: Key| -> Result<String> {
        let focused = browser.client().active_element().await?;
        focused.send_keys(&format!("{key}")).await?;
        let name = browser
            .run("const node = document.activeElement;
                  return [node.getAttribute('aria-label') ?? node.textContent.trim(), getComputedStyle(node).outlineStyle].join('|')")
            .await?;
        Ok(name.as_str().unwrap_or_default().to_owned())
    };

    let mut reached = Vec::new();
    while !reached.contains(&"Start a flow|auto".to_owned()) && reached.len() < 40 {
        reached.push(key(Key::Tab).await?);
        let last = reached.last().map(String::as_str).unwrap_or_default();
        if last.starts_with("Start a flow") {
            break;
        }
    }
    for name in [
        "Skip to the content",
        "All",
        "Damaged",
        "Search runs",
        "Start a flow",
    ] {
        let is_named = |reached: &&String| reached.split('|').next() == Some(name);
        let found = reached.iter().find(is_named);
        assert!(
            found.is_some_and(|found| !found.ends_with("|none")),
            "{name}: {reached:?}"
        );
    }

    key(Key::Enter).await?;
    until_text(&browser, "dialog[open] h2", "Start a flow").await?;
    key(Key::Escape).await?;
    browser
        .until("return !document.querySelector('dialog[open]')")
        .await?;

    for _ in 0..20 {
        if key(Key::Tab).await?.starts_with("import of Monday|") {
            break;
        }
    }
    key(Key::Enter).await?;
    until_text(&browser, ".studio-actions", "… open").await?;
    assert_quiet(&browser).await?;
    browser.close().await
}
