use std::collections::HashMap;

use proptest::prelude::*;
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, CompletionContext, CompletionInfo, Reference,
};
use serde_json::json;

use crate::host::{Era, Host};
use crate::resources::support::{server, think};

const SESSION: &str = "cogwork://sessions/{id}/{format}";
const STAGE: &str = "cogwork://strategies/{name}/stages/{stage}";

async fn completed(
    host: &Host,
    reference: Reference,
    argument: &str,
    typed: &str,
) -> CompletionInfo {
    let request = CompleteRequestParams::new(reference, ArgumentInfo::new(argument, typed));
    let result = host.client.complete(request).await;
    result.expect("a completion").completion
}

#[tokio::test]
async fn names_are_completed() {
    for era in Era::BOTH {
        let host = Host::connect(&server(0), era).await;
        for id in ["plan-a", "plan-b", "other"] {
            think(&host, id, json!({"thought": "First."})).await;
        }
        let session = || Reference::for_resource(SESSION);
        let stage = || Reference::for_resource(STAGE);
        let react = || Reference::for_prompt("react");

        let cases = [
            (session(), "id", "plan-", vec!["plan-b", "plan-a"]),
            (session(), "format", "m", vec!["markdown", "mermaid"]),
            (
                stage(),
                "name",
                "s",
                vec!["scratchpad", "self_ask", "self_consistency", "step_back"],
            ),
            (stage(), "stage", "action_p", vec!["action_planning"]),
            (react(), "sessionId", "o", vec!["other"]),
            (react(), "tool", "", vec!["think", "begin", "solve"]),
            (
                Reference::for_prompt("loop"),
                "tool",
                "",
                vec!["begin", "solve"],
            ),
            (react(), "problem", "w", vec![]),
            (session(), "nope", "", vec![]),
            (
                Reference::for_resource("file:///{path}"),
                "path",
                "",
                vec![],
            ),
        ];
        for (reference, argument, typed, expected) in cases {
            let info = completed(&host, reference, argument, typed).await;
            assert_eq!(info.values, expected, "{argument} {typed}");
            assert_eq!(info.has_more, Some(false));
        }
    }
}

#[tokio::test]
async fn stages_are_those_of_the_strategy_that_was_chosen() {
    let host = Host::connect(&server(0), Era::Discover).await;

    let chosen = HashMap::from([("name".to_owned(), "react".to_owned())]);
    let context = CompletionContext::with_arguments(chosen);
    let argument = ArgumentInfo::new("stage", "");
    let request = CompleteRequestParams::new(Reference::for_resource(STAGE), argument);
    let result = host.client.complete(request.with_context(context)).await;

    let react = cogwork_strategies::StrategyName::React.strategy();
    let mut expected: Vec<_> = react.stages().iter().map(|stage| stage.name()).collect();
    expected.sort_unstable();
    assert_eq!(result.expect("a completion").completion.values, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_completed_with_names_that_begin_with_it(typed in ".{0,40}|[a-z%_]{0,4}") {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let host = Host::connect(&server(0), Era::Initialize).await;
            think(&host, "a-b", json!({"thought": "First."})).await;

            for (template, argument) in [(SESSION, "id"), (STAGE, "name"), (STAGE, "stage")] {
                let reference = Reference::for_resource(template);
                let info = completed(&host, reference, argument, &typed).await;
                assert!(info.values.iter().all(|value| value.starts_with(&typed)));
            }
        });
    }
}
