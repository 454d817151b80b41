//! The client of Anthropic's messages API: its settings, the body that is sent, the reading of a
//! reply whole and in pieces. The rest is in `http`.

use crate::LlmError;
use crate::http::{Connection, Framing, HttpClientBuilder, Protocol, client, from_env};

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
    framing: Framing::Events,
    encode: body::encode,
    decode: reply::decode,
    reader: || Box::new(pieces::Pieces::default()),
};

/// A client of [Anthropic's messages API](https://platform.claude.com/docs/en/api/messages), and of
/// servers that speak it.
///
/// The system messages at the beginning of a conversation go into `system`, joined by an empty line;
/// later ones are sent in the role of the user, as the API has no other place for them. The API
/// wants a limit of tokens: 4,096 where neither the request nor an
/// [extra field](AnthropicClientBuilder::with_extra) sets `max_tokens`. It knows no seed, and none is
/// sent.
///
/// What tools gave goes into one message of the user, before what the user says next. Images go as data or
/// as addresses, and so do those in the result of a tool; of files, PDF alone. The API takes back thinking
/// only with a signature, which a [`Message`](crate::Message) has no place for: with tools, leave extended
/// thinking off.
///
/// A streamed reply is whole at `message_stop`, and nowhere else. Text is the sum of the reply's text
/// blocks, reasoning that of its thinking blocks. Tokens read include those written to and read from
/// the server's cache. Everything else is as with
/// [`OpenAiClient`](crate::OpenAiClient): what is accepted, how failures are told, what is sent of
/// earlier calls, where the key goes (here into the `x-api-key` header), proxies and certificates.
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
    /// Begins the settings of a client.
    ///
    /// `base_url` is what goes before `/v1/messages`, as in `https://api.anthropic.com`; one that
    /// has the `/v1` already is as good. `model` is the server's name of the model.
    pub fn builder(
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> AnthropicClientBuilder {
        AnthropicClientBuilder::new(&ANTHROPIC, Self, base_url.into(), model.into())
    }

    /// A client with the settings that the environment names. See
    /// [`AnthropicClientBuilder::from_env`] for the variables.
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](crate::LlmErrorKind::Settings), naming the variable that is missing
    /// or wrong.
    pub fn from_env() -> Result<Self, LlmError> {
        AnthropicClientBuilder::from_env()?.build()
    }
}

impl HttpClientBuilder<AnthropicClient> {
    /// Settings from the environment. An empty variable counts as unset.
    ///
    /// | variable | what | when unset |
    /// |---|---|---|
    /// | `ANTHROPIC_BASE_URL` | what goes before `/v1/messages` | `https://api.anthropic.com` |
    /// | `ANTHROPIC_MODEL` | the server's name of the model | an error |
    /// | `ANTHROPIC_API_KEY` | the key | an error if `ANTHROPIC_BASE_URL` is unset too, else no key |
    ///
    /// # Errors
    ///
    /// Of kind [`Settings`](crate::LlmErrorKind::Settings), naming the variable that is missing or
    /// not text.
    pub fn from_env() -> Result<Self, LlmError> {
        let variables = ["ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_API_KEY"];
        from_env(&ANTHROPIC, AnthropicClient, variables)
    }
}

client!(AnthropicClient, [Streaming, Tools, JsonSchema]);
