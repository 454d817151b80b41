//! Answers to a run that waits.

use cogwork_browser::Result;

use super::{WAITING, assert_only_refused, labelled, open_run, press, studio, until_text};
use crate::support::{assert_quiet, desktop, text};

const PROBLEM: &str = ".wait [role=alert]";

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn are_given_in_a_form_and_checked() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    browser.open_url(studio.url().as_str()).await?;
    open_run(&browser, &studio, WAITING).await?;
    until_text(&browser, ".wait-why", "A refund of a lamp needs a person.").await?;
    browser.screenshot("studio-waits").await?;

    // The required fields are in the order of the schema.
    let names = "return [...document.querySelectorAll('.wait label bdi')].map((name) => name.textContent).join()";
    let names = browser.run(names).await?;
    let names = names.as_str().unwrap_or_default();
    assert!(
        names.starts_with("Grant the refund?,Amount in euros,Reason,"),
        "{names}"
    );

    press(&browser, "Send the answer").await?;
    until_text(&browser, PROBLEM, "“Grant the refund?” is missing").await?;
    labelled(&browser, "Grant the refund?")
        .await?
        .select_by_label("Yes")
        .await?;
    labelled(&browser, "Reason")
        .await?
        .select_by_label("late")
        .await?;
    let amount = labelled(&browser, "Amount in euros").await?;
    amount.send_keys("twenty").await?;
    press(&browser, "Send the answer").await?;
    until_text(&browser, PROBLEM, "“twenty” isn't a whole number").await?;
    assert_quiet(&browser).await?;

    // What the form cannot know is checked by the server.
    amount.clear().await?;
    amount.send_keys("41").await?;
    press(&browser, "Send the answer").await?;
    until_text(&browser, PROBLEM, "doesn't match the schema of its wait").await?;
    let problem = text(&browser, PROBLEM).await?;
    assert!(
        problem.contains("amount") && problem.contains("40"),
        "{problem}"
    );
    browser.screenshot("studio-refused").await?;
    assert_only_refused(&browser, 422).await?;

    amount.clear().await?;
    amount.send_keys("40").await?;
    labelled(&browser, "Note")
        .await?
        .send_keys("Sorry!")
        .await?;
    press(&browser, "Add items").await?;
    press(&browser, "Add to Items").await?;
    labelled(&browser, "items 1")
        .await?
        .send_keys("lamp")
        .await?;
    press(&browser, "Send the answer").await?;
    until_text(&browser, ".waits", "The run continues.").await?;
    until_text(&browser, ".studio-actions", "✓ ended").await?;
    browser
        .until("return !document.querySelector('form.wait')")
        .await?;
    browser.screenshot("studio-answered").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_two_people_the_first_counts() -> Result<()> {
    let studio = studio().await?;
    let browser = desktop().await?;
    browser.open_url(studio.url().as_str()).await?;
    open_run(&browser, &studio, WAITING).await?;
    until_text(&browser, ".wait-why", "lamp").await?;

    // Another person answers, and this page doesn't look again in time.
    let answer = "document.hidden || Object.defineProperty(document, 'hidden', { value: true });
         const body = { id: 'order 17', step: 'refund/ask#2', event: 'decision', answer: { granted: false, amount: 1, reason: 'late' } };
         const done = arguments[arguments.length - 1];
         fetch('/api/run/answers', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
           .then((answer) => done(answer.status));";
    let status = browser.client().execute_async(answer, Vec::new()).await?;
    assert_eq!(status, 200);

    labelled(&browser, "Grant the refund?")
        .await?
        .select_by_label("Yes")
        .await?;
    labelled(&browser, "Reason")
        .await?
        .select_by_label("late")
        .await?;
    labelled(&browser, "Amount in euros")
        .await?
        .send_keys("2")
        .await?;
    press(&browser, "Send the answer").await?;
    // The run may have ended with the first answer.
    until_text(&browser, PROBLEM, "doesn't").await?;

    assert_only_refused(&browser, 409).await?;
    browser.close().await
}
