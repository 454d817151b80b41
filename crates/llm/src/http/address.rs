//! The address of a server, and the HTTP client for it: TLS by the features of the crate, no
//! redirects, and no proxy for this machine.

use std::net::IpAddr;

use reqwest::{ClientBuilder, Url};

use super::invalid_settings;
use super::secrets::Secrets;
use crate::LlmError;

/// Whether TLS is available.
const HAS_TLS: bool = cfg!(any(feature = "rustls", feature = "native-tls"));

/// Returns the parsed base URL, or what is wrong with it. `variable` is the environment variable that
/// it comes from.
pub(super) fn check(
    text: &str,
    variable: Option<&str>,
    example: &str,
    secrets: &Secrets,
) -> Result<Url, String> {
    let why = match parse(text, example) {
        Ok(url) if url.fragment().is_none() => return Ok(url),
        Ok(_) => "has a fragment; remove it".to_owned(),
        Err(why) => why,
    };

    let shown = shown(text, secrets);
    let place = variable.map_or_else(String::new, |name| format!(" in {name}"));
    Err(format!("the base URL {shown}{place} {why}"))
}

/// Returns what errors show of a base URL: no query, and nothing at all if there may be credentials in
/// it, or if it may be a key in the wrong place.
fn shown(text: &str, secrets: &Secrets) -> String {
    if text.contains('@') || !text.contains(':') {
        return "(not shown: it may contain a secret)".to_owned();
    }

    secrets.line(&format!("{:?}", without_query(text)))
}

/// Returns an address without its query, which may contain a key.
pub(super) fn without_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}

/// Returns a parsed address, or what is wrong with it, as the end of a sentence.
fn parse(text: &str, example: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .map_err(|error| format!("cannot be parsed: {error}; expected one like {example}"))?;

    if !matches!(url.scheme(), "http" | "https") {
        let expected = "expected one that begins with http:// or https://";
        return Err(format!("is not an HTTP URL; {expected}"));
    }
    // The parser takes the first segment of the path for a missing host, as in `http:///v1`.
    let (_, host) = text.split_once("://").unwrap_or_default();
    if host.is_empty() || host.starts_with(['/', '\\']) {
        return Err(format!("has no host; expected one like {example}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("contains credentials; pass them as the API key or in a header".to_owned());
    }
    if url.scheme() == "https" && !HAS_TLS {
        return Err("needs TLS, which this program was built without; \
             use http://, or enable the feature rustls or native-tls of cogwork-llm"
            .to_owned());
    }

    Ok(url)
}

/// Returns the settings of a client for an address: TLS by the features of this crate, no redirects,
/// and no proxy for this machine. For the other crates of Cogwork; not part of the API.
///
/// # Errors
///
/// Returns an error if the text isn't an HTTP address, if it contains credentials, or if it needs
/// TLS and there is none.
pub fn http_client(url: &str) -> Result<ClientBuilder, LlmError> {
    let parsed = parse(url, "https://example.com/mcp");
    let parsed = parsed.map_err(|why| invalid_settings(format!("it {why}")))?;
    client_builder(&parsed)
}

/// Returns the settings that all clients share.
pub(super) fn client_builder(url: &Url) -> Result<ClientBuilder, LlmError> {
    // A redirect could carry the key to another host.
    let mut http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    // A proxy on another machine would look for the server on its own.
    if is_loopback(url) {
        http = http.no_proxy();
    }

    with_tls(http, url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    // Addresses of IPv6 are in brackets.
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
