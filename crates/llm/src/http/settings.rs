use std::env;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::base_url::{BaseUrl, is_loopback};
use super::excerpt::{SHORTEST_SECRET, Secrets};
use super::exchange::Exchange;
use super::{Connection, Extra, Protocol, tls};
use crate::{LlmError, LlmErrorKind};

/// These are the framing of the message itself.
const FRAMING: [HeaderName; 4] = [
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TRANSFER_ENCODING,
];

/// Makes a client of its connection. A pointer and not a trait, which would have to be public with all that
/// it names.
pub(super) type Connect<C> = fn(Connection) -> C;

/// The settings of a client over HTTP. Begins with the `builder` of that client.
///
/// ```
/// use cogwork_llm::{LlmErrorKind, OpenAiClient};
///
/// let error = OpenAiClient::builder("localhost:8080", "").build().unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Settings);
/// assert_eq!(
///     error.to_string(),
///     "settings: the base URL \"localhost:8080\" is not for HTTP; expected it to begin with http:// or https://; \
///      the model is empty; expected the server's name of a model"
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
    problems: Vec<String>,
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
            problems: Vec::new(),
        }
    }

    /// The environment variable that the base URL comes from, which complaints then name.
    pub(crate) fn base_url_from(mut self, variable: &'static str) -> Self {
        self.base_url.variable = Some(variable);
        self
    }

    /// The key, sent as `Authorization: Bearer`, or in the server's own header: visible ASCII
    /// without spaces.
    ///
    /// # Default
    ///
    /// None; servers of one's own often need none.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(SecretString::from(key.into()));
        self
    }

    /// A header for every request, as some servers want for their key or their statistics. The
    /// value is treated as a secret, but for the shortest ones.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers
            .push((name.into(), SecretString::from(value.into())));
        self
    }

    /// A field for the body of every request, such as `top_k` or `reasoning_effort`. What a
    /// request sets itself goes before it. Fields that are the client's own, as `model`, `messages`
    /// and `stream`, are not taken.
    #[must_use]
    pub fn with_extra(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let name = name.into();
        match serde_json::to_value(value) {
            Ok(value) => {
                self.extra.insert(name, value);
            }
            Err(error) => self.problems.push(format!(
                "the extra field {name:?} does not go into JSON: {error}"
            )),
        }

        self
    }

    /// How long a call may take in all, from connecting to the reply's last byte, streamed or not.
    /// [`Timeout`](crate::Timeout) has finer limits for streams.
    ///
    /// # Default
    ///
    /// 120 s.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long connecting may take, encryption included.
    ///
    /// # Default
    ///
    /// 10 s.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The largest answer that is read, in bytes; of a stream, the texts in it. A larger one is an error of kind
    /// [`Decode`](LlmErrorKind::Decode).
    ///
    /// # Default
    ///
    /// 16 MiB.
    #[must_use]
    pub fn with_max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = bytes;
        self
    }

    /// The client. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](LlmErrorKind::Settings), naming every setting that is wrong. A wrong
    /// base URL is quoted, unless it may hold credentials or be the key in the wrong place; no
    /// other value is shown.
    pub fn build(self) -> Result<C, LlmError> {
        let protocol = self.protocol;
        let mut problems = Vec::new();
        let secrets = self.secrets();
        let base_url = self
            .base_url
            .check(protocol, &secrets)
            .map_err(|problem| problems.push(problem))
            .ok();

        if self.model.trim().is_empty() {
            problems.push("the model is empty; expected the server's name of a model".to_owned());
        }

        let headers = self.header_map(&mut problems);
        for name in protocol
            .reserved
            .iter()
            .filter(|name| self.extra.contains_key(**name))
        {
            problems.push(format!(
                "the extra field {name:?} is the client's own; expected another name"
            ));
        }

        for (name, timeout) in [
            ("timeout", self.timeout),
            ("connect timeout", self.connect_timeout),
        ] {
            if timeout.is_zero() {
                problems.push(format!("the {name} is zero; expected a longer time"));
            }
        }

        if self.max_response_bytes == 0 {
            problems.push("the largest answer has 0 bytes; expected more".to_owned());
        }

        problems.extend(self.problems);
        let Some(base_url) = base_url.filter(|_| problems.is_empty()) else {
            return Err(wrong(problems.join("; ")));
        };

        let mut http = reqwest::Client::builder()
            .default_headers(headers)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(self.timeout)
            .connect_timeout(self.connect_timeout);

        if is_loopback(&base_url) {
            http = http.no_proxy();
        }

        let http = tls::of(http, &base_url)?.build().map_err(|error| {
            wrong("the HTTP client cannot be built".to_owned()).with_source(error)
        })?;

        let mut endpoint = base_url.clone();
        let path = base_url.path().trim_end_matches('/');
        endpoint.set_path(&protocol.path_after(path));
        let given = self.base_url.as_given();
        let address = format!("POST {}", secrets.setting(&protocol.path_after(given)));

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

    fn secrets(&self) -> Secrets {
        let long = |value: &&SecretString| value.expose_secret().len() >= SHORTEST_SECRET;
        let headers = self.headers.iter().map(|(_, value)| value).filter(long);
        Secrets::new(self.api_key.iter().chain(headers).cloned())
    }

    fn header_map(&self, problems: &mut Vec<String>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let agent = concat!("cogwork-llm/", env!("CARGO_PKG_VERSION"));

        headers.insert(header::USER_AGENT, HeaderValue::from_static(agent));
        for (name, value) in self.protocol.headers {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }

        if let Some(key) = &self.api_key {
            let visible = !key.expose_secret().is_empty()
                && key.expose_secret().bytes().all(|b| b.is_ascii_graphic());
            let (name, before) = self.protocol.key;
            match HeaderValue::from_str(&format!("{before}{}", key.expose_secret())) {
                Ok(mut value) if visible => {
                    value.set_sensitive(true);
                    headers.insert(HeaderName::from_static(name), value);
                }
                _ => problems.push(
                    "the API key is empty or holds a space, a line end or another character that a key cannot hold; \
                     expected visible ASCII"
                        .to_owned(),
                ),
            }
        }

        for (place, (name, value)) in self.headers.iter().enumerate() {
            let place = place + 1;
            match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) if FRAMING.contains(&name) => {
                    problems.push(format!(
                        "the header {name} is the client's own; expected another name"
                    ));
                }
                Ok(name) => match HeaderValue::from_str(value.expose_secret()) {
                    Ok(mut value) => {
                        value.set_sensitive(true);
                        headers.insert(name, value);
                    }
                    Err(_) => problems.push(format!(
                        "the value of the header {name} is not visible ASCII"
                    )),
                },
                Err(_) => {
                    problems.push(format!("header {place} has a name that no header can have"))
                }
            }
        }

        headers
    }
}

impl<C> fmt::Debug for HttpClientBuilder<C> {
    /// Shows the model alone: an unchecked base URL may hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It may be the key in the wrong place.
        let model = self.secrets().setting(&self.model);
        let name = format!("{}Builder", self.protocol.client);
        f.debug_struct(&name)
            .field("model", &model)
            .finish_non_exhaustive()
    }
}

pub(super) fn wrong(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::Settings, message)
}

/// An environment variable; an empty one counts as unset.
pub(super) fn variable(name: &str) -> Result<Option<String>, LlmError> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => {
            Err(wrong(format!("{name} is not UTF-8; expected text")))
        }
    }
}
