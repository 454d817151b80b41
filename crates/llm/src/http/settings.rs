use std::env;
use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Map, Value};

use super::exchange::Exchange;
use super::secrets::Secrets;
use super::{Protocol, address, invalid_settings};
use crate::LlmError;
#[cfg(doc)]
use crate::LlmErrorKind;
use crate::backend::{Capabilities, Capability};
use crate::wire::{Api, CacheTime, to_bytes};

/// The time limit for connecting, including the TLS handshake.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings that only some clients have.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// The only API to use. By default the usual one, until the server names another.
    pub(crate) api: Option<&'static Api>,
    pub(crate) cache: Option<CacheTime>,
    /// What the model doesn't support.
    pub(crate) missing: Capabilities,
}

/// A model on a server.
pub(crate) struct Connection {
    pub(crate) model: String,
    pub(crate) extra: Map<String, Value>,
    pub(super) options: Options,
    pub(super) exchange: Exchange,
}

impl Connection {
    /// Sends a body and reads the whole response: a JSON object.
    pub(crate) async fn post<T>(
        &self,
        endpoint: &str,
        body: &impl Serialize,
        decode: impl Fn(&Value) -> Result<T, LlmError>,
    ) -> Result<T, LlmError> {
        let opened = self.exchange.open(endpoint, to_bytes(body)?, false).await;
        let (response, origin) = opened.map_err(|refusal| refusal.error)?;
        let decode = |value: &Value, _: &[u8]| decode(value);
        self.exchange.read(response, &origin, decode).await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exchange = &self.exchange;

        f.debug_struct(exchange.protocol.client)
            .field("base_url", &exchange.shown_url)
            .field("model", &exchange.secrets.line(&self.model))
            .finish_non_exhaustive()
    }
}

/// Creates a client from its connection. A function pointer, because a trait would have to be
/// public along with every type in it.
pub(crate) type Connect<C> = fn(Connection) -> C;

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
    base_url: String,
    /// The environment variable that the base URL comes from, for error messages.
    base_url_in: Option<&'static str>,
    model: String,
    headers: HeaderMap,
    secrets: Vec<SecretString>,
    extra: Map<String, Value>,
    /// What is wrong with the settings so far.
    problems: Vec<String>,
    timeout: Duration,
    max_response_bytes: usize,
    pub(crate) options: Options,
}

impl<C> HttpClientBuilder<C> {
    pub(crate) fn new(
        protocol: &'static Protocol,
        client: Connect<C>,
        base_url: String,
        model: String,
    ) -> Self {
        let problem = "the model is empty; expected the name of a model on the server";
        let is_unnamed = model.trim().is_empty();
        let problems = Vec::from_iter(is_unnamed.then(|| problem.to_owned()));

        Self {
            protocol,
            client,
            base_url,
            base_url_in: None,
            model,
            headers: common_headers(protocol),
            secrets: Vec::new(),
            extra: Map::new(),
            problems,
            timeout: Duration::from_secs(600),
            max_response_bytes: 16 * 1024 * 1024,
            options: Options::default(),
        }
    }

    /// Reads the settings from the environment variables for the base URL, the model and the API
    /// key.
    pub(crate) fn in_environment(
        protocol: &'static Protocol,
        client: Connect<C>,
        [base_url_in, model_in, key_in]: [&'static str; 3],
    ) -> Result<Self, LlmError> {
        let model = variable(model_in).ok_or_else(|| {
            invalid_settings(format!(
                "{model_in} is not set; expected the name of a model on the server"
            ))
        })?;

        let base_url = variable(base_url_in);
        let api_key = variable(key_in);
        let example = protocol.example;
        // A server on this machine may need no key, but the default one does.
        if base_url.is_none() && api_key.is_none() {
            return Err(invalid_settings(format!(
                "{key_in} is not set; expected an API key for {example}, or a different server in {base_url_in}"
            )));
        }

        let base_url = base_url.unwrap_or_else(|| example.to_owned());
        let builder = Self {
            base_url_in: Some(base_url_in),
            ..Self::new(protocol, client, base_url, model)
        };
        Ok(match api_key {
            Some(key) => builder.with_api_key(key),
            None => builder,
        })
    }

    /// Sets the API key, sent as `Authorization: Bearer` or in the API's own header. It must be
    /// visible ASCII without spaces.
    ///
    /// The default is none; local servers often need none.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<String>) -> Self {
        let (name, prefix) = self.protocol.key;
        let key = key.into();
        // A key that was copied with a line break would be refused later, without a hint why.
        let is_visible = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());

        match sensitive(&format!("{prefix}{key}")).filter(|_| is_visible) {
            Some(value) => {
                self.headers.insert(name, value);
            }
            None => self.problems.push(
                "the API key is empty or contains a space, a line break or a character outside ASCII; \
                 expected visible ASCII"
                    .to_owned(),
            ),
        }
        // Also if it is invalid, since an error may quote it.
        self.secrets.push(key.into());
        self
    }

    /// Takes a capability away that the model doesn't have. Without [`Capability::Tools`], for
    /// example, the loop and ReAct describe tools in the prompt. The default are those of the protocol.
    #[must_use]
    pub fn without(mut self, capability: Capability) -> Self {
        self.options.missing = self.options.missing.with(capability);
        self
    }

    /// Adds a header to every request. Its value is treated as a secret unless it is shorter than 8
    /// bytes.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value = value.into();
        let name = HeaderName::try_from(name.into());

        match (name, sensitive(&value)) {
            (Ok(name), Some(value)) => {
                self.headers.append(name, value);
            }
            // Neither is shown, because the name may be a value in the wrong place.
            _ => self.problems.push(
                "a header is not valid; expected a name of letters, digits and dashes, \
                 and a value of visible ASCII"
                    .to_owned(),
            ),
        }
        self.secrets.push(value.into());
        self
    }

    /// Adds a field to the body of every request, such as `top_k` or `service_tier`. Fields set on
    /// the request take precedence, also within an object. Fields that the client sets, such as
    /// `model`, `messages` and `stream`, are not accepted.
    #[must_use]
    pub fn with_extra(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let name = name.into();

        match serde_json::to_value(value) {
            Ok(_) if self.protocol.reserved.contains(&name.as_str()) => self.problems.push(
                format!("the extra field {name:?} is set by the client; choose a different name"),
            ),
            Ok(value) => {
                self.extra.insert(name, value);
            }
            Err(error) => self.problems.push(format!(
                "the extra field {name:?} cannot be serialized as JSON: {error}"
            )),
        }
        self
    }

    /// Sets the timeout of a whole call, from connecting to the last byte of the reply, streamed or
    /// not. [`Timeout`](crate::layers::Timeout) has separate limits for streams.
    ///
    /// The default is 10 minutes, because models that think may take minutes.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum size of a response in bytes; for a stream, whose events have a few characters of
    /// the reply each, it is four times as much. A larger response is an error of kind
    /// [`Decode`](LlmErrorKind::Decode).
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
    /// It quotes an invalid base URL, unless the URL has an `@` or no `:`, because it may then contain
    /// credentials or be the API key in the wrong place. No other value is shown.
    pub fn build(self) -> Result<C, LlmError> {
        let mut secrets = self.secrets;
        // A query may contain a key, and servers repeat addresses.
        let url = Url::parse(&self.base_url).ok();
        let values = url.iter().flat_map(Url::query_pairs);
        let values = values.filter(|(name, _)| name != "api-version");
        secrets.extend(values.map(|(_, value)| SecretString::from(value.into_owned())));

        let secrets = Secrets::new(&secrets);
        let example = self.protocol.example;
        let checked = address::check(&self.base_url, self.base_url_in, example, &secrets);
        let problems = checked.as_ref().err().into_iter().chain(&self.problems);
        let problems: Vec<_> = problems.map(String::as_str).collect();
        let (Ok(base_url), true) = (&checked, problems.is_empty()) else {
            return Err(invalid_settings(problems.join("; ")));
        };

        let http = address::client_builder(base_url)?
            .default_headers(self.headers)
            .timeout(self.timeout)
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| {
                invalid_settings("the HTTP client cannot be built").with_source(error)
            })?;

        let shown_url = address::without_query(&self.base_url);
        let exchange = Exchange {
            protocol: self.protocol,
            http,
            shown_url: secrets.line(shown_url.trim_end_matches('/')),
            base_url: base_url.clone(),
            timeout: self.timeout,
            max_response_bytes: self.max_response_bytes,
            secrets,
        };

        Ok((self.client)(Connection {
            model: self.model,
            extra: self.extra,
            options: self.options,
            exchange,
        }))
    }
}

impl<C> fmt::Debug for HttpClientBuilder<C> {
    /// Shows no setting: any of them may be a secret in the wrong place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Builder", self.protocol.client)
    }
}

/// Returns the headers of every request to servers with this protocol.
fn common_headers(protocol: &Protocol) -> HeaderMap {
    let user_agent = concat!("cogwork-llm/", env!("CARGO_PKG_VERSION"));
    let common = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("user-agent", user_agent),
    ];

    let own = protocol.headers.iter().copied();
    let header = |(name, value)| {
        let value = HeaderValue::from_static(value);
        (HeaderName::from_static(name), value)
    };
    common.into_iter().chain(own).map(header).collect()
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    // Hides it in the `Debug` of the HTTP library.
    value.set_sensitive(true);
    Some(value)
}

/// Returns the value of an environment variable. An empty one counts as unset.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
