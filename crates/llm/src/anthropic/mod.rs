//! The client for Anthropic's Messages API: settings here, requests in `body`, replies in `reply`.

use crate::LlmError;
use crate::http::{ChatConnection, Connection, HttpClientBuilder, Protocol, client};
use crate::wire::{Api, CacheTime, Framing, PROVIDER_DATA, Refusable, STRICT};

mod body;
mod reply;

const ENDPOINT: &str = "/messages";

static ANTHROPIC: Protocol = Protocol {
    client: "AnthropicClient",
    prefix: "/v1",
    example: "https://api.anthropic.com",
    hint: "",
    reserved: &["model", "messages", "system", "stream"],
    key: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
};

static MESSAGES: Api = Api {
    endpoint: ENDPOINT,
    framing: Framing::Events,
    encode: body::encode,
    decode: reply::decode,
    assembly: || Box::new(reply::Pieces::default()),
    refusable: &[
        Refusable::omit("temperature"),
        Refusable::omit("top_p"),
        Refusable::omit("top_k"),
        Refusable::omit("stop_sequences"),
        Refusable::omit("cache_control"),
        Refusable::omit(STRICT),
        Refusable::new("role 'system'", body::LATER_SYSTEM, Some("user messages")),
        Refusable {
            // What the server signed from here on is valid again.
            is_remembered: false,
            ..Refusable::new("signature", PROVIDER_DATA, None)
        },
    ],
    data_has_call_ids: true,
};

/// A client for [Anthropic's Messages API](https://platform.claude.com/docs/en/api/messages) and
/// compatible servers.
///
/// System messages at the beginning of a conversation are sent in `system`, joined by an empty
/// line. A later one keeps its rank where the API and the model accept it: after a message of the
/// user, at the end or before a message of the model. Otherwise it is sent with the role `user`. The
/// API requires a token limit, and thinking counts: 16,384 unless the request or an [extra
/// field](AnthropicClientBuilder::with_extra) sets `max_tokens`. It doesn't support seeds, so the seed
/// of a request isn't sent.
///
/// # Caching and thinking
///
/// The server caches the conversation for five minutes, so that the next request pays a tenth for
/// what it repeats, see [`without_cache`](AnthropicClientBuilder::without_cache). So that a last
/// question keeps the cache, tools are forbidden to the model only after it has called one although
/// the request says [`ToolChoice::None`](crate::ToolChoice::None); that call isn't part of the reply.
///
/// Thinking, signed by the server, is kept in the [provider data](crate::backend::ProviderData) of the message
/// and returned with it, as long as everything before it is unchanged. With an
/// [effort](crate::Effort), thinking is `adaptive`. For models that need a budget of tokens, set the
/// extra field `thinking`.
///
/// # Replies
///
/// Tool results are sent in one user message, before the text of the user. Images, including those
/// in tool results, are sent as data or as URLs; PDF is the only supported type of file.
///
/// A streamed reply is complete only at `message_stop`. The text is the concatenation of all text
/// blocks, and the reasoning that of all thinking blocks. A reply that the server pauses is continued.
/// The number of prompt tokens includes those written to and read from the server's cache. A refusal
/// is an error of kind [`ContentFilter`](crate::LlmErrorKind::ContentFilter) that names its category
/// and has the text before it.
///
/// The API key is sent in the `x-api-key` header. Everything else is as documented for
/// [`OpenAiClient`](crate::OpenAiClient): lenient decoding, refused settings, errors, earlier calls,
/// redaction, proxies and certificates.
///
/// ```
/// use cogwork_llm::{AnthropicClient, ChatRequest, LlmClient, LlmError, Message};
///
/// async fn greet(key: String) -> Result<String, LlmError> {
///     let client = AnthropicClient::builder("https://api.anthropic.com", "claude-sonnet-5-5").with_api_key(key).build()?;
///     let request = ChatRequest::new([Message::system("Be brief."), Message::user("Hello!")]);
///     Ok(client.complete(request).await?.into_text())
/// }
/// ```
#[derive(Clone)]
pub struct AnthropicClient(ChatConnection);

/// The settings of an [`AnthropicClient`].
pub type AnthropicClientBuilder = HttpClientBuilder<AnthropicClient>;

impl AnthropicClient {
    fn of(connection: Connection) -> Self {
        Self(ChatConnection::new(connection, &MESSAGES, None))
    }

    /// Creates a builder for a client.
    ///
    /// `base_url` is the part of the URL before `/v1/messages`, such as
    /// `https://api.anthropic.com`, with or without `/v1`. `model` is the name of the model on the
    /// server.
    pub fn builder(
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> AnthropicClientBuilder {
        let builder =
            AnthropicClientBuilder::new(&ANTHROPIC, Self::of, base_url.into(), model.into());
        builder.with_cache(Some(CacheTime::FiveMinutes))
    }

    /// Creates a client with the settings in the environment. An empty variable counts as unset.
    ///
    /// | variable | content | when unset |
    /// |---|---|---|
    /// | `ANTHROPIC_BASE_URL` | the URL before `/v1/messages` | `https://api.anthropic.com` |
    /// | `ANTHROPIC_MODEL` | the name of the model on the server | an error |
    /// | `ANTHROPIC_API_KEY` | the API key | an error if `ANTHROPIC_BASE_URL` is also unset, otherwise no key |
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](crate::LlmErrorKind::Settings) that names the missing
    /// or invalid variable.
    pub fn from_env() -> Result<Self, LlmError> {
        let variables = ["ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_API_KEY"];
        let builder = AnthropicClientBuilder::in_environment(&ANTHROPIC, Self::of, variables)?;
        builder.with_cache(Some(CacheTime::FiveMinutes)).build()
    }
}

impl HttpClientBuilder<AnthropicClient> {
    fn with_cache(mut self, time: Option<CacheTime>) -> Self {
        self.options.cache = time;
        self
    }

    /// Caches nothing on the server. By default, the server keeps each conversation for five minutes.
    /// Writing to the cache costs 1.25 times the price of other tokens, reading at most a tenth.
    #[must_use]
    pub fn without_cache(self) -> Self {
        self.with_cache(None)
    }

    /// Caches conversations for an hour, for tools and people that take longer than five minutes.
    /// Writing to the cache then costs twice the price of other tokens.
    #[must_use]
    pub fn with_cache_for_an_hour(self) -> Self {
        self.with_cache(Some(CacheTime::Hour))
    }
}

client!(AnthropicClient, [Streaming, Tools, JsonSchema]);
