use std::env;

use super::errors::invalid_settings;
use super::protocol::Protocol;
use super::settings::{Connect, HttpClientBuilder};
use crate::LlmError;

/// Returns a builder with the settings from the environment variables for the base URL, the model
/// and the API key.
pub(crate) fn from_env<C>(
    protocol: &'static Protocol,
    client: Connect<C>,
    [base_url_in, model_in, key_in]: [&'static str; 3],
) -> Result<HttpClientBuilder<C>, LlmError> {
    let model = variable(model_in)?.ok_or_else(|| {
        invalid_settings(format!(
            "{model_in} is not set; expected the name of a model on the server"
        ))
    })?;

    let base_url = variable(base_url_in)?;
    let api_key = variable(key_in)?;
    let example = protocol.example;

    if base_url.is_none() && api_key.is_none() {
        return Err(invalid_settings(format!(
            "{key_in} is not set; expected an API key for {example}, or a different server in {base_url_in}"
        )));
    }

    let base_url = base_url.unwrap_or_else(|| example.to_owned());
    let builder =
        HttpClientBuilder::new(protocol, client, base_url, model).base_url_from(base_url_in);

    Ok(match api_key {
        Some(key) => builder.with_api_key(key),
        None => builder,
    })
}

/// Returns the value of an environment variable. An empty one counts as unset.
fn variable(name: &str) -> Result<Option<String>, LlmError> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(invalid_settings(format!(
            "{name} is not UTF-8; expected text"
        ))),
    }
}
