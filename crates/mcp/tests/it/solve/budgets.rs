use cogwork_llm::ScriptedClient;
use serde_json::json;

use super::stalled::Stalled;
use super::{by, server};
use crate::support::Client;

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
        let model = ScriptedClient::new(["answer: 51", OPEN, OPEN]);
        let client = Client::of(&server(model.clone())).await;
        let mut arguments = by(strategy);
        arguments["budget"] = json!({"calls": 2});
        let told = client.accepted("solve", arguments).await;

        let is_limited = told.contains("of 2 calls") || told.contains("the limit of");
        assert!(is_limited, "{told}");
        assert!(model.requests().len() <= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_answers_runs_out_of_time() {
    let model = Stalled::after([]);
    let client = Client::of(&server(model.clone())).await;
    let mut arguments = by("step_back");
    arguments["budget"] = json!({"seconds": 60});

    let told = client.accepted("solve", arguments).await;
    assert!(told.contains("60s"), "{told}");
    model.dropped(1).await;
}

#[tokio::test]
async fn the_number_of_runs_at_the_same_time_is_limited() {
    let model = Stalled::after([]);
    let client = Client::of(&server(model.clone())).await;
    let solve = || client.refused("solve", by("step_back"));

    let waiting = async { tokio::join!(solve(), solve(), solve(), solve()) };
    let fifth = async {
        model.waiting(4).await;
        solve().await
    };
    let fifth = tokio::select! {
        _ = waiting => panic!("the model never answers"),
        fifth = fifth => fifth,
    };
    assert!(fifth.starts_with("4 runs are in progress"), "{fifth}");

    // The first four were cancelled by dropping their calls.
    model.dropped(4).await;
    let sixth = async {
        loop {
            let told = solve().await;
            assert!(told.starts_with("4 runs"), "{told}");
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = sixth => {}
        () = model.waiting(5) => {}
    }
}
