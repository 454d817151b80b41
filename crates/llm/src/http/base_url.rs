use std::net::IpAddr;

use reqwest::Url;

use super::Protocol;
use super::excerpt::Secrets;
use super::tls;

/// What goes before the path of the protocol, not yet checked.
pub(super) struct BaseUrl {
    pub(super) text: String,
    /// The environment variable that it comes from, which a complaint then names.
    pub(super) variable: Option<&'static str>,
}

impl BaseUrl {
    /// The address, or what is wrong with it.
    pub(super) fn check(&self, protocol: &Protocol, secrets: &Secrets) -> Result<Url, String> {
        let text = self.text.as_str();
        let example = protocol.example;
        let path = protocol.path();
        let place = self
            .variable
            .map(|name| format!(" in {name}"))
            .unwrap_or_default();
        let shown = match self.quoted(secrets) {
            Some(quoted) => format!("the base URL {quoted}{place}"),
            None => format!("the base URL{place} (not shown: it may hold a secret)"),
        };

        if text.is_empty() {
            return Err(format!(
                "the base URL{place} is empty; expected one like {example}"
            ));
        }

        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(format!(
                "{shown} holds a space or a line end; expected one without"
            ));
        }

        let url = Url::parse(text).map_err(|error| {
            format!("{shown} cannot be read: {error}; expected one like {example}")
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "{shown} is not for HTTP; expected it to begin with http:// or https://"
            ));
        }

        // The parser takes the first part of the path for a missing host: of `http:///v1`, which
        // is what an empty variable makes of `http://$HOST/v1`, it would be `v1`.
        let after_scheme = text
            .split_once(':')
            .and_then(|(_, rest)| rest.strip_prefix("//"))
            .unwrap_or_default();
        if after_scheme.is_empty() || after_scheme.starts_with(['/', '\\']) {
            return Err(format!(
                "{shown} has no host; expected one after {}://, as in {example}",
                url.scheme()
            ));
        }

        if !url.username().is_empty() || url.password().is_some() {
            return Err(format!(
                "the base URL{place} holds credentials and so is not shown; \
                 expected them in the API key or a header"
            ));
        }

        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!(
                "{shown} holds a query or a fragment; expected it to end with its path"
            ));
        }

        if url.path().trim_end_matches('/').ends_with(&path) {
            return Err(format!(
                "{shown} ends in {path}, which the client adds; expected it to end before that{}",
                protocol.hint
            ));
        }

        if url.scheme() == "https" && !tls::IS_THERE {
            return Err(format!(
                "{shown} asks for encryption, which is left out of this program; \
                 expected http://, or the feature rustls or native-tls of cogwork-llm"
            ));
        }

        Ok(url)
    }

    /// The text as it was given, without slashes at its end. Errors show this and not the address that was
    /// parsed: its spelling may be another one, by which nobody would know what was given, or would hide it.
    pub(super) fn as_given(&self) -> &str {
        self.text.trim_end_matches('/')
    }

    /// The text as a complaint may show it: nothing of one with an `@`, which may hold
    /// credentials, or of one unlike any address, which may be the key in the wrong place; and
    /// nothing of a query.
    fn quoted(&self, secrets: &Secrets) -> Option<String> {
        let text = self.text.as_str();
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
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
