use std::collections::BTreeMap;
use std::num::NonZeroU32;

use cogwork_llm::http::{HttpClientBuilder, OpenAiApi};
use cogwork_llm::layers::{Backoff, Retry};
use cogwork_llm::{AnthropicClient, LlmClient, OllamaClient, OpenAiClient};
use cogwork_thinking::Registry;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::loader::Provider;
use crate::settings::duration;

/// The settings of a client over HTTP.
#[derive(Deserialize, JsonSchema)]
struct Server {
    /// The name of the model.
    #[schemars(length(min = 1), extend("x-also" = ["model", "model_name", "model_id"]))]
    name: String,
    /// The key, preferably from the environment: `${API_KEY}`. Default: none, for local servers.
    #[schemars(extend("x-also" = ["key", "token", "apikey", "apiKey"]))]
    api_key: Option<String>,
    /// The base URL. Default: that of the provider.
    #[schemars(extend("x-also" = ["url", "endpoint", "api_base", "host"]))]
    base_url: Option<String>,
    /// The timeout of a call, in seconds. Default: 600.
    #[schemars(range(min = 0.001, max = 86_400.0))]
    timeout: Option<f64>,
    /// The maximum number of retries after temporary failures. Default: 2.
    #[schemars(range(max = 20), extend("x-also" = ["max_retries"]))]
    retries: Option<u32>,
    /// Headers of every request. Default: none.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Fields to add to the body of every request, as the server names them. Default: none.
    #[serde(default)]
    #[schemars(extend("x-also" = ["extra_body", "options"]))]
    extra: BTreeMap<String, Json>,
}

/// The settings of a client for OpenAI's APIs.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct OpenAi {
    #[serde(flatten)]
    server: Server,
    /// The API. Default: `chat`, until the server demands `responses`.
    #[serde(default)]
    api: Api,
}

/// `chat` or `responses`.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Api {
    #[default]
    Auto,
    Chat,
    Responses,
}

/// The settings of a client for Anthropic's or Ollama's API.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct Other {
    #[serde(flatten)]
    server: Server,
}

pub(super) fn insert(providers: &mut Registry<Provider>) {
    providers.insert::<OpenAi>(
        "openai",
        "A server that speaks OpenAI's chat completions or responses, as most do.",
        Provider::new(OpenAi::client),
    );
    providers.insert::<Other>(
        "anthropic",
        "A server that speaks Anthropic's messages.",
        Provider::new(Other::anthropic),
    );
    providers.insert::<Other>(
        "ollama",
        "A server of Ollama, by its own protocol.",
        Provider::new(Other::ollama),
    );
}

impl OpenAi {
    fn client(self) -> Result<Retry<OpenAiClient>, String> {
        let api = match self.api {
            Api::Auto => OpenAiApi::Auto,
            Api::Chat => OpenAiApi::Chat,
            Api::Responses => OpenAiApi::Responses,
        };
        self.server
            .client("https://api.openai.com/v1", |url, name| {
                OpenAiClient::builder(url, name).with_api(api)
            })
    }
}

impl Other {
    fn anthropic(self) -> Result<Retry<AnthropicClient>, String> {
        let address = "https://api.anthropic.com";
        self.server.client(address, AnthropicClient::builder)
    }

    fn ollama(self) -> Result<Retry<OllamaClient>, String> {
        let address = "http://localhost:11434";
        self.server.client(address, OllamaClient::builder)
    }
}

impl Server {
    fn client<C: LlmClient>(
        self,
        address: &str,
        builder: impl Fn(String, String) -> HttpClientBuilder<C>,
    ) -> Result<Retry<C>, String> {
        let url = self.base_url.unwrap_or_else(|| address.to_owned());
        let mut client = builder(url, self.name);
        if let Some(key) = self.api_key {
            client = client.with_api_key(key);
        }
        if let Some(timeout) = self.timeout.and_then(duration) {
            client = client.with_timeout(timeout);
        }
        for (name, value) in self.headers {
            client = client.with_header(name, value);
        }
        for (name, value) in self.extra {
            client = client.with_extra(name, value);
        }

        // The first call isn't a retry.
        let attempts = NonZeroU32::MIN.saturating_add(self.retries.unwrap_or(2));
        // Without the kind of the error, because the place says that it is a setting.
        let client = client.build().map_err(|error| error.message().to_owned())?;
        Ok(Retry::new(client, Backoff::attempts(attempts)))
    }
}
