use cogwork_llm::ScriptedClient;
use serde_json::json;

use super::server;
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
        let host = Host::connect(&server(client.clone()), Era::Discover).await;

        let budget = json!({"calls": 2});
        let arguments = json!({"problem": "17 * 3?", "strategy": strategy, "budget": budget});
        let result = host.solve(arguments).await;

        let is_limited =
            text(&result).contains("of 2 calls") || text(&result).contains("the limit of");
        assert!(is_limited, "{}", text(&result));
        assert!(client.requests().len() <= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_answers_runs_out_of_time() {
    let model = Stalled::after([]);
    let host = Host::connect(&server(model.clone()), Era::Initialize).await;

    let arguments = json!({
        "problem": "17 * 3?",
        "strategy": "step_back",
        "budget": {"seconds": 60},
    });
    let result = host.solve(arguments).await;

    assert!(text(&result).contains("60s"), "{}", text(&result));
    model.dropped(1).await;
}

#[tokio::test]
async fn the_number_of_runs_at_the_same_time_is_limited() {
    let model = Stalled::after([]);
    let host = Host::connect(&server(model.clone()), Era::Initialize).await;
    let solve = || host.solve(json!({"problem": "17 * 3?", "strategy": "step_back"}));

    let waiting = async { tokio::join!(solve(), solve(), solve(), solve()) };
    let fifth = async {
        model.waiting(4).await;
        solve().await
    };
    let fifth = tokio::select! {
        _ = waiting => panic!("the model never answers"),
        fifth = fifth => fifth,
    };
    assert!(text(&fifth).starts_with("4 runs are in progress"));

    // The first four were cancelled by dropping their calls.
    model.dropped(4).await;
    let sixth = async {
        loop {
            let result = solve().await;
            assert!(text(&result).starts_with("4 runs"), "{}", text(&result));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = sixth => {}
        () = model.waiting(5) => {}
    }
}

#[tokio::test]
async fn faulty_arguments_are_named_with_what_is_expected() {
    let client = ScriptedClient::default();
    let host = Host::connect(&server(client.clone()), Era::Initialize).await;
    let cases = [
        (json!({}), "there are no arguments; expected `problem`"),
        (json!({"problem": " \n"}), "`problem` is empty"),
        (
            json!({"problem": "?", "strategy": "tree"}),
            "`tree_of_thoughts`",
        ),
        (json!({"problem": "?", "strategy": "flow"}), "`loop`"),
        (json!({"problem": "?", "budget": 7}), "`budget`: "),
        (
            json!({"problem": "?", "budget": {"calls": 101}}),
            "`budget.calls`: found the number 101; expected an integer from 1 to 100",
        ),
        (
            json!({"problem": "?", "sessionId": "../x"}),
            "ASCII letters",
        ),
        (json!({"problem": "?", "temperature": 1}), "`temperature`"),
    ];

    for (arguments, expected) in cases {
        let result = host.solve(arguments.clone()).await;
        assert_eq!(result.is_error, Some(true));
        assert!(
            text(&result).contains(expected),
            "{arguments}: {}",
            text(&result)
        );
    }
    assert!(client.requests().is_empty(), "the model was called");
}

#[tokio::test]
async fn a_session_is_not_used_twice() {
    let client = ScriptedClient::new(["answer: 51", "answer: 52"]);
    let host = Host::connect(&server(client.clone()), Era::Initialize).await;
    let arguments = json!({
        "problem": "What is 17 * 3?",
        "strategy": "step_back",
        "budget": {"calls": 1},
        "sessionId": "mine",
    });

    host.solve(arguments.clone()).await;
    let again = host.solve(arguments).await;

    assert_eq!(text(&again), "the session `mine` already exists");
    assert_eq!(client.requests().len(), 1);
}
