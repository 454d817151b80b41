//! Every control of a page can be used, and nothing is logged.

use cogwork_browser::{Browser, Result, runs};
use fantoccini::Locator;

use crate::support::{assert_quiet, desktop, number, text};

/// Everything that can be clicked, apart from the rows of lists.
const CONTROLS: &str = "button, summary, select, [role=tab]";

/// Clicks every visible control, also those that appear by clicking others.
pub(crate) async fn click_every_control(browser: &Browser) -> Result<usize> {
    let mut clicked = 0;
    let mut failed = 0;

    loop {
        // Elements that a click creates anew are told apart by their name and place.
        let script = format!(
            "window.seen ??= new Set();
             const name = (node) => [node.tagName, node.id, node.getAttribute('aria-label'), node.textContent.slice(0, 60),
                 node.closest('section, nav, article, header')?.className].join('|');
             const next = [...document.querySelectorAll({CONTROLS:?})].find((node) =>
                 node.checkVisibility() && !node.closest('dialog:not([open])') && !window.seen.has(name(node)));
             document.querySelector('[data-next]')?.removeAttribute('data-next');
             if (!next) return false;
             window.last = name(next);
             window.seen.add(window.last);
             next.dataset.next = 'true';
             next.scrollIntoView({{ block: 'center' }});
             return true;"
        );
        if browser.run(&script).await? != true {
            return Ok(clicked);
        }

        // A list that is read again replaces its controls.
        let found = browser.client().find(Locator::Css("[data-next]")).await;
        let is_clicked = match found {
            Ok(control) => control.click().await.is_ok(),
            Err(_) => false,
        };
        if !is_clicked {
            failed += 1;
            if failed > 20 {
                let last = browser.run("return window.last").await?;
                return Err(format!("{last} cannot be clicked").into());
            }
            browser.run("window.seen.delete(window.last)").await?;
            continue;
        }
        clicked += 1;
        if clicked > 2_000 {
            return Err("there is no end of controls".into());
        }

        browser
            .run("const open = document.querySelector('dialog[open]'); if (open) { window.dialogs = (window.dialogs ?? 0) + 1; open.close(); }")
            .await?;
    }
}

/// Shows each list, and selects its first and last entry.
async fn select_in_every_list(browser: &Browser) -> Result<Vec<String>> {
    let mut titles = Vec::new();
    let lists = number(
        browser,
        "return document.querySelectorAll('.browser [role=tab]:not([hidden])').length",
    )
    .await?;

    for list in 0..lists as usize {
        let tabs = browser
            .client()
            .find_all(Locator::Css(".browser [role=tab]:not([hidden])"))
            .await?;
        let tab = tabs.into_iter().nth(list).ok_or("the tab is gone")?;
        tab.click().await?;

        for key in ["Home", "End"] {
            let script = format!(
                "const list = [...document.querySelectorAll('.browser .list')].find((node) => node.checkVisibility());
                 list.focus();
                 list.dispatchEvent(new KeyboardEvent('keydown', {{ key: {key:?}, bubbles: true }}));"
            );
            browser.run(&script).await?;
            let row = browser.client().find(Locator::Css(
                ".browser [role=tabpanel]:not([hidden]) .list-row[aria-selected=true]",
            ));
            row.await?.click().await?;
            titles.push(text(browser, ".detail-title").await?);
        }
    }

    Ok(titles)
}

async fn use_all(name: &str, page: &std::path::Path, least: usize) -> Result<Vec<String>> {
    let browser = desktop().await?;
    browser.open(page).await?;
    browser.screenshot(&format!("{name}-light")).await?;
    browser.prefer("dark").await?;
    browser.screenshot(&format!("{name}-dark")).await?;

    let titles = select_in_every_list(&browser).await?;
    let clicked = click_every_control(&browser).await?;
    assert_quiet(&browser).await?;
    browser.screenshot(&format!("{name}-used")).await?;
    browser.close().await?;

    println!("{name}: {clicked} controls clicked, {titles:?}");
    if clicked < least {
        return Err(format!("only {clicked} controls were clicked").into());
    }
    Ok(titles)
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_the_quickstart() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::quickstart(folder.path()).await?;
    let titles = use_all("quickstart", &page, 18).await?;

    assert!(
        titles.iter().any(|title| title.starts_with("Thought 1")),
        "{titles:?}"
    );
    assert!(
        titles.iter().any(|title| title.starts_with("Call 9")),
        "{titles:?}"
    );
    Ok(())
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_a_tree_of_thoughts() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::tree_of_thoughts(folder.path()).await?;
    let titles = use_all("tree", &page, 20).await?;

    assert!(
        titles.iter().any(|title| title.contains("pruned")),
        "{titles:?}"
    );
    Ok(())
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_a_run_that_was_resumed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::resumed(folder.path()).await?;
    let titles = use_all("resumed", &page, 12).await?;

    assert!(
        titles.iter().any(|title| title.starts_with("Resumed")),
        "{titles:?}"
    );
    assert!(
        titles.iter().any(|title| title.starts_with("send")),
        "{titles:?}"
    );
    Ok(())
}
