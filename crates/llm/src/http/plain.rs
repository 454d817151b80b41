//! HTTP clients without the headers and timeouts of a model's server.

use reqwest::{ClientBuilder, Url};

use super::base_url::is_loopback;
use super::errors::invalid_settings;
use super::tls;
use crate::LlmError;

/// Returns the settings of a client for an address: TLS by the features of this crate, no redirects,
/// and no proxy for this machine. For the other crates of Cogwork; not part of the API.
///
/// # Errors
///
/// Returns an error if the text isn't an HTTP address, if it contains credentials, or if it needs
/// TLS and there is none.
pub fn http_client(url: &str) -> Result<ClientBuilder, LlmError> {
    let parsed = Url::parse(url).map_err(|error| {
        invalid_settings("it can't be parsed; expected one like https://example.com/mcp")
            .with_source(error)
    })?;

    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(invalid_settings(
            "it isn't an HTTP address; expected one that begins with http:// or https://",
        ));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(invalid_settings(
            "it contains credentials; pass them as the token",
        ));
    }
    if parsed.scheme() == "https" && !tls::IS_AVAILABLE {
        return Err(invalid_settings(
            "it needs TLS, which this program was built without; \
             use http://, or enable the feature rustls or native-tls",
        ));
    }

    builder(&parsed)
}

/// Returns the settings that all clients share.
pub(super) fn builder(url: &Url) -> Result<ClientBuilder, LlmError> {
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let http = if is_loopback(url) {
        http.no_proxy()
    } else {
        http
    };

    tls::of(http, url)
}
