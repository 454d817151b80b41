//! A client that isn't `Clone`. `Arc::new(client)` is.

use cogwork_flow::from_phases_with;

struct Client;

impl Client {
    async fn ask(&self, n: u32) -> std::io::Result<u32> {
        Ok(n + 1)
    }
}

fn main() {
    let _ = from_phases_with(
        Client,
        |n: &mut u32| *n,
        async |client, n| client.ask(n).await,
        |n, next| *n = next,
    );
}
