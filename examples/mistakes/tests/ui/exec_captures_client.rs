//! An async closure that uses a client from outside. `from_phases_with` passes it a clone.

use cogwork_flow::from_phases;

struct Client;

impl Client {
    async fn ask(&self, n: u32) -> std::io::Result<u32> {
        Ok(n + 1)
    }
}

fn main() {
    let client = Client;
    let _ = from_phases(
        |n: &mut u32| *n,
        async move |n| client.ask(n).await,
        |n, next| *n = next,
    );
}
