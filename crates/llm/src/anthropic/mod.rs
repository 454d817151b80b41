//! The client for Anthropic's Messages API: settings, encoding requests, and decoding replies,
//! complete or streamed. Everything else is in `http`.

use crate::LlmError;
use crate::http::{Chat, Connection, Framing, HttpClientBuilder, Protocol, client, from_env};

mod body;
mod pieces;
mod reply;
mod turns;

static ANTHROPIC: Protocol = Protocol {
    client: "AnthropicClient",
    prefix: "/v1",
    endpoint: "/messages",
    example: "https://api.anthropic.com",
    hint: "",
    reserved: &["model", "messages", "system", "stream"],
    key: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
};

static CHAT: Chat = Chat {
    framing: Framing::Events,
    encode: body::encode,
    decode: reply::decode,
    reader: || Box::new(pieces::Pieces::default()),
};

/// A client for [Anthropic's Messages API](https://platform.claude.com/docs/en/api/messages) and
/// compatible servers.
///
/// System messages at the beginning of a conversation are sent in `system`, joined by an empty
/// line. The API doesn't accept later ones, so they are sent with the role `user`. The API requires
/// a token limit: 4,096 unless the request or an [extra field](AnthropicClientBuilder::with_extra)
/// sets `max_tokens`. It doesn't support seeds, so the seed of a request isn't sent.
///
/// Tool results are sent in one user message, before the text of the user. Images, including those
/// in tool results, are sent as data or as URLs; PDF is the only supported type of file. The API
/// accepts earlier thinking only with a signature, which a [`Message`](crate::Message) cannot
/// store, so turn extended thinking off when using tools.
///
/// A streamed reply is complete only at `message_stop`. The text is the concatenation of all text
/// blocks, and the reasoning that of all thinking blocks. The number of prompt tokens includes
/// those written to and read from the server's cache. The API key is sent in the `x-api-key`
/// header. Everything else is as documented for [`OpenAiClient`](crate::OpenAiClient): lenient
/// decoding, errors, earlier calls, redaction, proxies and certificates.
///
/// ```
/// use cogwork_llm::{AnthropicClient, ChatRequest, LlmClient, LlmError, Message};
///
/// async fn greet(key: String) -> Result<String, LlmError> {
///     let client = AnthropicClient::builder("https://api.anthropic.com", "claude-sonnet-4-5").with_api_key(key).build()?;
///     let request = ChatRequest::new([Message::system("Be brief."), Message::user("Hello!")]);
///     Ok(client.complete(request).await?.into_text())
/// }
/// ```
pub struct AnthropicClient(Connection);

/// The settings of an [`AnthropicClient`].
pub type AnthropicClientBuilder = HttpClientBuilder<AnthropicClient>;

impl AnthropicClient {
    /// Creates a builder for a client.
    ///
    /// `base_url` is the part of the URL before `/v1/messages`, such as
    /// `https://api.anthropic.com`, with or without `/v1`. `model` is the name of the model on the
    /// server.
    pub fn builder(
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> AnthropicClientBuilder {
        AnthropicClientBuilder::new(&ANTHROPIC, Self, base_url.into(), model.into())
    }

    /// Creates a client with the settings in the environment. See
    /// [`AnthropicClientBuilder::from_env`] for the variables.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Settings`](crate::LlmErrorKind::Settings) that names the missing
    /// or invalid variable.
    pub fn from_env() -> Result<Self, LlmError> {
        AnthropicClientBuilder::from_env()?.build()
    }
}

impl HttpClientBuilder<AnthropicClient> {
    /// Reads the settings from the environment. An empty variable counts as unset.
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
    /// or non-UTF-8 variable.
    pub fn from_env() -> Result<Self, LlmError> {
        let variables = ["ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_API_KEY"];
        from_env(&ANTHROPIC, AnthropicClient, variables)
    }
}

client!(AnthropicClient, CHAT, [Streaming, Tools, JsonSchema]);
