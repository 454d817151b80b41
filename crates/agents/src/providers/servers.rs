use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use cogwork_llm::{
    AnthropicClient, Backoff, HttpClientBuilder, LlmClient, LlmError, OllamaClient, OpenAiClient, Retry,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Provider;

/// The settings of a client over HTTP.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Server {
    /// The server's name of the model.
    #[schemars(length(min = 1))]
    name: String,
    /// The key, best from the environment: `${API_KEY}`. Default: none, for servers of one's own.
    api_key: Option<String>,
    /// What goes before the path of the protocol. Default: the address of the provider itself.
    base_url: Option<String>,
    /// How long a call may take, in seconds. Default: 120.
    #[schemars(range(min = 0.001, max = 86_400.0))]
    timeout: Option<f64>,
    /// How often a call is made again that failed for a reason that may pass. Default: 2.
    #[schemars(range(max = 20))]
    retries: Option<u32>,
}

impl fmt::Debug for Server {
    /// The model alone: the rest may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.name).finish_non_exhaustive()
    }
}

pub(super) fn all() -> [Provider; 3] {
    [
        Provider::new("openai", "A server that speaks OpenAI's chat completions.", |server: Server| {
            server.around(OpenAiClient::builder, "https://api.openai.com/v1")
        }),
        Provider::new("anthropic", "A server that speaks Anthropic's messages.", |server: Server| {
            server.around(AnthropicClient::builder, "https://api.anthropic.com")
        }),
        Provider::new("ollama", "A server of Ollama, by its own protocol.", |server: Server| {
            server.around(OllamaClient::builder, "http://localhost:11434")
        }),
    ]
}

impl Server {
    fn around<C: LlmClient>(
        self,
        builder: fn(String, String) -> HttpClientBuilder<C>,
        address: &str,
    ) -> Result<Retry<C>, LlmError> {
        let base_url = self.base_url.unwrap_or_else(|| address.to_owned());
        let mut client = builder(base_url, self.name);
        if let Some(key) = self.api_key {
            client = client.api_key(key);
        }
        if let Some(timeout) = self.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            client = client.timeout(timeout);
        }
        let attempts = NonZeroU32::MIN.saturating_add(self.retries.unwrap_or(2));
        Ok(Retry::new(client.build()?, Backoff::attempts(attempts)))
    }
}
