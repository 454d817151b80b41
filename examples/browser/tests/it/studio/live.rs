//! A run that is followed while it is recorded.

use cogwork_browser::Result;
use cogwork_browser::studio::{ServedStudio, TRAIN, TRAIN_PROBLEM};

use super::{open_run, until_text};
use crate::support::{assert_quiet, desktop, text};

/// Counts the thoughts while the page is open, and collects the texts that grow.
const WATCH: &str = "
    window.counts = new Set();
    window.growing = new Set();
    setInterval(() => {
      window.counts.add(document.querySelector('#tab-thought .count')?.textContent ?? '0');
      window.growing.add(document.querySelector('.growing:not([hidden])')?.textContent ?? '');
    }, 20);";

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn thoughts_grow_while_they_are_recorded() -> Result<()> {
    let studio = ServedStudio::start().await?;
    let browser = desktop().await?;
    browser.open_url(studio.url().as_str()).await?;
    until_text(&browser, ".empty", "Nothing is recorded here yet").await?;
    browser.screenshot("studio-empty").await?;

    studio.begin(TRAIN, "live", TRAIN_PROBLEM).await?;
    open_run(&browser, &studio, "live").await?;
    browser.run(WATCH).await?;
    browser.until("return window.counts.size > 3").await?;
    browser.screenshot("studio-live").await?;
    studio.until_stopped("live").await?;
    until_text(&browser, ".studio-actions", "✓ ended").await?;
    until_text(&browser, "#tab-thought .count", "9").await?;

    let counts = browser.run("return window.counts.size").await?;
    assert!(
        counts.as_u64().is_some_and(|counts| counts > 4),
        "{counts} counts"
    );
    let growing = browser.run("return window.growing.size").await?;
    assert!(
        growing.as_u64().is_some_and(|growing| growing > 4),
        "{growing} texts"
    );
    assert_eq!(text(&browser, ".growing:not([hidden])").await?, "");

    // The newest thought is shown until another one is selected.
    until_text(&browser, ".detail-title", "Thought 9").await?;
    until_text(&browser, ".player-where", "9 / 9").await?;
    browser.screenshot("studio-live-ended").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}
