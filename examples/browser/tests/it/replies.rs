//! What a call sent and what came back, as the page shows it.

use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::{Flow, from_phases_with};
use cogwork::llm::{ChatRequest, LlmClient, Message, ScriptedClient, ToolDefinition};
use cogwork::typed::ask::Reporting;
use cogwork_browser::{Browser, Result, runs};
use cogwork_trace::{RecorderSettings, RunRecorder};
use serde_json::json;

use crate::support::{assert_quiet, desktop};

async fn select_call(browser: &Browser, call: usize) -> Result<()> {
    let script = format!(
        "document.querySelector('#tab-call').click();
         document.querySelectorAll('#panel-call .list-row')[{call}].click();
         for (const part of document.querySelectorAll('.detail details')) part.open = true;"
    );
    browser.run(&script).await?;
    Ok(())
}

const FAULTY: &str = "```yaml
Current_Thinking: \"Evaluation of thought 0: ünsound.\"
planning:
  - description: Multiply 6 and 7: 42
    status: done
next_thought_needed: no
```";

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn only_the_repaired_lines_are_marked() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let record = folder.path().join("faulty.events");
    let recorder = RunRecorder::in_memory(RecorderSettings::default());
    let flow = ChainOfThought::new(ScriptedClient::new([FAULTY])).into_flow();
    flow.begin()
        .with_events(&recorder)
        .finish(&mut Reasoning::new("6 times 7?"))
        .await?;
    let page = runs::page_of_recorder(&recorder, &record)?;

    let browser = desktop().await?;
    browser.open(&page).await?;
    select_call(&browser, 0).await?;
    let marks = "return [...document.querySelectorAll('.detail mark.repair')].map((mark) => mark.firstChild.textContent)";
    assert_eq!(
        browser.run(marks).await?,
        json!([
            "Current_Thinking: \"Evaluation of thought 0: ünsound.\"",
            "  - description: Multiply 6 and 7: 42",
            "    status: done",
            "next_thought_needed: no"
        ])
    );
    browser.screenshot("repairs").await?;

    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn offered_tools_are_shown() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let record = folder.path().join("calls.events");
    let recorder = RunRecorder::in_memory(RecorderSettings::default());
    let ask = from_phases_with(
        Reporting::new(ScriptedClient::new(["Yes."])),
        |_: &mut u32| (),
        async |client, ()| {
            let tool = ToolDefinition::new("weather", "The weather in a city.", "{}");
            let request = ChatRequest::new([Message::user("Rain?")]).with_tools([tool]);
            client.complete(request).await.map(drop)
        },
        |_, ()| (),
    );
    let flow = Flow::from_node("ask", ask)?;
    flow.begin().with_events(&recorder).finish(&mut 0).await?;
    let page = runs::page_of_recorder(&recorder, &record)?;

    let browser = desktop().await?;
    browser.open(&page).await?;
    select_call(&browser, 0).await?;
    browser
        .until("return document.querySelector('.detail').textContent.includes('The weather in a city.')")
        .await?;

    assert_quiet(&browser).await?;
    browser.close().await
}
