use cogwork_mcp::Server;
use cogwork_strategies::StrategyName;
use insta::assert_snapshot;
use rmcp::model::GetPromptRequestParams;
use serde_json::{Value, json};

use crate::host::{Era, Host};
use crate::resources::support::server;

/// Returns the text of a prompt, or the error.
async fn prompt(host: &Host, name: &str, arguments: Value) -> Result<String, String> {
    let mut request = GetPromptRequestParams::new(name);
    request.arguments = arguments.as_object().cloned();

    let result = host.client.get_prompt(request).await;
    let result = result.map_err(|error| error.to_string())?;
    let message = result.messages.first().expect("a message");
    Ok(message.content.as_text().expect("a text").text.clone())
}

#[tokio::test]
async fn every_strategy_and_the_loop_is_a_prompt() {
    for era in Era::BOTH {
        let host = Host::connect(&server(0), era).await;

        let prompts = host.client.list_all_prompts().await.expect("a list");

        let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        let strategies = StrategyName::ALL.map(StrategyName::as_str);
        assert_eq!(names[0], "loop");
        assert_eq!(names[1..], strategies);

        for name in names {
            let text = prompt(&host, name, json!({"problem": "What is 17 * 3?"})).await;
            let text = text.expect("a text");
            assert!(
                text.ends_with("\n\nThe problem:\n\nWhat is 17 * 3?"),
                "{text}"
            );
            assert!(text.contains("`strategy` "), "{text}");
        }
    }
}

#[tokio::test]
async fn the_prompt_of_a_strategy_names_all_stages_with_what_they_need() {
    let host = Host::connect(&server(0), Era::Discover).await;

    let arguments = json!({"problem": "What is 17 * 3?", "sessionId": "mine"});
    let text = prompt(&host, "react", arguments).await;

    assert_snapshot!(text.expect("a text"));
}

#[tokio::test]
async fn the_other_tools_have_prompts_of_their_own() {
    let host = Host::connect(&server(0), Era::Discover).await;

    for tool in ["begin", "solve"] {
        let arguments = json!({"problem": "What is 17 * 3?", "tool": tool});
        let text = prompt(&host, "self_ask", arguments).await.expect("a text");
        assert_snapshot!(tool, text);
    }
}

#[tokio::test]
async fn faulty_arguments_are_named_with_what_is_expected() {
    let client = Host::connect(&server(0), Era::Initialize).await;
    let without = Server::builder().open().expect("it opens");
    let without = Host::connect(&without, Era::Initialize).await;
    let cases = [
        (
            &client,
            "tree",
            json!({"problem": "?"}),
            "`tree_of_thoughts`, or `loop`",
        ),
        (&client, "react", json!({}), "`problem` is missing"),
        (
            &client,
            "react",
            json!({"problem": " "}),
            "`problem` is missing",
        ),
        (
            &client,
            "react",
            json!({"problem": 7}),
            "`problem` is 7, expected a text",
        ),
        (
            &client,
            "react",
            json!({"problem": "?", "tool": "guess"}),
            "`think`, `begin` or `solve`",
        ),
        (
            &client,
            "loop",
            json!({"problem": "?", "tool": "think"}),
            "`begin` or `solve`",
        ),
        (
            &without,
            "react",
            json!({"problem": "?", "tool": "solve"}),
            "`think` or `begin`",
        ),
        (
            &client,
            "react",
            json!({"problem": "?", "sessionId": "a b"}),
            "ASCII letters",
        ),
        (
            &client,
            "react",
            json!({"problem": "?", "more": "x"}),
            "`more` is not an argument",
        ),
    ];

    for (host, name, arguments, expected) in cases {
        let error = prompt(host, name, arguments.clone()).await;
        let error = error.expect_err("an error");
        assert!(error.contains(expected), "{name} {arguments}: {error}");
    }
}

#[tokio::test]
async fn a_strategy_of_the_user_is_a_prompt_for_think() {
    let mine = "
mine:
  description: Guess.
  stages:
    guess: {description: A guess., prompt: Guess!, next: [answer]}
    answer: {description: The answer., prompt: Answer!, final: true}
";
    let mine = cogwork_strategies::Strategies::from_yaml(mine).expect("a table");
    let server = Server::builder()
        .with_strategies(mine)
        .open()
        .expect("it opens");
    let host = Host::connect(&server, Era::Discover).await;

    let text = prompt(&host, "mine", json!({"problem": "?"})).await;
    let refused = prompt(&host, "mine", json!({"problem": "?", "tool": "begin"})).await;

    assert!(text.expect("a text").contains("- `guess`: Guess!"));
    assert!(refused.expect_err("an error").contains("expected `think`"));
}
