use cogwork_mcp::Server;

use super::stalled::Stalled;
use super::{by, mine, server};
use crate::support::{Client, Era, request};

const STEPS: &str = "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.";

fn stalled_after_a_thought() -> (Stalled, Server) {
    let model = Stalled::after([STEPS]);
    let server = server(model.clone());
    (model, server)
}

#[tokio::test]
async fn cancelling_a_request_drops_the_call_to_the_model_and_keeps_the_thoughts() {
    for era in Era::BOTH {
        let (model, server) = stalled_after_a_thought();
        let client = Client::in_era(&server, era).await;

        // Dropping the call notifies the server.
        tokio::select! {
            _ = client.call("solve", mine("chain_of_thought")) => {
                panic!("the model never answers");
            }
            () = model.waiting(1) => {}
        }
        model.dropped(1).await;

        let session = ended(&client).await;
        assert!(session.contains("- Outcome: `cancelled`"), "{session}");
        assert!(session.contains("\nMultiply the tens.\n"), "{session}");
    }
}

/// Reads the run until its end is recorded.
async fn ended(client: &Client) -> String {
    loop {
        let session = client.read("cogwork://sessions/mine").await;
        let session = session.expect("a session");
        if session.contains("- Outcome: ") {
            return session;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn disconnecting_drops_the_call_to_the_model() {
    let (model, server) = stalled_after_a_thought();
    let client = Client::of(&server).await;
    let peer = client.peer().clone();

    let request = request("solve", by("chain_of_thought"));
    let call = tokio::spawn(async move { peer.call_tool(request).await });
    model.waiting(1).await;
    client.service.cancel().await.expect("the client ends");

    model.dropped(1).await;
    assert!(call.await.expect("the call ends").is_err());
}
