use cogwork_strategies::{Strategies, StrategyName};
use insta::assert_snapshot;

use super::client;

#[tokio::test]
async fn every_strategy_can_be_read_in_every_format() {
    let client = client(0).await;

    for name in StrategyName::ALL {
        let uri = format!("cogwork://strategies/{name}");
        let text = client.read(&uri).await.expect("a text");
        let json = client.read(&format!("{uri}/json")).await.expect("a text");

        for stage in name.strategy().stages() {
            assert!(text.contains(&format!("## `{}`", stage.name)), "{text}");
        }
        let read = Strategies::from_yaml(&json).expect("a table");
        assert_eq!(read.get(name.as_str()), Ok(&name.strategy()));
    }
}

#[tokio::test]
async fn a_stage_has_its_prompt_parameters_and_next_stages() {
    let client = client(0).await;
    let strategy = client.read("cogwork://strategies/scratchpad").await;
    assert_snapshot!(strategy.expect("a text"));
}

#[tokio::test]
async fn unknown_resources_are_errors_with_what_is_expected() {
    let client = client(0).await;
    let cases = [
        ("cogwork://strategies/tree", "`tree_of_thoughts`"),
        ("cogwork://sessions/nope", "no such session"),
        ("cogwork://sessions/nope/pdf", "resources/templates/list"),
        ("file:///etc/passwd", "resources/templates/list"),
    ];

    for (uri, expected) in cases {
        let error = client.read(uri).await.expect_err("an error");
        assert!(error.contains(expected), "{uri}: {error}");
    }
}
