use cogwork_mcp::Server;
use serde_json::json;

use super::server;
use super::stalled::Stalled;
use crate::host::{Era, Host};
use crate::resources::support::read;

const STEPS: &str = "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.";

fn stalled_after_a_thought() -> (Stalled, Server) {
    let model = Stalled::after([STEPS]);
    let server = server(model.clone());
    (model, server)
}

#[tokio::test]
async fn cancelling_a_request_drops_the_call_to_the_model() {
    for era in Era::BOTH {
        let (model, server) = stalled_after_a_thought();
        let host = Host::connect(&server, era).await;

        // Dropping the call notifies the server.
        tokio::select! {
            _ = host.solve(json!({"problem": "17 * 3?", "strategy": "chain_of_thought"})) => {
                panic!("the model never answers");
            }
            () = model.waiting(1) => {}
        }

        model.dropped(1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn disconnecting_drops_the_call_to_the_model() {
    let (model, server) = stalled_after_a_thought();
    let host = Host::connect(&server, Era::Initialize).await;
    let peer = host.client.peer().clone();

    let request = crate::host::call(
        "solve",
        json!({"problem": "17 * 3?", "strategy": "chain_of_thought"}),
    );
    let call = tokio::spawn(async move { peer.call_tool(request).await });
    model.waiting(1).await;
    host.client.cancel().await.expect("the client ends");

    model.dropped(1).await;
    assert!(call.await.expect("the call ends").is_err());
}

#[tokio::test]
async fn a_cancelled_run_keeps_its_thoughts_in_its_session() {
    let (model, server) = stalled_after_a_thought();
    let host = Host::connect(&server, Era::Discover).await;
    let arguments = json!({
        "problem": "17 * 3?",
        "strategy": "chain_of_thought",
        "sessionId": "mine",
    });

    tokio::select! {
        _ = host.solve(arguments) => panic!("the model never answers"),
        () = model.waiting(1) => {}
    }
    model.dropped(1).await;

    let session = ended(&host, "cogwork://sessions/mine").await;
    assert!(session.contains("- Outcome: `cancelled`"), "{session}");
    assert!(session.contains("\nMultiply the tens.\n"), "{session}");
}

/// Reads a run until its end is recorded.
async fn ended(host: &Host, uri: &str) -> String {
    loop {
        let session = read(host, uri).await.expect("a session");
        if session.contains("- Outcome: ") {
            return session;
        }
        tokio::task::yield_now().await;
    }
}
