use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use cogwork_llm::{
    AnthropicClient, Backoff, HttpClientBuilder, LlmClient, LlmError, OllamaClient, OpenAiClient,
    Retry,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Provider, SettingProblem};

/// The settings of a client over HTTP.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
    /// The timeout of a call, in seconds. Default: 120.
    #[schemars(range(min = 0.001, max = 86_400.0))]
    timeout: Option<f64>,
    /// The maximum number of retries after temporary failures. Default: 2.
    #[schemars(range(max = 20), extend("x-also" = ["max_retries"]))]
    retries: Option<u32>,
}

impl fmt::Debug for Server {
    /// Only the model, because the other settings may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

pub(super) fn all() -> [Provider; 3] {
    let providers = [
        Provider::checking(
            "openai",
            "A server that speaks OpenAI's chat completions.",
            |server: Server| server.around(OpenAiClient::builder, "https://api.openai.com/v1"),
        ),
        Provider::checking(
            "anthropic",
            "A server that speaks Anthropic's messages.",
            |server: Server| server.around(AnthropicClient::builder, "https://api.anthropic.com"),
        ),
        Provider::checking(
            "ollama",
            "A server of Ollama, by its own protocol.",
            |server: Server| server.around(OllamaClient::builder, "http://localhost:11434"),
        ),
    ];
    providers.map(|provider| provider.with_model_setting("name"))
}

fn problem(error: &LlmError) -> SettingProblem {
    SettingProblem::new(error.message())
}

impl Server {
    fn around<C: LlmClient>(
        self,
        builder: fn(String, String) -> HttpClientBuilder<C>,
        address: &str,
    ) -> Result<Retry<C>, Vec<SettingProblem>> {
        let mut client = builder(
            self.base_url.clone().unwrap_or_else(|| address.to_owned()),
            self.name.clone(),
        );
        if let Some(key) = &self.api_key {
            client = client.with_api_key(key.as_str());
        }

        if let Some(timeout) = self
            .timeout
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        {
            client = client.with_timeout(timeout);
        }

        let attempts = NonZeroU32::MIN.saturating_add(self.retries.unwrap_or(2));
        match client.build() {
            Ok(client) => Ok(Retry::new(client, Backoff::attempts(attempts))),
            Err(error) => Err(self.problems(builder, address, &error)),
        }
    }

    /// Returns the problems of each setting. The builder reports all of them in one message, so
    /// each setting is tried separately.
    fn problems<C: LlmClient>(
        self,
        builder: fn(String, String) -> HttpClientBuilder<C>,
        address: &str,
        all: &LlmError,
    ) -> Vec<SettingProblem> {
        let base_url = self
            .base_url
            .map(|url| ("base_url", builder(url, "any".to_owned())));
        let name = builder(address.to_owned(), self.name);
        let api_key = self.api_key.map(|key| {
            (
                "api_key",
                builder(address.to_owned(), "any".to_owned()).with_api_key(key),
            )
        });

        let alone = [Some(("name", name)), base_url, api_key]
            .into_iter()
            .flatten();
        let alone =
            alone.filter_map(|(setting, client)| Some(problem(&client.build().err()?).at(setting)));
        let problems: Vec<_> = alone.collect();

        if problems.is_empty() {
            problem(all).into()
        } else {
            problems
        }
    }
}
