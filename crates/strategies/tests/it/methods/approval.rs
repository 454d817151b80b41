//! Tool calls that wait for a person.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::engine::MemoryJournal;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatResponse, ScriptedClient, ToolCall};
use cogwork_strategies::{Call, Solver, StrategyName};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{ToolApproval, Tools, function};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Mail {
    to: String,
}

/// A tool whose calls wait for a person, and one whose calls don't. Both count their calls.
fn tools(made: &Arc<AtomicUsize>) -> Tools {
    let tool = |name: &str| {
        let made = Arc::clone(made);
        function(name, "Sends or looks.", move |mail: Mail| {
            made.fetch_add(1, Ordering::Relaxed);
            async move { Ok(format!("done for {}", mail.to)) }
        })
    };

    let tools = Tools::new().with(tool("send")).unwrap();
    let tools = tools.with(tool("look")).unwrap();
    tools.with_approval(["send"]).unwrap()
}

/// ReAct with a model that wants to send two mails and to look once.
fn solver(tools: Tools) -> Solver {
    let call =
        |id: &str, tool: &str, to: &str| ToolCall::new(id, tool, format!("{{\"to\": \"{to}\"}}"));
    let calls = [
        call("1", "send", "Ada"),
        call("2", "send", "Bob"),
        call("3", "look", "Cy"),
    ];

    let client = ScriptedClient::new([ChatResponse::new("").with_tool_calls(calls)]).then("done");
    let client = client.with_capabilities(Capabilities::none().with(Capability::Tools));
    Solver::new(client, StrategyName::React).with_tools(tools)
}

#[tokio::test]
async fn a_strategy_waits_for_a_person() {
    let made = Arc::default();
    let solver = solver(tools(&made));
    let flow = solver.clone().into_flow().unwrap();
    let mut solving = solver.begin("p");
    let mut run = flow.begin().with_journal(MemoryJournal::new("r"));

    let mut asked = Vec::new();
    let answers = [
        ToolApproval::approved(),
        ToolApproval::refused().with_reason("not him"),
    ];
    for answer in answers {
        let paused = run.finish(&mut solving).await.unwrap_err().into_paused();
        let paused = paused.unwrap();
        asked.push(format!("{}: {}", paused.event, paused.why));
        run.deliver(&paused.event, &answer).await.unwrap();
    }
    run.finish(&mut solving).await.unwrap();

    insta::assert_snapshot!(asked.join("\n"), @r#"
    approve send 1 at react/solve#3.1: the strategy wants to call the tool `send` with {"to":"Ada"}
    approve send 2 at react/solve#3.1: the strategy wants to call the tool `send` with {"to":"Bob"}
    "#);
    let results = solving.calls().iter().filter_map(|call| match call {
        Call::Tool(called) => Some(format!("{} {}", called.tool, called.output)),
        _ => None,
    });
    insta::assert_snapshot!(results.collect::<Vec<_>>().join("\n"), @r"
    send done for Ada
    send refused by a person: not him
    look done for Cy
    ");

    // No call was made twice, and none was counted twice.
    assert_eq!(made.load(Ordering::Relaxed), 2);
    assert_eq!(solving.spent().tool_calls, 3);
}

#[tokio::test]
async fn without_a_journal_the_run_fails() {
    let solver = solver(tools(&Arc::default()));
    let error = solver.solve("p").await.unwrap_err();
    insta::assert_snapshot!(error, @"stage `action_execution`: a tool call has to wait for approval: a wait inside `exec` needs a journal; give the run one with `Run::with_journal`, and don't wait in spawned tasks");
}
