//! The clients against imitations of the hosted and local servers that they are for.
#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../servers/mod.rs"]
mod imitated;

mod claude;
mod openai;
mod round_trips;
mod settings;

use cogwork_llm::{
    AnthropicClient, ChatRequest, ChatResponse, LlmClient, LlmError, Message, OllamaClient,
    OpenAiApi, OpenAiClient, ToolDefinition,
};
use imitated::chat::{self, Chat, Host};
use imitated::claude::Claude;
use imitated::ollama::Ollama;
use imitated::openai::OpenAi;
use imitated::{Dialect, Reply, Server};
use serde_json::json;

const MODEL: &str = "model-1";

/// A kind of server.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    server: fn() -> Box<dyn Dialect>,
    client: fn(&str, &str) -> Box<dyn LlmClient>,
}

fn host(host: Host) -> Box<dyn Dialect> {
    Box::new(Chat::new(host))
}

fn chat_client(url: &str, model: &str) -> Box<dyn LlmClient> {
    let client = OpenAiClient::builder(format!("{url}/v1"), model);
    Box::new(client.build().unwrap())
}

fn responses_client(url: &str, model: &str) -> Box<dyn LlmClient> {
    let client = OpenAiClient::builder(format!("{url}/v1"), model);
    Box::new(client.with_api(OpenAiApi::Responses).build().unwrap())
}

fn claude_client(url: &str, model: &str) -> Box<dyn LlmClient> {
    Box::new(AnthropicClient::builder(url, model).build().unwrap())
}

fn ollama_client(url: &str, model: &str) -> Box<dyn LlmClient> {
    Box::new(OllamaClient::builder(url, model).build().unwrap())
}

const ROWS: [Row; 13] = [
    Row {
        name: "Claude",
        server: || Box::new(Claude::default()),
        client: claude_client,
    },
    Row {
        name: "Claude of 2025",
        server: || Box::new(Claude::older()),
        client: claude_client,
    },
    Row {
        name: "OpenAI Responses",
        server: || Box::new(OpenAi::gpt()),
        client: responses_client,
    },
    Row {
        name: "OpenAI, which names Responses",
        server: || Box::new(OpenAi::gpt()),
        client: chat_client,
    },
    Row {
        name: "xAI",
        server: || Box::new(OpenAi::xai()),
        client: responses_client,
    },
    Row {
        name: "Gemini",
        server: || host(chat::GEMINI),
        client: chat_client,
    },
    Row {
        name: "DeepSeek",
        server: || host(chat::DEEPSEEK),
        client: chat_client,
    },
    Row {
        name: "Kimi, GLM, llama.cpp",
        server: || host(chat::KIMI),
        client: chat_client,
    },
    Row {
        name: "Groq, vLLM",
        server: || host(chat::GROQ),
        client: chat_client,
    },
    Row {
        name: "OpenRouter",
        server: || host(chat::OPENROUTER),
        client: chat_client,
    },
    Row {
        name: "MiniMax",
        server: || host(chat::MINIMAX),
        client: chat_client,
    },
    Row {
        name: "Mistral",
        server: || host(chat::MISTRAL),
        client: chat_client,
    },
    Row {
        name: "Ollama",
        server: || Box::new(Ollama::default()),
        client: ollama_client,
    },
];

impl Row {
    /// Starts a server of this kind whose model gives these replies, and then says "Done.".
    async fn start(&self, replies: Vec<Reply>) -> Server {
        let mut replies = replies.into_iter();
        let next = move |_: &_| replies.next().unwrap_or_else(|| Reply::says("Done."));
        Server::with_model((self.server)(), next).await
    }
}

/// Two tools: servers can guarantee the arguments of the first, but not of the second.
fn tools() -> Vec<ToolDefinition> {
    let city = json!({
        "type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"], "additionalProperties": false,
    });
    let note = json!({
        "type": "object", "properties": {"text": {"type": "string", "maxLength": 80}},
    });

    vec![
        ToolDefinition::new("weather", "The weather in a city.", city.to_string()),
        ToolDefinition::new("note", "Keeps a note.", note.to_string()),
    ]
}

/// A question with instructions and tools.
fn question() -> ChatRequest {
    let messages = [Message::system("You plan."), Message::user("Umbrella?")];
    ChatRequest::new(messages).with_tools(tools())
}

async fn ask(
    client: &dyn LlmClient,
    request: &ChatRequest,
    is_streamed: bool,
) -> Result<ChatResponse, LlmError> {
    let reply = match is_streamed {
        true => client.stream(request.clone()).await?.collect().await?,
        false => client.complete(request.clone()).await?,
    };

    Ok(reply.separate_thinking())
}

/// Asks and adds the reply and the results of its calls to the conversation.
async fn advance(
    client: &dyn LlmClient,
    request: &mut ChatRequest,
    is_streamed: bool,
) -> ChatResponse {
    let reply = ask(client, request, is_streamed)
        .await
        .unwrap_or_else(|error| panic!("{error}: {request:?}"));
    request.push(reply.message());
    for call in reply.tool_calls() {
        request.push(Message::tool_result(
            call,
            format!("Rain, says {}.", call.id()),
        ));
    }

    reply
}
