//! Forks of runs.

use cogwork_browser::Result;
use fantoccini::Locator;

use super::{ENDED, assert_only_refused, labelled, open_run, press, studio, until_text};
use crate::support::{assert_quiet, desktop};

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
    browser.screenshot("studio-fork").await?;
    let step = labelled(&browser, "Step").await?;
    step.clear().await?;
    step.send_keys("40").await?;
    press(&browser, "Fork").await?;
    until_text(&browser, "dialog [role=alert]", "expected a step from 1 to").await?;
    assert_only_refused(&browser, 422).await?;

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
