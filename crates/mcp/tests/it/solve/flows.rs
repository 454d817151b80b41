#[path = "../../../../text/tests/support/secret.rs"]
mod secret;

use cogwork_agents::Loader;
use cogwork_mcp::Server;
use serde_json::{Value, json};

use crate::support::Client;
use secret::{FORMS, SECRET, assert_hidden};

const FLOW: &str = "
name: review
nodes:
  - id: writer
    type: agent
    config: {provider: scripted, replies: ['The key is ${KEY}.FORMS'], role: You write.}
  - id: critic
    type: agent
    config: {provider: scripted, replies: [Good.], role: You judge.}
edges:
  - {from: writer, to: critic}
  - {from: critic, to: end}
";

async fn client() -> Client {
    reviewing(FLOW.replace("FORMS", "").as_str()).await
}

async fn reviewing(flow: &str) -> Client {
    let loader = Loader::new().with_environment(|_| Some(SECRET.to_owned()));
    let flow = loader.load_text("review.yaml", flow).expect("a flow");
    Client::new(Server::builder().with_flow(flow)).await
}

#[tokio::test]
async fn a_flow_from_a_file_is_the_default_method_and_its_visits_are_thoughts() {
    let mut client = client().await;
    let told = client.accepted("solve", json!({"problem": "Roses"})).await;
    let expected = "Good.\n\n(answered, after 2 thoughts and ";
    assert!(told.starts_with(expected), "{told}");

    let progress = client.progress();
    let lines: Vec<_> = progress.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(lines, ["writer: The key is ${KEY}.", "critic: Good."]);
}

#[tokio::test]
async fn a_budget_of_calls_holds_for_a_flow() {
    let client = client().await;
    let arguments = json!({"problem": "Roses", "budget": {"calls": 1}});
    let told = client.accepted("solve", arguments).await;
    let expected = "The best answer so far: The key is ${KEY}.\n\n(the limit of 1 call was reached";
    assert!(told.starts_with(expected), "{told}");
}

#[tokio::test]
async fn an_output_that_is_cut_off_is_named_beside_the_answer() {
    let why = "the output of `writer` is cut off, by the token limit or a filter";
    let cut_off = "[{text: Once upon, cut_off: true}]";
    let flow = FLOW.replace("['The key is ${KEY}.FORMS']", cut_off);
    for (flow, expected) in [
        (
            flow.clone(),
            format!("Good.\n\n(answered, but {why}, after "),
        ),
        (
            format!("answer: '{{writer}}'{flow}"),
            format!("The best answer so far: Once upon\n\n({why}, after "),
        ),
    ] {
        let client = reviewing(&flow).await;
        let told = client.accepted("solve", json!({"problem": "Roses"})).await;
        assert!(told.starts_with(&expected), "{told}");
    }
}

#[tokio::test]
async fn a_flow_that_fails_before_any_output_has_no_answer() {
    let flow = FLOW.replace("type: agent\n    config: {provider: scripted, replies: ['The key is ${KEY}.FORMS'], role: You write.}", "type: wait");
    let client = reviewing(&flow).await;
    let told = client.refused("solve", json!({"problem": "Roses"})).await;
    assert!(told.starts_with("There is no answer."), "{told}");
    assert!(told.contains("waits can't be answered here"), "{told}");
}

#[tokio::test]
async fn the_thoughts_of_a_node_that_was_stopped_are_the_best_answer() {
    let flow = "
nodes:
  - id: thinker
    type: chain_of_thought
    config:
      provider: scripted
      replies:
        - |
          current_thinking: About 4.
          planning: [{description: Add, status: Pending}]
          next_thought_needed: true
";
    let client = reviewing(flow).await;
    let told = client.refused("solve", json!({"problem": "2 + 2"})).await;
    let expected = "The best answer so far: About 4.\n";
    assert!(told.starts_with(expected), "{told}");
}

/// The writers of journals and of terminals have tests of their own.
#[tokio::test]
async fn no_form_of_a_secret_is_in_an_answer() {
    let forms = FORMS.map(|form| format!(" {form}")).concat();
    let flow = FLOW
        .replace("FORMS", &forms)
        .replace("[Good.]", &format!("['{forms}']"));
    let mut client = reviewing(&flow).await;

    let told = client.accepted("solve", json!({"problem": "Roses"})).await;
    assert_eq!(told.matches("${KEY}").count(), FORMS.len(), "{told}");
    assert_hidden(&told);
    for (_, line) in client.progress() {
        assert!(line.contains("${KEY}"), "{line}");
        assert_hidden(&line);
    }

    let resources = client.list_all_resources().await.expect("a list");
    assert!(!resources.is_empty());
    for resource in resources {
        assert_hidden(&client.read(&resource.uri).await.expect("a text"));
    }
}

#[tokio::test]
async fn without_a_client_only_the_flow_is_offered() {
    let tools = client().await.list_all_tools().await.expect("a list");
    let tool = tools.iter().find(|tool| tool.name == "solve");
    let input = Value::Object((*tool.expect("the tool").input_schema).clone());
    assert_eq!(input["properties"]["strategy"]["enum"], json!(["flow"]));
}
