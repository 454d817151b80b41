//! The tool `solve`.

mod budgets;
mod cancelling;
#[cfg(feature = "openai")]
mod environment;
#[cfg(feature = "agents")]
mod flows;
mod runs;
mod stalled;

use cogwork_llm::LlmClient;
use cogwork_mcp::Server;

/// Returns a server whose tool solves problems with this model.
pub(crate) fn server(client: impl LlmClient + 'static) -> Server {
    let builder = Server::builder().with_client(client);
    let builder = builder.with_built_in_tools(["solve"]);
    builder.open().expect("the server opens")
}
