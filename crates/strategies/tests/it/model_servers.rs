//! Strategies on imitations of model servers, which want back what they sent.

use std::sync::Arc;

use cogwork_llm::LlmClient;
use cogwork_strategies::Solver;
use cogwork_strategies::methods::React;
use cogwork_tools::{Tools, function};
use serde_json::{Value, json};

#[path = "../../../llm/tests/servers/mod.rs"]
mod servers;
use servers::{ROWS, Reply};

fn tools() -> Tools {
    let height = |_: Value| async move { Ok("2469 m".to_owned()) };
    let height = function("height", "The height of a mountain.", height);
    Tools::new().with(height).unwrap()
}

#[tokio::test]
async fn react_serves_on_every_server() {
    let act = |of: &str| {
        let reply = Reply::says("I need the height.").thinks("OPAQUE thought");
        reply.calls("height", json!({"of": of}))
    };
    let finish = || Reply::says("Snøhetta").thinks("OPAQUE thought");

    for row in ROWS {
        let calls = vec![act("Galdhøpiggen"), act("Snøhetta"), finish()];
        // After the last cycle, the solution is asked for without more calls.
        let last = React { max_cycles: 1 };
        let runs = [
            (React::default(), calls),
            (last, vec![act("Galdhøpiggen"), finish()]),
        ];

        for (react, replies) in runs {
            let server = row.start(replies).await;
            let client: Arc<dyn LlmClient> = Arc::from((row.client)(server.url(), "model-1"));
            let solver = Solver::new(client, react).with_tools(tools());
            let solved = solver.solve("Which is higher?").await.unwrap();

            let refusals = server.refusals();
            assert!(
                refusals.iter().all(|text| row.is_mended(text)),
                "{}: {refusals:?}",
                row.name
            );
            assert_eq!(solved.answer(), Some("Snøhetta"), "{}", row.name);
        }
    }
}
