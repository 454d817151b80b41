//! The studio, over a folder of runs and with flows that it starts.

mod access;
mod accessible;
mod answers;
mod forks;
mod hostile;
mod list;
mod live;
mod sizes;

use cogwork_browser::studio::{REFUND, ServedStudio, TRAIN, TRAIN_PROBLEM};
use cogwork_browser::{Browser, Result};
use fantoccini::Locator;
use fantoccini::elements::Element;

/// The run that has ended.
const ENDED: &str = "train";

/// The run that waits.
const WAITING: &str = "order 17";

/// Returns a studio over runs of each status.
async fn studio() -> Result<ServedStudio> {
    let studio = ServedStudio::start().await?;
    studio.finish(TRAIN, ENDED, TRAIN_PROBLEM).await?;
    studio.finish(REFUND, WAITING, "a lamp").await?;
    studio
        .add_failed("upload", "export", "the disk is full")
        .await?;
    studio.add_open("import of Monday").await?;
    Ok(studio)
}

/// Enters the studio, which shows the list.
async fn enter(browser: &Browser, studio: &ServedStudio) -> Result<()> {
    browser.open_url(studio.url().as_str()).await?;
    until_rows(browser, "rows.length > 0").await
}

/// Opens the page of a run.
async fn open_run(browser: &Browser, studio: &ServedStudio, run: &str) -> Result<()> {
    browser
        .open_url(studio.page(&[("run", run)])?.as_str())
        .await
}

/// Waits until a condition of the `rows` of the list is true.
async fn until_rows(browser: &Browser, condition: &str) -> Result<()> {
    let script = format!(
        "const rows = [...document.querySelectorAll('[data-run]')].map((row) => row.dataset.run);
         return {condition};"
    );
    browser.until(&script).await
}

/// Waits until an element contains a text.
async fn until_text(browser: &Browser, selector: &str, text: &str) -> Result<()> {
    let script = format!(
        "return [...document.querySelectorAll({selector:?})].some((node) => node.textContent.includes({text:?}))"
    );
    browser.until(&script).await
}

/// Returns the control with a label, in an open dialog if there is one.
async fn labelled(browser: &Browser, label: &str) -> Result<Element> {
    let script = format!(
        "const place = document.querySelector('dialog[open]') ?? document;
         const shown = [...place.querySelectorAll('label')].find((node) => node.textContent.startsWith({label:?}));
         document.querySelector('[data-found]')?.removeAttribute('data-found');
         shown.control.dataset.found = 'true';"
    );
    browser.run(&script).await?;
    Ok(browser.client().find(Locator::Css("[data-found]")).await?)
}

/// Clicks the button with a text, in an open dialog if there is one.
async fn press(browser: &Browser, text: &str) -> Result<()> {
    let script = format!(
        "const place = document.querySelector('dialog[open]') ?? document;
         const shown = [...place.querySelectorAll('button')].find((node) => node.textContent === {text:?});
         document.querySelector('[data-found]')?.removeAttribute('data-found');
         shown.dataset.found = 'true';
         shown.scrollIntoView({{ block: 'center' }});"
    );
    browser.run(&script).await?;
    browser
        .client()
        .find(Locator::Css("[data-found]"))
        .await?
        .click()
        .await?;
    Ok(())
}

/// Returns an error if anything was logged, apart from answers of the server that refuse something.
async fn assert_only_refused(browser: &Browser, status: u16) -> Result<()> {
    let refused = format!("server responded with a status of {status}");
    let mut log = browser.log().await?;
    log.retain(|entry| !entry.contains(&refused));
    if log.is_empty() {
        Ok(())
    } else {
        Err(format!("the browser logged: {log:#?}").into())
    }
}
