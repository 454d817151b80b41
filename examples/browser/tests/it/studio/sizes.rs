//! The pages on a phone.

use cogwork_browser::{Browser, Result};

use super::{ENDED, WAITING, enter, press, studio, until_text};
use crate::support::{PHONE, assert_quiet, number};

async fn assert_fits(browser: &Browser, name: &str) -> Result<()> {
    for scheme in ["light", "dark"] {
        browser.prefer(scheme).await?;
        browser
            .screenshot(&format!("studio-{name}-phone-{scheme}"))
            .await?;
    }

    let width = number(browser, "return document.documentElement.scrollWidth").await?;
    if width <= f64::from(PHONE.0) {
        Ok(())
    } else {
        Err(format!("{name} is {width} pixels wide").into())
    }
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn pages_fit_the_width_of_a_phone() -> Result<()> {
    let studio = studio().await?;
    let browser = Browser::start(PHONE.0, PHONE.1).await?;
    enter(&browser, &studio).await?;
    assert_fits(&browser, "list").await?;
    press(&browser, "Start a flow").await?;
    assert_fits(&browser, "start").await?;

    for (name, query) in [
        ("run", vec![("run", ENDED)]),
        ("waits", vec![("run", WAITING)]),
        ("compare", vec![("compare", ENDED), ("with", WAITING)]),
    ] {
        browser.open_url(studio.page(&query)?.as_str()).await?;
        until_text(&browser, "body", "All runs").await?;
        assert_fits(&browser, name).await?;
    }

    assert_quiet(&browser).await?;
    browser.close().await
}
