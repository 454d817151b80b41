//! Files that are right: they load, are drawn and run.

use std::sync::Arc;

use cogwork_agents::{FlowState, Loader};
use cogwork_llm::{Block, LlmClient, ScriptedClient};
use cogwork_tools::{Tools, function};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::support::{file, load, run_flow, text};

fn key(name: &str) -> Option<String> {
    (name == "API_KEY").then(|| "canary-8731".to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    r#where: String,
}

fn tools() -> Tools {
    let look = |Place { r#where }| async move { Ok(format!("Seen {where}.")) };
    Tools::new().with(function("look", "Looks.", look)).unwrap()
}

/// The document's file, unchanged; only the server behind `openai` is another.
#[tokio::test]
async fn the_example_of_the_document_loads_and_runs() {
    let script = ScriptedClient::new(["Whales are fish.", "Whales are mammals."]);
    let client: Arc<dyn LlmClient> = Arc::new(script.clone());
    // With the crate's own client, the key is taken, and loading calls no server.
    let loader = Loader::new().with_environment(key);
    let loaded = loader.load(file("document.yaml")).unwrap();
    insta::assert_snapshot!(format!("{loaded:?}"), @r#"FileFlow { name: "flow", .. }"#);

    let loader = loader.with_client_wrapper(move |_, _| Arc::clone(&client));

    let loaded = loader.load(file("document.yaml")).unwrap();
    let mut state =
        FlowState::new("What are whales?").with_blocks([Block::image("image/png", "iVBORw0KGgo=")]);
    loaded.flow().run(&mut state).await.unwrap();

    assert_eq!(loaded.answer(&state).unwrap().text, "Whales are mammals.");

    // The second request has the user's message once, with its picture, and then draft and prompt.
    let requests = script.requests();
    let second = requests[1].messages().iter();
    let second = second.map(|message| {
        let blocks = message.blocks().len();
        format!("{}, {blocks} blocks: {}\n", message.role(), message.text())
    });
    insta::assert_snapshot!(second.collect::<String>(), @"
    user, 1 blocks: What are whales?
    assistant, 0 blocks: Whales are fish.
    user, 0 blocks: Please carefully review your response, considering:
    1. Is the logic sound?
    2. Are there any factual errors?
    3. Is the expression clear?
    Then provide an improved response.
    ");

    // What led to the answer is kept.
    let agent = state.output("Thoughtful Agent").unwrap();
    let report = agent.thinking.as_ref().unwrap();
    assert_eq!(report.drafts[0].text.as_ref(), "Whales are fish.");
    assert_eq!(report.spent.calls, 2);
}

#[test]
fn a_file_with_every_key_loads_and_is_drawn() {
    let loader = Loader::new().with_tools(tools());
    let loaded = loader.load(file("everything.yaml")).unwrap();
    insta::assert_snapshot!("everything", loaded.flow().mermaid());
    assert!(
        !file("judge.db").exists(),
        "a file that is only loaded leaves no trace"
    );
}

#[tokio::test]
async fn a_chain_of_thought_of_a_file_thinks_and_concludes() {
    let flow = &text("loop.yaml");

    let state = run_flow(&Loader::new(), flow, "2 and 2").await;
    assert_eq!(state.last().text, "Four it is.");

    let reasoning = &state.reasonings()["thinker"];
    assert_eq!(reasoning.problem(), "Add: 2 and 2");
    assert_eq!(reasoning.thoughts().len(), 2);

    // Every reply is kept, with what was wrong with it.
    let thinker = state.visits().next().unwrap();
    assert_eq!((thinker.tries.len(), thinker.spent.calls), (3, 3));
    assert_eq!(thinker.tries[0].reply, "no YAML");
    assert!(thinker.tries[0].complaint.is_some());
}

#[tokio::test]
async fn a_strategy_of_a_file_solves() {
    let flow = &text("strategy.yaml");
    let loader = Loader::new().with_tools(tools());
    let state = run_flow(&loader, flow, "Where is it?").await;
    assert_eq!(state.last().text, "It is here.");

    let spent = state.solving("s").unwrap().spent();
    assert_eq!((spent.calls, spent.tool_calls), (2, 1));
    assert_eq!(state.visits().next().unwrap().tries.len(), 2);
}

#[tokio::test]
async fn an_answer_at_a_limit_says_that_it_is_not_complete() {
    let flow = &text("limits.yaml");
    let state = run_flow(&Loader::new(), flow, "2 and 2").await;
    let told = ["thinker", "solver"].map(|node| {
        let output = state.output(node).unwrap();
        let reason = output.cut_short.as_deref().unwrap();
        format!("{}: {reason}, {} call", output.text, output.calls)
    });
    insta::assert_snapshot!(told.join("\n"), @"
    About 4.: the limit of 1 thought was reached, 1 call
    5: the budget of 1 call is spent, 1 call
    ");
}

#[tokio::test]
async fn a_subflow_has_its_own_outputs_and_hands_on_its_end() {
    let flow = &text("subflow.yaml");

    let state = run_flow(&Loader::new(), flow, "good").await;
    assert_eq!(state.last().text, "Praise");
    assert_eq!(state.output("part").unwrap().text, "Well.");
    let saved = serde_json::to_value(&state).unwrap();
    assert_eq!(saved["inside"]["part"]["input"]["text"], "Judge: good");

    let mut state = FlowState::new("bad");
    let ended = load(flow).flow().run(&mut state).await.unwrap();
    assert_eq!(ended.action.as_str(), "refuse");
    assert_eq!(state.last().text, "refuse");
}

#[tokio::test(start_paused = true)]
async fn a_state_goes_through_json_at_every_step() {
    let flow = &text("tools.yaml");
    let loader = Loader::new().with_tools(tools());
    let [saved, unsaved] = [(); 2].map(|()| loader.load_text("flow.yaml", flow).unwrap());
    let mut state = FlowState::new("Look.");
    state = state.with_blocks([Block::image_url("http://localhost/a.png")]);
    let mut expected = state.clone();
    unsaved.flow().run(&mut expected).await.unwrap();

    let mut run = saved.flow().begin();
    while run.node().is_some() {
        run.step(&mut state).await.unwrap();
        state = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
    }
    assert_eq!(format!("{state:?}"), format!("{expected:?}"));
    assert_eq!((state.calls(), state.last().text.as_str()), (3, "Two"));
}

/// Both agents name the same board: the second reads what the first has said.
#[tokio::test]
async fn agents_that_name_the_same_memory_share_it() {
    let folder = tempfile::tempdir().unwrap();
    for memory in [
        "{type: blackboard, name: board, recall: {remember: true}}",
        "{type: file, file: notes/board.db, recall: {threshold: 0.01, remember: true}}",
    ] {
        // However the file is named.
        let other = memory.replace("notes/", "./notes/./");
        let flow = format!(
            "
nodes:
  - {{id: one, type: agent, config: {{provider: rules, rules: [], else: The bridge is closed., memory: {other}}}}}
  - id: two
    type: agent
    config:
      provider: rules
      rules: [{{when: <memory>, reply: I know that the bridge is closed.}}]
      else: I know nothing.
      prompt: Is the bridge open?
      memory: {memory}
edges: [{{from: one, to: two}}]
"
        );

        let file = folder.path().join("flow.yaml");
        std::fs::write(&file, flow).unwrap();
        std::fs::create_dir_all(folder.path().join("notes")).unwrap();
        let loaded = Loader::new().load(&file).unwrap();
        let mut state = FlowState::new("Tell me of the bridge.");

        loaded.flow().run(&mut state).await.unwrap();
        let known = "I know that the bridge is closed.";
        assert_eq!(state.last().text, known, "{memory}");
    }

    assert!(folder.path().join("notes/board.db").exists());
}

/// Nearly as many flows inside one another as flows may nest, in several files; the threads of tests have
/// 2 MiB of stack.
#[tokio::test]
async fn the_deepest_flow_loads_and_runs_on_a_small_stack() {
    let folder = tempfile::tempdir().unwrap();
    let innermost = [
        "{id: a, type: subflow, config: {file: 1.yaml}}",
        "{id: a, type: subflow, config: {file: 2.yaml}}",
        "{id: a, type: agent, config: {provider: rules, rules: [], else: Deep.}}",
    ];
    for (number, innermost) in innermost.into_iter().enumerate() {
        let node = (0..4).fold(innermost.to_owned(), |node, _| {
            format!("{{id: a, type: subflow, config: {{nodes: [{node}]}}}}")
        });
        let file = folder.path().join(format!("{number}.yaml"));
        std::fs::write(file, format!("nodes: [{node}]")).unwrap();
    }

    let loaded = Loader::new().load(folder.path().join("0.yaml")).unwrap();
    let mut state = FlowState::new("Hello");
    loaded.flow().run(&mut state).await.unwrap();
    assert_eq!(loaded.answer(&state).unwrap().text, "Deep.");
}
