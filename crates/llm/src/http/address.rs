//! The address of a server, and the HTTP client for it: TLS by the features of the crate, no
//! redirects, and no proxy for this machine.

use std::net::IpAddr;

use reqwest::{ClientBuilder, Url};

use super::secrets::Secrets;
use super::{Protocol, invalid_settings};
use crate::LlmError;

/// Whether TLS is available.
const HAS_TLS: bool = cfg!(any(feature = "rustls", feature = "native-tls"));

/// Returns the parsed base URL, or what is wrong with it. `variable` is the environment variable that
/// it comes from.
pub(super) fn check(
    text: &str,
    variable: Option<&str>,
    protocol: &Protocol,
    secrets: &Secrets,
) -> Result<Url, String> {
    let place = variable.map(|name| format!(" in {name}"));
    let place = place.unwrap_or_default();
    if text.is_empty() {
        let example = protocol.example;
        return Err(format!(
            "the base URL{place} is empty; expected one like {example}"
        ));
    }

    parse(text, protocol).map_err(|why| match quoted(text, secrets) {
        Some(quoted) => format!("the base URL {quoted}{place} {why}"),
        None => format!("the base URL{place} (not shown: it may contain a secret) {why}"),
    })
}

fn parse(text: &str, protocol: &Protocol) -> Result<Url, String> {
    let example = protocol.example;
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("contains a space or a line break; remove it".to_owned());
    }

    let url = Url::parse(text)
        .map_err(|error| format!("cannot be parsed: {error}; expected one like {example}"))?;
    problem(&url)?;

    // The parser takes the first segment of the path for a missing host: in `http:///v1`, which
    // results from `http://$HOST/v1` with an empty variable, the host would be `v1`.
    let scheme = url.scheme();
    let host = text.split_once("://").map_or("", |(_, rest)| rest);
    if host.is_empty() || host.starts_with(['/', '\\']) {
        return Err(format!(
            "has no host; expected one after {scheme}://, as in {example}"
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("has a query or a fragment; remove it".to_owned());
    }

    let mut endpoints = protocol.endpoints.iter().map(|end| protocol.path(end));
    let path = url.path().trim_end_matches('/');
    match endpoints.find(|endpoint| path.ends_with(endpoint)) {
        Some(endpoint) => Err(format!(
            "ends in {endpoint}, which the client appends; expected it to end before that{}",
            protocol.hint
        )),
        None => Ok(url),
    }
}

/// Returns a base URL in a form that error messages may show. The query is never included. Returns
/// `None` if the text contains an `@`, which may follow credentials, or if it doesn't resemble a URL,
/// because it may be the API key in the wrong place.
fn quoted(text: &str, secrets: &Secrets) -> Option<String> {
    let begins_like_a_host = |(host, _): (&str, &str)| host.is_empty() || host.contains('.');
    let is_like_an_address =
        text.contains(':') || text.split_once('/').is_some_and(begins_like_a_host);
    if text.contains('@') || !is_like_an_address {
        return None;
    }

    let shown = match text.find(['?', '#']).and_then(|start| text.get(..=start)) {
        Some(start) => format!("{:?}", format!("{start}…")),
        None => format!("{text:?}"),
    };
    Some(secrets.setting(&shown))
}

/// Returns what is wrong with an address, as the end of a sentence.
fn problem(url: &Url) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(
            "is not an HTTP URL; expected one that begins with http:// or https://".to_owned(),
        );
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("contains credentials; pass them as the API key or in a header".to_owned());
    }
    if url.scheme() == "https" && !HAS_TLS {
        return Err("needs TLS, which this program was built without; \
             use http://, or enable the feature rustls or native-tls of cogwork-llm"
            .to_owned());
    }

    Ok(())
}

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
    problem(&parsed).map_err(|why| invalid_settings(format!("it {why}")))?;

    client_builder(&parsed)
}

/// Returns the settings that all clients share.
pub(super) fn client_builder(url: &Url) -> Result<ClientBuilder, LlmError> {
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let http = if is_loopback(url) {
        http.no_proxy()
    } else {
        http
    };

    with_tls(http, url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();

    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Uses rustls if both features are enabled: a feature in addition to the defaults should not
/// change the backend.
#[cfg(feature = "rustls")]
fn with_tls(http: ClientBuilder, url: &Url) -> Result<ClientBuilder, LlmError> {
    let config = tls_config(url).map_err(|error| {
        let message = "the system's certificates cannot be read; expected at least one";
        invalid_settings(message).with_source(error)
    })?;
    Ok(http.tls_backend_preconfigured(config))
}

/// Names the crypto provider explicitly, because another library may have installed a different one
/// for the process, or none.
#[cfg(feature = "rustls")]
fn tls_config(url: &Url) -> Result<rustls::ClientConfig, rustls::Error> {
    use rustls::{ClientConfig, RootCertStore};
    use rustls_platform_verifier::BuilderVerifierExt;

    let ring = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions()?;
    let config = if url.scheme() == "https" {
        config.with_platform_verifier()?
    } else {
        // A machine without certificates can still connect to a local server.
        config.with_root_certificates(RootCertStore::empty())
    };

    Ok(config.with_no_client_auth())
}

/// reqwest uses the system's library if it has no other.
#[cfg(not(feature = "rustls"))]
fn with_tls(http: ClientBuilder, _: &Url) -> Result<ClientBuilder, LlmError> {
    Ok(http)
}
