use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::base_url::BaseUrl;
use super::connection::Connection;
use super::errors::invalid_settings;
use super::excerpt::{SHORTEST_SECRET, Secrets};
use super::exchange::Exchange;
use super::headers::headers;
use super::plain;
use super::protocol::{Extra, Protocol};
use crate::LlmError;
#[cfg(doc)]
use crate::LlmErrorKind;

/// Creates a client from its connection. A function pointer, because a trait would have to be
/// public along with every type in it.
pub(super) type Connect<C> = fn(Connection) -> C;

/// The settings of an HTTP client, created by the `builder` function of that client.
///
/// ```
/// use cogwork_llm::{LlmErrorKind, OpenAiClient};
///
/// let error = OpenAiClient::builder("localhost:8080", "").build().unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Settings);
/// assert_eq!(
///     error.to_string(),
///     "settings: the base URL \"localhost:8080\" is not an HTTP URL; expected one that begins with http:// or https://; \
///      the model is empty; expected the name of a model on the server"
/// );
/// ```
pub struct HttpClientBuilder<C> {
    protocol: &'static Protocol,
    client: Connect<C>,
    base_url: BaseUrl,
    model: String,
    api_key: Option<SecretString>,
    headers: Vec<(String, SecretString)>,
    extra: Extra,
    timeout: Duration,
    connect_timeout: Duration,
    max_response_bytes: usize,
    invalid_extra: Vec<String>,
}

impl<C> HttpClientBuilder<C> {
    pub(crate) fn new(
        protocol: &'static Protocol,
        client: Connect<C>,
        base_url: String,
        model: String,
    ) -> Self {
        Self {
            protocol,
            client,
            base_url: BaseUrl {
                text: base_url,
                variable: None,
            },
            model,
            api_key: None,
            headers: Vec::new(),
            extra: Extra::new(),
            timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
            max_response_bytes: 16 * 1024 * 1024,
            invalid_extra: Vec::new(),
        }
    }

    /// Sets the environment variable that the base URL comes from, for error messages.
    pub(crate) fn base_url_from(mut self, variable: &'static str) -> Self {
        self.base_url.variable = Some(variable);
        self
    }

    /// Sets the API key, sent as `Authorization: Bearer` or in the API's own header. It must be
    /// visible ASCII without spaces.
    ///
    /// The default is none; local servers often need none.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(SecretString::from(key.into()));
        self
    }

    /// Adds a header to every request. Its value is treated as a secret unless it is shorter than 8
    /// bytes.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers
            .push((name.into(), SecretString::from(value.into())));
        self
    }

    /// Adds a field to the body of every request, such as `top_k` or `reasoning_effort`. Fields set
    /// on the request take precedence. Fields that the client sets, such as `model`, `messages` and
    /// `stream`, are not accepted.
    #[must_use]
    pub fn with_extra(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let name = name.into();
        match serde_json::to_value(value) {
            Ok(value) => {
                self.extra.insert(name, value);
            }
            Err(error) => self.invalid_extra.push(format!(
                "the extra field {name:?} cannot be serialized as JSON: {error}"
            )),
        }

        self
    }

    /// Sets the timeout of a whole call, from connecting to the last byte of the reply, streamed or
    /// not. [`Timeout`](crate::Timeout) has separate limits for streams.
    ///
    /// The default is 120 s.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the timeout for connecting, including the TLS handshake.
    ///
    /// The default is 10 s.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the maximum size of a response in bytes; for a stream, the total size of its texts and
    /// calls. A larger response is an error of kind [`Decode`](LlmErrorKind::Decode).
    ///
    /// The default is 16 MiB.
    #[must_use]
    pub fn with_max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = bytes;
        self
    }

    /// Builds the client. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](LlmErrorKind::Settings) that lists every invalid setting.
    /// It quotes an invalid base URL, unless the URL may contain credentials or be the API key in the wrong
    /// place. No other value is shown.
    pub fn build(self) -> Result<C, LlmError> {
        let protocol = self.protocol;
        let secrets = self.secrets();
        let base_url = self.base_url.check(protocol, &secrets);
        let headers = headers(protocol, self.api_key.as_ref(), &self.headers);

        let mut problems: Vec<String> = Vec::new();
        problems.extend(base_url.clone().err());
        problems.extend(self.model_problem());
        problems.extend(headers.clone().err());
        problems.extend(self.extra_problems());
        problems.extend(self.limit_problems());
        if !problems.is_empty() {
            return Err(invalid_settings(problems.join("; ")));
        }

        let base_url = base_url.map_err(invalid_settings)?;
        let headers = headers.map_err(invalid_settings)?;
        let http = self.http_client(&base_url, headers)?;

        let given = self.base_url.as_given();
        let address = format!("POST {}", secrets.setting(&protocol.path_after(given)));
        let path = base_url.path().trim_end_matches('/');
        let mut endpoint = base_url.clone();
        endpoint.set_path(&protocol.path_after(path));

        Ok((self.client)(Connection {
            protocol,
            base_url: given.to_owned(),
            model: self.model,
            extra: self.extra,
            exchange: Arc::new(Exchange {
                protocol,
                http,
                address,
                endpoint,
                timeout: self.timeout,
                connect_timeout: self.connect_timeout,
                max_response_bytes: self.max_response_bytes,
                secrets,
            }),
        }))
    }

    fn model_problem(&self) -> Option<String> {
        let is_empty = self.model.trim().is_empty();
        is_empty
            .then(|| "the model is empty; expected the name of a model on the server".to_owned())
    }

    fn extra_problems(&self) -> Vec<String> {
        let reserved = self.protocol.reserved.iter();
        let set = reserved.filter(|name| self.extra.contains_key(**name));
        let taken = set.map(|name| {
            format!("the extra field {name:?} is set by the client; choose a different name")
        });

        taken.chain(self.invalid_extra.iter().cloned()).collect()
    }

    fn limit_problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.timeout.is_zero() {
            problems.push("the timeout is zero; expected a longer time".to_owned());
        }
        if self.connect_timeout.is_zero() {
            problems.push("the connect timeout is zero; expected a longer time".to_owned());
        }
        if self.max_response_bytes == 0 {
            problems.push("the maximum response size is 0 bytes; expected at least 1".to_owned());
        }

        problems
    }

    fn http_client(&self, base_url: &Url, headers: HeaderMap) -> Result<reqwest::Client, LlmError> {
        plain::builder(base_url)?
            .default_headers(headers)
            .timeout(self.timeout)
            .connect_timeout(self.connect_timeout)
            .build()
            .map_err(|error| invalid_settings("the HTTP client cannot be built").with_source(error))
    }

    fn secrets(&self) -> Secrets {
        let long = |value: &&SecretString| value.expose_secret().len() >= SHORTEST_SECRET;
        let headers = self.headers.iter().map(|(_, value)| value).filter(long);
        Secrets::new(self.api_key.iter().chain(headers).cloned())
    }
}

impl<C> fmt::Debug for HttpClientBuilder<C> {
    /// Shows only the model: an unchecked base URL may contain credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The model may be the API key in the wrong place.
        let model = self.secrets().setting(&self.model);
        let name = format!("{}Builder", self.protocol.client);

        f.debug_struct(&name)
            .field("model", &model)
            .finish_non_exhaustive()
    }
}
