//! Each kind of flow: the problem, the answer and what each node did are on its page, at the size of a
//! desktop and of a phone. The run in PostgreSQL needs `eval "$(scripts/local-postgres start)"`.

use cogwork::journal::{PostgresStore, Store};
use cogwork_browser::kinds::{self, Kind};
use cogwork_browser::{Browser, Result};

use crate::support::{assert_quiet, desktop, number, text};

/// The variable with the connection string of a server where the tests may create schemas.
const POSTGRES: &str = "COGWORK_TEST_POSTGRES";

const NARROW: (u32, u32) = (420, 900);

/// Returns the texts of the details of each step of a node.
async fn details(browser: &Browser, node: &str) -> Result<String> {
    let script = format!(
        "document.querySelector('#tab-step').click();
         const list = document.querySelector('#panel-step .list');
         list.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Home', bubbles: true }}));
         let found = '';
         for (let steps = Number(document.querySelector('#tab-step .count').textContent); steps > 0; steps -= 1) {{
           const detail = document.querySelector('.detail');
           for (const part of detail.querySelectorAll('details')) {{
             part.open = true;
             part.dispatchEvent(new Event('toggle'));
           }}
           if (detail.querySelector('.detail-title bdi').textContent === {node:?}) found += detail.textContent;
           list.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowDown', bubbles: true }}));
         }}
         return found;"
    );
    let found = browser.run(&script).await?;
    Ok(found.as_str().unwrap_or_default().to_owned())
}

async fn is_shown(kind: Kind) -> Result<()> {
    let browser = desktop().await?;
    browser.open(&kind.page).await?;
    browser.screenshot(&format!("kind-{}", kind.name)).await?;
    browser.prefer("dark").await?;
    browser
        .screenshot(&format!("kind-{}-dark", kind.name))
        .await?;

    let summary = text(&browser, ".summary").await?;
    for shown in kind.summary {
        assert!(
            summary.contains(shown),
            "{}: {shown} in {summary}",
            kind.name
        );
    }
    for (node, shown) in kind.details {
        let details = details(&browser, node).await?;
        assert!(
            details.contains(shown),
            "{}, {node}: {shown} in {details}",
            kind.name
        );
    }
    assert_quiet(&browser).await?;
    browser.close().await?;

    let phone = Browser::start(NARROW.0, NARROW.1).await?;
    phone.open(&kind.page).await?;
    phone
        .screenshot(&format!("kind-{}-narrow", kind.name))
        .await?;
    let width = number(&phone, "return document.documentElement.scrollWidth").await?;
    assert!(
        width <= f64::from(NARROW.0),
        "{}: {width} pixels wide",
        kind.name
    );
    assert_quiet(&phone).await?;
    phone.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_flows_without_a_journal_are_shown() -> Result<()> {
    let folder = tempfile::tempdir()?;
    is_shown(kinds::agents(folder.path()).await?).await?;
    is_shown(kinds::strategy(folder.path()).await?).await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_flows_in_a_folder_are_shown() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::files(folder.path().join("runs"));
    is_shown(kinds::batch(folder.path(), &store, "batch").await?).await?;
    is_shown(kinds::waits(folder.path(), &store).await?).await?;
    is_shown(kinds::failed(folder.path(), &store).await?).await?;
    is_shown(kinds::resumed_twice(folder.path(), &store).await?).await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_flows_in_postgresql_are_shown() -> Result<()> {
    let Ok(url) = std::env::var(POSTGRES) else {
        eprintln!("skipped, because {POSTGRES} isn't set");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let schema = format!("browser_{}", std::process::id());
    let store = PostgresStore::new(&url)?.with_schema(schema).into();
    is_shown(kinds::batch(folder.path(), &store, "postgresql").await?).await
}
