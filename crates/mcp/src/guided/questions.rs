//! The questions of a run that have no reply yet, and the model and the tools of the host that ask
//! them.

use std::collections::{HashSet, VecDeque};
use std::hash::Hasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Message, Role, ToolDefinition};
use cogwork_tools::{Tool, ToolError};
use serde_json::Value;
use siphasher::sip::SipHasher13;
use tokio::sync::oneshot;

use super::entry::Reply;

/// The questions of a run. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenQuestions(Arc<Mutex<Questions>>);

#[derive(Debug, Default)]
struct Questions {
    /// The number of questions so far.
    count: u64,
    open: VecDeque<(Question, oneshot::Sender<Reply>)>,
    /// The messages that the host has read.
    read: HashSet<Message>,
}

/// A question that the host has to answer.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// The position of the question, and a hash of its text, which is the same in every version of
    /// this program.
    pub(super) id: String,
    pub(super) asked: Asked,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// The next message of a conversation, of which the host has read or written the first messages
    /// before.
    Model {
        messages: Vec<Message>,
        known: usize,
    },
    /// The output of a tool.
    Tool { name: String, input: Value },
}

impl OpenQuestions {
    fn ask(&self, asked: Asked) -> oneshot::Receiver<Reply> {
        let mut questions = self.locked();
        questions.count = questions.count.saturating_add(1);
        let number = questions.count;

        // The hash tells a question that changed with the program from the one that was answered.
        let id = format!("q{number}-{:06x}", asked.hash());
        let (sender, reply) = oneshot::channel();
        questions.open.push_back((Question { id, asked }, sender));
        reply
    }

    /// Returns the first question without a reply.
    pub(super) fn first(&self) -> Option<Question> {
        let mut questions = self.locked();
        // A run that no longer waits has withdrawn its question.
        questions.open.retain(|(_, sender)| !sender.is_closed());
        let (question, _) = questions.open.front()?;
        Some(question.clone())
    }

    /// Gives a reply to the first question.
    pub(super) fn reply(&self, reply: Reply) {
        let first = self.locked().open.pop_front();
        if let Some((_, sender)) = first {
            // Fails if the run no longer waits for it.
            let _ = sender.send(reply);
        }
    }

    /// A panic can't leave the questions half changed, so a poisoned lock can still be used.
    fn locked(&self) -> MutexGuard<'_, Questions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Questions {
    /// Returns the number of messages at the beginning of a conversation that the host has read or
    /// written, and notes that it reads the others. The last message is always new.
    fn known(&mut self, messages: &[Message]) -> usize {
        // Replies are those of the host itself.
        let is_known =
            |message: &&Message| message.role() == Role::Assistant || self.read.contains(*message);
        let known = messages.iter().take_while(is_known).count();

        self.read.extend(messages.iter().cloned());
        // A question without any message would have nothing to show.
        known.min(messages.len().saturating_sub(1))
    }
}

impl Asked {
    fn hash(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        let mut add = |text: &str| {
            hasher.write(text.as_bytes());
            // Separates texts.
            hasher.write_u8(0xff);
        };
        match self {
            Self::Model { messages, .. } => {
                for message in messages {
                    add(message.role().as_str());
                    add(message.text());
                }
            }
            Self::Tool { name, input } => {
                add(name);
                add(&input.to_string());
            }
        }
        // Short, because models have to copy it.
        hasher.finish() & 0x00ff_ffff
    }
}

/// Waits for a reply.
async fn waited(reply: oneshot::Receiver<Reply>) -> Reply {
    match reply.await {
        Ok(reply) => reply,
        // The questions live as long as the run.
        Err(_) => std::future::pending().await,
    }
}

/// The model of the host. A call is a question, and waits for its reply.
///
/// It has no capabilities: nothing enforces the form of a reply. So replies are requested as lines
/// or as YAML, which need no escapes in the argument of a tool, and JSON is accepted as well.
pub(super) struct HostClient(pub(super) OpenQuestions);

#[async_trait]
impl LlmClient for HostClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let messages: Vec<Message> = request.messages().iter().cloned().collect();
        let known = self.0.locked().known(&messages);
        let reply = self.0.ask(Asked::Model { messages, known });
        Ok(ChatResponse::new(waited(reply).await.reply))
    }
}

/// A tool of the host. A call is a question, and waits for the output.
pub(super) struct HostTool {
    pub(super) questions: OpenQuestions,
    pub(super) definition: ToolDefinition,
}

#[async_trait]
impl Tool for HostTool {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        let name = self.definition.name().to_owned();
        let reply = waited(self.questions.ask(Asked::Tool { name, input })).await;
        match reply.failed {
            true => Err(ToolError::failed(reply.reply)),
            false => Ok(reply.reply),
        }
    }
}
