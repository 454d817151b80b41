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

/// Selects every entry of every list, and opens all parts of its details. Returns how many were
/// selected, and after that what cannot be shown.
pub(crate) async fn select_everything(browser: &Browser) -> Result<Value> {
    let script = "let shown = 0;
         const faults = new Set();
         for (const tab of document.querySelectorAll('.browser [role=tab]:not([hidden])')) {
           tab.click();
           const list = document.querySelector('.browser [role=tabpanel]:not([hidden]) .list');
           const press = (key) => list.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
           press('Home');
           for (let row = 0; row < Number(tab.querySelector('.count').textContent.replace(/\\D/g, '')); row += 1) {
             for (const part of document.querySelectorAll('details')) {
               part.open = true;
               part.dispatchEvent(new Event('toggle'));
             }
             const note = document.querySelector('.detail > .note.bad')?.textContent ?? '';
             if (note.startsWith('This cannot')) faults.add(tab.textContent + ': ' + note);
             shown += 1;
             press('ArrowDown');
           }
         }
         return [shown, ...faults];";
    browser.run(script).await
}
