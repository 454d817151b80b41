use std::env;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use super::OpenAiClient;
use super::base_url::{BaseUrl, ENDPOINT, OPENAI, is_loopback};
use super::body::{Extra, RESERVED};
use super::excerpt::{SHORTEST_SECRET, Secrets};
use super::exchange::Exchange;
use crate::{LlmError, LlmErrorKind};

/// These are the framing of the message itself.
const FRAMING: [HeaderName; 4] =
    [header::CONTENT_LENGTH, header::CONTENT_TYPE, header::HOST, header::TRANSFER_ENCODING];

/// The settings of an [`OpenAiClient`]. Begins with [`OpenAiClient::builder`].
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
pub struct OpenAiClientBuilder {
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

impl OpenAiClientBuilder {
    pub(super) fn new(base_url: String, model: String) -> Self {
        Self {
            base_url: BaseUrl { text: base_url, variable: None },
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

    /// Settings from the environment. An empty variable counts as unset.
    ///
    /// | variable | what | when unset |
    /// |---|---|---|
    /// | `OPENAI_BASE_URL` | what goes before `/chat/completions` | `https://api.openai.com/v1` |
    /// | `OPENAI_MODEL` | the server's name of the model | an error |
    /// | `OPENAI_API_KEY` | the key | an error if `OPENAI_BASE_URL` is unset too, else no key |
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](LlmErrorKind::Settings), naming the variable that is missing or not
    /// text.
    pub fn from_env() -> Result<Self, LlmError> {
        let model = variable("OPENAI_MODEL")?.ok_or_else(|| {
            wrong("OPENAI_MODEL is not set; expected the server's name of a model".to_owned())
        })?;
        let base_url = variable("OPENAI_BASE_URL")?;
        let api_key = variable("OPENAI_API_KEY")?;
        if base_url.is_none() && api_key.is_none() {
            let message = format!(
                "OPENAI_API_KEY is not set; expected a key for {OPENAI}, or another server in OPENAI_BASE_URL"
            );
            return Err(wrong(message));
        }
        let mut builder = Self::new(base_url.unwrap_or_else(|| OPENAI.to_owned()), model);
        builder.base_url.variable = Some("OPENAI_BASE_URL");
        Ok(match api_key {
            Some(key) => builder.api_key(key),
            None => builder,
        })
    }

    /// The key, sent as `Authorization: Bearer`: visible ASCII without spaces.
    ///
    /// # Default
    ///
    /// None; servers of one's own often need none.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(SecretString::from(key.into()));
        self
    }

    /// A header for every request, as some servers want for their key or their statistics. The
    /// value is treated as a secret, but for the shortest ones.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), SecretString::from(value.into())));
        self
    }

    /// A field for the body of every request, such as `top_k` or `reasoning_effort`. What a
    /// request sets itself goes before it. `model`, `messages` and `stream` are not taken.
    #[must_use]
    pub fn extra(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let name = name.into();
        match serde_json::to_value(value) {
            Ok(value) => {
                self.extra.insert(name, value);
            }
            Err(error) => {
                self.problems.push(format!("the extra field {name:?} does not go into JSON: {error}"))
            }
        }
        self
    }

    /// How long a call may take in all, from connecting to the reply's last byte.
    ///
    /// # Default
    ///
    /// 120 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long connecting may take, encryption included.
    ///
    /// # Default
    ///
    /// 10 s.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The largest answer that is read, in bytes. A larger one is an error of kind
    /// [`Decode`](LlmErrorKind::Decode).
    ///
    /// # Default
    ///
    /// 16 MiB.
    #[must_use]
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
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
    pub fn build(self) -> Result<OpenAiClient, LlmError> {
        let mut problems = Vec::new();
        let secrets = self.secrets();
        let base_url = self.base_url.check(&secrets).map_err(|problem| problems.push(problem)).ok();
        if self.model.trim().is_empty() {
            problems.push("the model is empty; expected the server's name of a model".to_owned());
        }
        let headers = self.header_map(&mut problems);
        for name in RESERVED.into_iter().filter(|name| self.extra.contains_key(*name)) {
            problems.push(format!("the extra field {name:?} is the client's own; expected another name"));
        }
        for (name, timeout) in [("timeout", self.timeout), ("connect timeout", self.connect_timeout)] {
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

        let tls = tls(&base_url).map_err(|error| {
            wrong("the system's certificates cannot be read; expected at least one".to_owned())
                .with_source(error)
        })?;
        let mut http = reqwest::Client::builder()
            .default_headers(headers)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(self.timeout)
            .connect_timeout(self.connect_timeout)
            .tls_backend_preconfigured(tls);
        if is_loopback(&base_url) {
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| wrong("the HTTP client cannot be built".to_owned()).with_source(error))?;

        let mut endpoint = base_url.clone();
        endpoint.set_path(&format!("{}{ENDPOINT}", base_url.path().trim_end_matches('/')));
        Ok(OpenAiClient {
            base_url: base_url.as_str().trim_end_matches('/').to_owned(),
            model: self.model,
            extra: self.extra,
            exchange: Exchange {
                http,
                address: format!("POST {}", secrets.setting(endpoint.as_str())),
                endpoint,
                timeout: self.timeout,
                connect_timeout: self.connect_timeout,
                max_response_bytes: self.max_response_bytes,
                secrets,
            },
        })
    }

    fn secrets(&self) -> Secrets {
        let long = |value: &&SecretString| value.expose_secret().len() >= SHORTEST_SECRET;
        let headers = self.headers.iter().map(|(_, value)| value).filter(long);
        Secrets::new(self.api_key.iter().chain(headers).cloned())
    }

    fn header_map(&self, problems: &mut Vec<String>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let agent = concat!("cogwork-llm/", env!("CARGO_PKG_VERSION"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(agent));
        if let Some(key) = &self.api_key {
            let visible =
                !key.expose_secret().is_empty() && key.expose_secret().bytes().all(|b| b.is_ascii_graphic());
            match HeaderValue::from_str(&format!("Bearer {}", key.expose_secret())) {
                Ok(mut value) if visible => {
                    value.set_sensitive(true);
                    headers.insert(header::AUTHORIZATION, value);
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
                    problems.push(format!("the header {name} is the client's own; expected another name"));
                }
                Ok(name) => match HeaderValue::from_str(value.expose_secret()) {
                    Ok(mut value) => {
                        value.set_sensitive(true);
                        headers.insert(name, value);
                    }
                    Err(_) => problems.push(format!("the value of the header {name} is not visible ASCII")),
                },
                Err(_) => problems.push(format!("header {place} has a name that no header can have")),
            }
        }
        headers
    }
}

impl fmt::Debug for OpenAiClientBuilder {
    /// Shows the model alone: an unchecked base URL may hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It may be the key in the wrong place.
        let model = self.secrets().setting(&self.model);
        f.debug_struct("OpenAiClientBuilder").field("model", &model).finish_non_exhaustive()
    }
}

fn wrong(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::Settings, message)
}

fn variable(name: &str) -> Result<Option<String>, LlmError> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(wrong(format!("{name} is not UTF-8; expected text"))),
    }
}

/// The provider is named here and not taken from the process, where another library may have
/// installed a different one, or none.
fn tls(base_url: &Url) -> Result<ClientConfig, rustls::Error> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions()?;
    let config = if base_url.scheme() == "https" {
        config.with_platform_verifier()?
    } else {
        // A machine without certificates can still talk to a server next to it.
        config.with_root_certificates(RootCertStore::empty())
    };
    Ok(config.with_no_client_auth())
}
