//! Forks of runs.

use cogwork_browser::{Browser, Result};
use fantoccini::Locator;

use super::{ENDED, WAITING, assert_only_refused, labelled, open_run, press, studio, until_text};
use crate::support::{assert_quiet, desktop};

const OUTCOME: &str = "dialog textarea[aria-label^='The outcome']";
const STATE: &str = "dialog textarea[aria-label^='The state']";

/// Replaces a part of the text of a control.
async fn edit(browser: &Browser, control: &str, part: &str, with: &str) -> Result<()> {
    let script = format!(
        "const text = document.querySelector({control:?});
         if (!text.value.includes({part:?})) throw new Error(text.value);
         text.value = text.value.replaceAll({part:?}, {with:?});"
    );
    browser.run(&script).await?;
    Ok(())
}

/// Waits until the dialog shows what is recorded.
async fn until_recorded(browser: &Browser) -> Result<()> {
    let script = "return document.querySelector('#fork-state option[value=\"0\"]') !== null";
    browser.until(script).await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn a_run_is_forked_at_a_thought_and_compared_with_its_original() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    browser.open_url(studio.url().as_str()).await?;
    open_run(&browser, &studio, ENDED).await?;
    until_text(&browser, ".studio-actions", "Fork").await?;

    // The button is on the thought that is shown.
    until_text(&browser, ".fork-here", "Fork at step 9").await?;
    press(&browser, "Fork at step 9").await?;
    until_recorded(&browser).await?;
    browser.screenshot("studio-fork").await?;
    let step = labelled(&browser, "Step").await?;
    step.clear().await?;
    step.send_keys("three").await?;
    press(&browser, "Fork").await?;
    until_text(&browser, "dialog [role=alert]", "whole number").await?;

    step.clear().await?;
    step.send_keys("6").await?;
    press(&browser, "Fork").await?;
    let link = "Compare with the original, forked at step 6";
    until_text(&browser, ".studio-actions a", link).await?;
    until_text(&browser, ".studio-actions", "✓ ended").await?;
    browser.screenshot("studio-forked").await?;

    let link = browser.client().find(Locator::LinkText(link)).await?;
    link.click().await?;
    until_text(&browser, ".compare h2", "Runs").await?;
    until_text(&browser, "[aria-label=Answers]", "the same").await?;
    browser.screenshot("studio-fork-compared").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn a_fork_has_an_edited_reply_and_an_edited_state() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    browser.open_url(studio.url().as_str()).await?;
    open_run(&browser, &studio, ENDED).await?;
    until_text(&browser, ".fork-here", "Fork at step 9").await?;
    press(&browser, "Fork at step 9").await?;
    until_recorded(&browser).await?;

    let outcome = labelled(&browser, "Outcome of this step").await?;
    outcome.select_by_value("0").await?;
    edit(&browser, OUTCOME, "{", "{,").await?;
    press(&browser, "Fork").await?;
    until_text(&browser, "#fork-outcome-problem", "line 1 column").await?;
    browser.screenshot("studio-fork-refused").await?;
    assert_only_refused(&browser, 422).await?;
    edit(&browser, OUTCOME, "{,", "{").await?;

    let state = labelled(&browser, "State before this step").await?;
    state.select_by_value("0").await?;
    edit(&browser, STATE, "A train goes", "A coach goes").await?;
    press(&browser, "Fork").await?;
    until_text(&browser, ".studio-actions a", "forked at step 9").await?;
    until_text(&browser, ".studio-actions", "✓ ended").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn what_was_typed_stays_when_the_step_changes_or_is_wrong() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    browser.open_url(studio.url().as_str()).await?;
    open_run(&browser, &studio, WAITING).await?;
    until_text(&browser, ".studio-actions", "Fork").await?;
    press(&browser, "Fork").await?;
    until_recorded(&browser).await?;
    let step = labelled(&browser, "Step").await?;
    step.clear().await?;
    step.send_keys("2\t").await?;
    until_recorded(&browser).await?;
    let state = labelled(&browser, "State before this step").await?;
    state.select_by_value("0").await?;
    edit(&browser, STATE, "a lamp", "two lamps").await?;

    let step = labelled(&browser, "Step").await?;
    step.clear().await?;
    step.send_keys("40").await?;
    press(&browser, "Fork").await?;
    until_text(&browser, "#fork-at-problem", "expected a step from 1 to").await?;
    assert_only_refused(&browser, 422).await?;

    step.clear().await?;
    step.send_keys("2\t").await?;
    let kept = format!("return document.querySelector({STATE:?}).value.includes('two lamps')");
    browser.until(&kept).await?;
    press(&browser, "Fork").await?;
    until_text(&browser, ".wait-why", "A refund of two lamps").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}
