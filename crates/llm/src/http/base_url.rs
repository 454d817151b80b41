use std::net::IpAddr;

use reqwest::Url;

use super::excerpt::Secrets;
use super::protocol::Protocol;
use super::tls;

/// A base URL that is not yet validated.
pub(super) struct BaseUrl {
    pub(super) text: String,
    /// The environment variable that it comes from, for error messages.
    pub(super) variable: Option<&'static str>,
}

impl BaseUrl {
    /// Returns the parsed URL, or what is wrong with it.
    pub(super) fn check(&self, protocol: &Protocol, secrets: &Secrets) -> Result<Url, String> {
        let shown = self.shown(secrets);

        let url = self.parse(protocol, &shown)?;
        self.check_parts(&url, protocol, &shown)?;

        Ok(url)
    }

    fn parse(&self, protocol: &Protocol, shown: &str) -> Result<Url, String> {
        let text = self.text.as_str();
        let example = protocol.example;

        if text.is_empty() {
            let place = self.place();
            return Err(format!(
                "the base URL{place} is empty; expected one like {example}"
            ));
        }

        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(format!(
                "{shown} contains a space or a line break; remove it"
            ));
        }

        let url = Url::parse(text).map_err(|error| {
            format!("{shown} cannot be parsed: {error}; expected one like {example}")
        })?;

        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "{shown} is not an HTTP URL; expected one that begins with http:// or https://"
            ));
        }

        // The parser takes the first segment of the path for a missing host: in `http:///v1`, which
        // results from `http://$HOST/v1` with an empty variable, the host would be `v1`.
        let after_scheme = text
            .split_once(':')
            .and_then(|(_, rest)| rest.strip_prefix("//"))
            .unwrap_or_default();
        if after_scheme.is_empty() || after_scheme.starts_with(['/', '\\']) {
            let scheme = url.scheme();
            return Err(format!(
                "{shown} has no host; expected one after {scheme}://, as in {example}"
            ));
        }

        Ok(url)
    }

    fn check_parts(&self, url: &Url, protocol: &Protocol, shown: &str) -> Result<(), String> {
        if !url.username().is_empty() || url.password().is_some() {
            let place = self.place();
            return Err(format!(
                "the base URL{place} contains credentials and is therefore not shown; \
                 pass them as the API key or in a header"
            ));
        }

        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!("{shown} has a query or a fragment; remove it"));
        }

        let path = protocol.path();
        if url.path().trim_end_matches('/').ends_with(&path) {
            let hint = protocol.hint;
            return Err(format!(
                "{shown} ends in {path}, which the client appends; expected it to end before that{hint}"
            ));
        }

        if url.scheme() == "https" && !tls::IS_AVAILABLE {
            return Err(format!(
                "{shown} needs TLS, which this program was built without; \
                 use http://, or enable the feature rustls or native-tls of cogwork-llm"
            ));
        }

        Ok(())
    }

    fn place(&self) -> String {
        self.variable
            .map(|name| format!(" in {name}"))
            .unwrap_or_default()
    }

    /// Returns the text without trailing slashes. Errors show this text rather than the parsed URL,
    /// which may be spelled differently from the setting.
    pub(super) fn as_given(&self) -> &str {
        self.text.trim_end_matches('/')
    }

    /// Returns a description of the base URL for error messages.
    fn shown(&self, secrets: &Secrets) -> String {
        let place = self.place();

        match self.quoted(secrets) {
            Some(quoted) => format!("the base URL {quoted}{place}"),
            None => format!("the base URL{place} (not shown: it may contain a secret)"),
        }
    }

    /// Returns the text in a form that error messages may show. The query is never included.
    /// Returns `None` if the text contains an `@`, which may follow credentials, or if it doesn't
    /// resemble a URL, because it may be the API key in the wrong place.
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
