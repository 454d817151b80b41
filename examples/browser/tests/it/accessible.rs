//! What people need who use a screen reader or only the keyboard.

use std::fs;

use cogwork_browser::{Browser, Result, runs};
use fantoccini::key::Key;
use serde_json::Value;

use crate::support::desktop;

/// Controls without a name, ids that aren't unique, and references to ids that don't exist.
const FAULTS: &str = "
    const faults = [];
    const name = (node) => node.getAttribute('aria-label') ?? node.textContent.trim();
    for (const node of document.querySelectorAll('button, select, input, summary, [role]')) {
      const isNamed = node.getAttribute('aria-labelledby') || name(node) || node.labels?.length > 0;
      if (!isNamed && !['presentation', 'status', 'list'].includes(node.getAttribute('role'))) faults.push('no name: ' + node.outerHTML.slice(0, 120));
    }
    const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('twice: ' + id);
    for (const attribute of ['aria-controls', 'aria-labelledby', 'aria-activedescendant']) {
      for (const node of document.querySelectorAll(`[${attribute}]`)) {
        const id = node.getAttribute(attribute);
        if (!document.getElementById(id)) faults.push(`${attribute} of nothing: ${id}`);
      }
    }
    for (const landmark of ['header', 'main', 'nav']) if (!document.querySelector(landmark)) faults.push('no ' + landmark);
    return faults;";

async fn assert_no_faults(browser: &Browser) -> Result<()> {
    let faults = browser.run(FAULTS).await?;
    if faults == Value::Array(Vec::new()) {
        Ok(())
    } else {
        Err(format!("{faults:#}").into())
    }
}

/// Runs axe-core, if the script found it.
pub(crate) async fn assert_no_violations(browser: &Browser) -> Result<()> {
    let Some(path) = std::env::var_os("COGWORK_AXE") else {
        println!("axe-core was not found, so its rules are not checked");
        return Ok(());
    };

    browser.run(&fs::read_to_string(path)?).await?;
    let script = "const done = arguments[arguments.length - 1];
         axe.run().then((result) => done(result.violations.map((violation) =>
           `${violation.id}: ${violation.help}: ` + violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' '))),
           (error) => done([String(error)]));";
    let violations = browser.client().execute_async(script, Vec::new()).await?;
    if violations == Value::Array(Vec::new()) {
        Ok(())
    } else {
        Err(format!("{violations:#}").into())
    }
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn pages_have_names_and_contrast() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let pages = [
        runs::quickstart(folder.path()).await?,
        runs::tree_of_thoughts(folder.path()).await?,
        runs::resumed(folder.path()).await?,
    ];
    let browser = desktop().await?;

    for page in &pages {
        for scheme in ["light", "dark"] {
            browser.prefer(scheme).await?;
            browser.open(page).await?;
            browser
                .run("for (const part of document.querySelectorAll('details')) part.open = true;")
                .await?;
            assert_no_faults(&browser).await?;
            assert_no_violations(&browser).await?;
        }
    }

    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn the_tab_key_reaches_everything() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::quickstart(folder.path()).await?;
    let browser = desktop().await?;
    browser.open(&page).await?;

    let mut reached = Vec::new();
    for _ in 0..40 {
        let focused = browser.client().active_element().await?;
        focused.send_keys(&format!("{}", Key::Tab)).await?;
        let name = browser
            .run("const node = document.activeElement; return node.getAttribute('aria-label') ?? node.textContent.trim().slice(0, 40)")
            .await?;
        reached.push(name.as_str().unwrap_or_default().to_owned());
    }

    for name in [
        "Skip to the details",
        "Search the run",
        "Light or dark",
        "Keys",
        "Play",
        "Step of the replay",
        "Thoughts",
        "Zoom in",
    ] {
        assert!(
            reached.iter().any(|reached| reached == name),
            "{name}: {reached:?}"
        );
    }
    browser.close().await
}
