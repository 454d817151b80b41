use cogwork_llm::ScriptedClient;
use cogwork_mcp::{Server, ServerLimits};
use serde_json::json;

use super::stalled::Stalled;
use crate::host::{Era, Host};
use crate::support::text;

const OPEN: &str = "\
```yaml
current_thinking: First, the tens.
planning:
  - {description: Multiply, status: Pending}
next_thought_needed: true
```";

#[tokio::test]
async fn a_budget_of_calls_holds_for_a_strategy_and_for_the_loop() {
    for strategy in ["step_back", "loop"] {
        let client = ScriptedClient::new(["answer: 51", OPEN, OPEN]);
        let server = Server::builder().with_client(client.clone());
        let host = Host::connect(&server.open().expect("it opens"), Era::Discover).await;

        let budget = json!({"calls": 2});
        let arguments = json!({"problem": "17 * 3?", "strategy": strategy, "budget": budget});
        let result = host.solve(arguments).await;

        let data = result.structured_content.as_ref().expect("data");
        assert_ne!(data["outcome"], "answered", "{data}");
        assert!(client.requests().len() <= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_answers_runs_out_of_time() {
    let model = Stalled::after([]);
    let server = Server::builder().with_client(model.clone());
    let host = Host::connect(&server.open().expect("it opens"), Era::Initialize).await;

    let arguments = json!({
        "problem": "17 * 3?",
        "strategy": "step_back",
        "budget": {"seconds": 60},
    });
    let result = host.solve(arguments).await;

    let data = result.structured_content.as_ref().expect("data");
    assert_eq!(data["outcome"], "stopped", "{data}");
    assert!(text(&result).contains("60s"), "{}", text(&result));
    model.dropped(1).await;
}

#[tokio::test]
async fn the_number_of_runs_at_the_same_time_is_limited() {
    let model = Stalled::after([]);
    let limits = ServerLimits {
        solve_runs: 2,
        ..ServerLimits::default()
    };
    let server = Server::builder()
        .with_limits(limits)
        .with_client(model.clone());
    let host = Host::connect(&server.open().expect("it opens"), Era::Initialize).await;
    let problem = || json!({"problem": "17 * 3?", "strategy": "step_back"});

    let waiting = async { tokio::join!(host.solve(problem()), host.solve(problem())) };
    let third = async {
        model.waiting(2).await;
        host.solve(problem()).await
    };
    let third = tokio::select! {
        _ = waiting => panic!("the model never answers"),
        third = third => third,
    };
    assert!(text(&third).starts_with("2 runs are in progress"));

    // The first two were cancelled by dropping their calls.
    model.dropped(2).await;
    let fourth = async {
        loop {
            let result = host.solve(problem()).await;
            assert!(text(&result).starts_with("2 runs"), "{}", text(&result));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = fourth => {}
        () = model.waiting(3) => {}
    }
}
