//! Names and contrast of the pages.

use cogwork_browser::Result;

use super::{ENDED, WAITING, enter, open_run, press, studio, until_text};
use crate::accessible::assert_no_violations;
use crate::support::desktop;

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn pages_have_names_and_contrast() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;

    for scheme in ["light", "dark"] {
        browser.prefer(scheme).await?;
        enter(&browser, &studio).await?;
        assert_no_violations(&browser)
            .await
            .map_err(|error| format!("list, {scheme}: {error}"))?;
        press(&browser, "Start a flow").await?;
        assert_no_violations(&browser)
            .await
            .map_err(|error| format!("start, {scheme}: {error}"))?;

        for run in [WAITING, ENDED] {
            open_run(&browser, &studio, run).await?;
            until_text(&browser, ".studio-actions", "Fork").await?;
            assert_no_violations(&browser)
                .await
                .map_err(|error| format!("{run}, {scheme}: {error}"))?;
        }

        press(&browser, "Fork").await?;
        assert_no_violations(&browser)
            .await
            .map_err(|error| format!("fork, {scheme}: {error}"))?;
        let pair = studio.page(&[("compare", ENDED), ("with", WAITING)])?;
        browser.open_url(pair.as_str()).await?;
        assert_no_violations(&browser)
            .await
            .map_err(|error| format!("pair, {scheme}: {error}"))?;
    }
    browser.close().await
}
