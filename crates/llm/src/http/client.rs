use super::{HttpClientBuilder, Protocol, settings::Connect, variable, wrong};
use crate::LlmError;

/// What every client does in the same way: all but its constructors, whose documentation differs.
macro_rules! client {
    ($client:ident, [$($capability:ident),*]) => {
        #[async_trait::async_trait]
        impl crate::LlmClient for $client {
            /// # Errors
            ///
            /// Those [listed with `OpenAiClient`](crate::OpenAiClient#errors).
            async fn complete(
                &self,
                request: crate::ChatRequest,
            ) -> Result<crate::ChatResponse, crate::LlmError> {
                self.0.complete(request).await
            }

            /// # Errors
            ///
            /// Those [listed with `OpenAiClient`](crate::OpenAiClient#errors).
            async fn stream(
                &self,
                request: crate::ChatRequest,
            ) -> Result<crate::ReplyStream, crate::LlmError> {
                self.0.stream(request).await
            }

            /// Those of the protocol. A server or a model may know less of it, and then refuses the request
            /// with an error of kind `InvalidRequest`.
            fn capabilities(&self) -> crate::Capabilities {
                crate::Capabilities::none()$(.with(crate::Capability::$capability))*
            }
        }

        impl std::fmt::Debug for $client {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(crate) use client;

/// The settings that the environment has for a client: `{prefix}_BASE_URL`, `{prefix}_MODEL` and
/// `{prefix}_API_KEY`.
pub(crate) fn from_env<C>(
    protocol: &'static Protocol,
    client: Connect<C>,
    [base_url_in, model_in, key_in]: [&'static str; 3],
) -> Result<HttpClientBuilder<C>, LlmError> {
    let model = variable(model_in)?.ok_or_else(|| {
        wrong(format!(
            "{model_in} is not set; expected the server's name of a model"
        ))
    })?;

    let base_url = variable(base_url_in)?;
    let api_key = variable(key_in)?;
    let example = protocol.example;
    if base_url.is_none() && api_key.is_none() {
        let message = format!(
            "{key_in} is not set; expected a key for {example}, or another server in {base_url_in}"
        );
        return Err(wrong(message));
    }

    let base_url = base_url.unwrap_or_else(|| example.to_owned());
    let builder =
        HttpClientBuilder::new(protocol, client, base_url, model).base_url_from(base_url_in);
    Ok(match api_key {
        Some(key) => builder.with_api_key(key),
        None => builder,
    })
}
