//! Texts of runs never become markup, and long ones don't widen the pages.

use cogwork_browser::runs::HOSTILE;
use cogwork_browser::studio::{REFUND, ServedStudio, TRAIN};
use cogwork_browser::{Browser, Result};
use serde_json::Value;

use super::{enter, open_run, press, until_rows, until_text};
use crate::support::{DESKTOP, assert_quiet, desktop, number};

/// Checks what is shown now.
async fn assert_only_text(browser: &Browser) -> Result<()> {
    let hacked = browser.run("return window.hacked ?? null").await?;
    assert_eq!(hacked, Value::Null);
    let elements = "return document.querySelectorAll('script, style, img, iframe, object, embed, base, meta[http-equiv]').length";
    assert_eq!(
        number(browser, elements).await?,
        1.0,
        "only the script of the page"
    );

    let shown = browser
        .run("return document.body.innerText + document.title")
        .await?;
    let shown = shown.as_str().unwrap_or_default();
    assert!(
        !shown.contains(['\u{202e}', '\u{1b}', '\u{7}']),
        "{shown:?}"
    );

    let width = number(browser, "return document.documentElement.scrollWidth").await?;
    assert!(width <= f64::from(DESKTOP.0), "{width} pixels wide");
    assert_quiet(browser).await
}

async fn hostile_studio() -> Result<ServedStudio> {
    let studio = ServedStudio::start().await?;
    let long = "x".repeat(5_000);
    studio.add_failed(HOSTILE, HOSTILE, HOSTILE).await?;
    studio.add_failed("long", &long, &long).await?;
    studio.add_waiting("asks", HOSTILE).await?;
    studio.add_waiting("asks at length", &long).await?;

    studio.finish(REFUND, "order", HOSTILE).await?;
    studio.finish(TRAIN, "thoughts", HOSTILE).await?;
    studio.finish(TRAIN, "long thoughts", &long).await?;
    Ok(studio)
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn texts_are_only_shown() -> Result<()> {
    let studio = hostile_studio().await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;
    until_rows(&browser, "rows.length === 7").await?;
    until_text(
        &browser,
        ".runs-table",
        "<script>window.hacked = 1</script>",
    )
    .await?;
    browser.screenshot("studio-hostile").await?;
    let heights = "return Math.max(...[...document.querySelectorAll('.runs-table tr')].map((row) => row.offsetHeight))";
    let highest = number(&browser, heights).await?;
    assert!(highest < 200.0, "a row is {highest} pixels high");
    assert_only_text(&browser).await?;

    for run in [
        HOSTILE,
        "long",
        "asks",
        "asks at length",
        "order",
        "thoughts",
        "long thoughts",
    ] {
        open_run(&browser, &studio, run).await?;
        until_text(&browser, ".studio-actions", "").await?;
        let name = run.split(' ').next().unwrap_or_default();
        if name.starts_with("asks") {
            press(&browser, "Send the answer").await?;
        }
        let name = if run == HOSTILE { "id" } else { run };
        browser
            .screenshot(&format!("studio-hostile-{}", name.replace(' ', "-")))
            .await?;
        assert_only_text(&browser).await?;
    }

    for pair in [
        (HOSTILE, "order"),
        ("thoughts", "long thoughts"),
        ("long", HOSTILE),
    ] {
        let pair = studio.page(&[("compare", pair.0), ("with", pair.1)])?;
        browser.open_url(pair.as_str()).await?;
        browser.screenshot("studio-hostile-pair").await?;
        assert_only_text(&browser).await?;
    }
    browser.close().await
}
