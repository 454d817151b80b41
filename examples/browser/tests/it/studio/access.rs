//! Other pages in the same browser reach nothing.

use cogwork_browser::Result;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{WAITING, enter, open_run, studio, until_text};
use crate::support::desktop;

/// Serves an empty page on a different port of this machine, whose cookies are those of the studio.
async fn other_page() -> Result<String> {
    const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!DOCTYPE html><html data-ready=true><title>Other</title>";

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}/", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(PAGE).await;
        }
    });
    Ok(address)
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn another_page_reads_and_changes_nothing() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    enter(&browser, &studio).await?;
    browser.open_url(&other_page().await?).await?;

    // Without `no-cors`, the browser asks the server first, and is refused.
    let attack = "const [origin, done] = arguments;
         const body = JSON.stringify({ run: 'order 17', step: 'refund/ask#2', event: 'decision', answer: { granted: true, amount: 1, reason: 'late' } });
         const post = (path, options) => fetch(origin + path, { method: 'POST', credentials: 'include', body, ...options });
         const outcome = (promise) => promise.then((answer) => `${answer.type} ${answer.status}`, () => 'refused');
         const loads = (name, path) => new Promise((loaded) => {
           const node = document.createElement(name);
           node.onload = () => loaded('loaded');
           node.onerror = () => loaded('refused');
           node.src = origin + path;
           document.documentElement.append(node);
         });
         Promise.all([
           outcome(fetch(origin + '/api/runs', { credentials: 'include' })),
           outcome(post('/api/run/answers', { headers: { 'Content-Type': 'application/json' } })),
           outcome(post('/api/run/answers', { mode: 'no-cors' })),
           loads('script', '/assets/studio.js'),
           loads('img', '/'),
         ]).then(done);";
    let origin = json!(studio.url().origin().ascii_serialization());
    let outcomes = browser.client().execute_async(attack, vec![origin]).await?;
    let outcomes = outcomes.as_array().cloned().unwrap_or_default();
    assert!(
        outcomes.len() == 5
            && outcomes
                .iter()
                .all(|outcome| outcome.as_str() == Some("refused")),
        "{outcomes:?}"
    );

    browser.log().await?;

    // A frame stays empty.
    let frame = "const frame = document.createElement('iframe');
         frame.src = arguments[0];
         frame.onload = () => arguments[1](frame.contentDocument === null);
         document.documentElement.append(frame);";
    let origin = json!(studio.page(&[("run", WAITING)])?.as_str());
    browser.client().execute_async(frame, vec![origin]).await?;
    let log = browser.log().await?;
    assert!(
        log.iter()
            .any(|entry| entry.contains("frame") || entry.contains("403")),
        "{log:?}"
    );

    open_run(&browser, &studio, WAITING).await?;
    until_text(&browser, ".studio-actions", "‖ waiting").await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn a_browser_without_the_token_is_refused() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    let client = browser.client();
    client
        .goto(studio.page(&[("run", WAITING)])?.as_str())
        .await?;
    let shown = browser.run("return document.body.innerText").await?;
    assert!(
        shown
            .as_str()
            .is_some_and(|shown| shown.contains("the token is missing")),
        "{shown}"
    );
    browser.close().await
}
