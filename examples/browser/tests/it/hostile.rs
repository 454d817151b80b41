//! Text of a record never becomes markup, and its control characters are shown.

use std::fs;

use cogwork_browser::{Result, runs};
use fantoccini::Locator;

use crate::support::{assert_quiet, desktop, number};

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn text_is_only_shown() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::hostile(folder.path())?;
    let browser = desktop().await?;
    browser.open(&page).await?;

    // Everything is shown once: each entry of each list, with all parts that can be opened.
    let lists = number(
        &browser,
        "return document.querySelectorAll('.browser [role=tab]:not([hidden])').length",
    )
    .await?;
    assert!(lists >= 5.0, "{lists} lists");
    for list in 0..lists as usize {
        let tabs = browser
            .client()
            .find_all(Locator::Css(".browser [role=tab]:not([hidden])"))
            .await?;
        let tab = tabs.into_iter().nth(list).ok_or("the tab is gone")?;
        tab.click().await?;

        let rows = "return [...document.querySelectorAll('.browser .list-row')].filter((row) => row.checkVisibility()).length";
        for row in 0..number(&browser, rows).await? as usize {
            let script = format!(
                "[...document.querySelectorAll('.browser .list-row')].filter((row) => row.checkVisibility())[{row}]?.click();
                 for (const part of document.querySelectorAll('details')) part.open = true;"
            );
            browser.run(&script).await?;
            let elements = "return document.querySelectorAll('script').length * 100 + document.querySelectorAll('img, iframe, object, embed').length";
            assert_eq!(number(&browser, elements).await?, 200.0);
        }
    }
    browser.screenshot("hostile").await?;

    assert_eq!(
        browser.run("return window.hacked ?? null").await?,
        serde_json::Value::Null
    );
    assert!(browser.client().get_alert_text().await.is_err());
    let shown = browser.run("return document.body.innerText").await?;
    let shown = shown.as_str().unwrap_or_default();
    assert!(
        shown.contains("<script>window.hacked = 1</script>"),
        "{shown}"
    );
    assert!(
        shown.contains("U+202E") && shown.contains("U+001B"),
        "{shown}"
    );
    assert!(
        !shown.contains(['\u{202e}', '\u{1b}', '\u{7}']),
        "{shown:?}"
    );

    assert_quiet(&browser).await?;
    browser.close().await
}

/// Shows that the other tests would notice a violation.
#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn a_script_that_was_added_is_refused_and_logged() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::hostile(folder.path())?;
    let html = fs::read_to_string(&page)?;
    fs::write(
        &page,
        html.replace("</body>", "<script>window.hacked = 3</script></body>"),
    )?;

    let browser = desktop().await?;
    browser.open(&page).await?;
    assert_eq!(
        browser.run("return window.hacked ?? null").await?,
        serde_json::Value::Null
    );

    let log = browser.log().await?;
    assert!(
        log.iter()
            .any(|entry| entry.contains("Content Security Policy")),
        "{log:?}"
    );
    browser.close().await
}
