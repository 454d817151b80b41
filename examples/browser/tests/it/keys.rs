//! The keyboard, the replay and the search.

use cogwork_browser::{Browser, Result, runs};
use fantoccini::Locator;
use fantoccini::key::Key;

use crate::support::{assert_quiet, desktop, text};

async fn press(browser: &Browser, keys: &str) -> Result<()> {
    let focused = browser.client().active_element().await?;
    focused.send_keys(keys).await?;
    Ok(())
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn replay_and_select() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::quickstart(folder.path()).await?;
    let browser = desktop().await?;
    browser.open(&page).await?;
    assert_eq!(text(&browser, ".player-where").await?, "9 / 9");

    press(&browser, &format!("{}", Key::Left)).await?;
    assert_eq!(text(&browser, ".player-where").await?, "8 / 9");
    assert!(
        text(&browser, ".detail-title")
            .await?
            .starts_with("Thought 8")
    );
    assert_eq!(text(&browser, ".node.current .node-visits").await?, "8×");

    press(&browser, "k").await?;
    assert!(
        text(&browser, ".detail-title")
            .await?
            .starts_with("Thought 7")
    );
    press(&browser, "2").await?;
    press(&browser, &format!("{}", Key::Home)).await?;
    assert_eq!(text(&browser, ".player-where").await?, "1 / 9");

    press(&browser, " ").await?;
    browser
        .client()
        .wait()
        .for_element(Locator::Css("[aria-label=Pause]"))
        .await?;
    let is_at_end = "return document.querySelector('.player-where').textContent === '9 / 9'";
    for _ in 0..200 {
        if browser.run(is_at_end).await? == true {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(text(&browser, ".player-where").await?, "9 / 9");
    assert_eq!(text(&browser, "[aria-label=Play]").await?, "");

    press(&browser, "?").await?;
    let help = browser
        .client()
        .wait()
        .for_element(Locator::Css("dialog[open]"))
        .await?;
    assert!(
        help.text()
            .await?
            .contains("previous and next step of the replay")
    );
    press(&browser, &format!("{}", Key::Escape)).await?;
    assert_eq!(
        browser
            .run("return document.querySelector('dialog[open]')")
            .await?,
        serde_json::Value::Null
    );

    press(&browser, "t").await?;
    let theme = browser
        .run("return document.documentElement.dataset.theme")
        .await?;
    assert_eq!(theme, "dark");

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn search_and_open_a_result() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::quickstart(folder.path()).await?;
    let browser = desktop().await?;
    browser.open(&page).await?;

    press(&browser, "/").await?;
    press(&browser, "A CARRY was dropped").await?;
    browser
        .client()
        .wait()
        .for_element(Locator::Css(".search-popup mark"))
        .await?;
    assert_eq!(
        text(&browser, ".search-popup mark").await?,
        "a carry was dropped"
    );
    browser.screenshot("search").await?;

    press(&browser, &format!("{}", Key::Enter)).await?;
    assert!(
        text(&browser, ".detail-title")
            .await?
            .starts_with("Thought 5")
    );
    let focused = browser.client().active_element().await?;
    assert!(focused.text().await?.starts_with("Thought 5"));

    press(&browser, "/").await?;
    press(&browser, "no such text anywhere").await?;
    browser
        .client()
        .wait()
        .for_element(Locator::Css(".search-popup"))
        .await?;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    assert_eq!(text(&browser, ".search-status").await?, "0 results");

    assert_quiet(&browser).await?;
    browser.close().await
}
