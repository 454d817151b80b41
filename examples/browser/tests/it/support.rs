use cogwork_browser::{Browser, Result};
use serde_json::Value;

/// The size of a window on a desktop, and of one on a phone.
pub(crate) const DESKTOP: (u32, u32) = (1400, 1000);
pub(crate) const PHONE: (u32, u32) = (390, 844);

pub(crate) async fn desktop() -> Result<Browser> {
    Browser::start(DESKTOP.0, DESKTOP.1).await
}

/// Returns an error if anything was logged: errors of scripts, or violations of the policy.
pub(crate) async fn assert_quiet(browser: &Browser) -> Result<()> {
    let log = browser.log().await?;
    if log.is_empty() {
        Ok(())
    } else {
        Err(format!("the browser logged: {log:#?}").into())
    }
}

pub(crate) async fn text(browser: &Browser, selector: &str) -> Result<String> {
    let script = format!("return document.querySelector({selector:?})?.textContent ?? ''");
    let text = browser.run(&script).await?;
    Ok(text.as_str().unwrap_or_default().to_owned())
}

pub(crate) async fn number(browser: &Browser, script: &str) -> Result<f64> {
    let value: Value = browser.run(script).await?;
    value
        .as_f64()
        .ok_or_else(|| format!("not a number: {value}").into())
}
