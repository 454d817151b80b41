use cogwork_mcp::Server;

use super::stalled::Stalled;
use super::{by, mine, server};
use crate::support::{Client, Era, block_on, request};

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

#[test]
fn a_run_has_recorded_its_end_when_the_server_has_lost_its_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Stalled::after([STEPS]);
    let builder = Server::builder().with_built_in_tools(["solve"]);
    let builder = builder.with_data(folder.path());

    let server = builder.clone().with_client(model.clone());
    let server = server.open().expect("the server opens");
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build();
    // The runtime ends with the server, as in a program.
    runtime.expect("a runtime").block_on(async {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let serving = tokio::spawn(server.serve(tokio::io::split(theirs)));
        let client = Client::over(tokio::io::split(ours), Era::Initialize).await;

        let peer = client.peer().clone();
        let request = request("solve", mine("chain_of_thought"));
        tokio::spawn(async move { peer.call_tool(request).await });
        model.waiting(1).await;
        client.service.cancel().await.expect("the client ends");
        serving.await.expect("no panic").expect("no error");
    });

    block_on(async {
        let client = Client::new(builder.with_client(model)).await;
        let session = client.read("cogwork://sessions/mine").await;
        let session = session.expect("a session");
        assert!(session.contains("- Outcome: `cancelled`"), "{session}");
    });
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
