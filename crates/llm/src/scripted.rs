use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind};

/// A client for tests: gives its replies in order, and keeps the requests it saw.
///
/// A clone shares script and requests, so a test hands one to the code under test and looks at
/// the other.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, LlmErrorKind, Message, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let script = ScriptedClient::new(["Hi.", "Bye."]).then(LlmError::new(LlmErrorKind::Server, "on fire"));
/// let client: Box<dyn LlmClient> = Box::new(script.clone());
///
/// let hello = ChatRequest::new([Message::user("Hello")]);
/// assert_eq!(client.complete(hello.clone()).await.unwrap().text(), "Hi.");
/// assert_eq!(client.complete(hello.clone()).await.unwrap().text(), "Bye.");
/// assert_eq!(client.complete(hello.clone()).await.unwrap_err().kind(), LlmErrorKind::Server);
/// assert_eq!(script.requests(), [hello.clone(), hello.clone(), hello]);
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ScriptedClient {
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<ScriptedReply>,
    length: usize,
    requests: Vec<ChatRequest>,
}

impl ScriptedClient {
    /// A client that gives these replies, in order.
    pub fn new<R: Into<ScriptedReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        replies.into_iter().fold(Self::default(), Self::then)
    }

    /// Adds a reply at the end of the script: a text, a [`ChatResponse`], an [`LlmError`], or a
    /// [`ScriptedReply`].
    #[must_use]
    pub fn then(self, reply: impl Into<ScriptedReply>) -> Self {
        let mut script = self.script();
        script.replies.push_back(reply.into());
        script.length += 1;
        drop(script);
        self
    }

    /// The requests seen so far, oldest first; those that got no reply too.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script().requests.clone()
    }

    /// A panic elsewhere cannot leave the script half changed, so a poisoned lock is still good.
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl LlmClient for ScriptedClient {
    /// # Errors
    ///
    /// The scripted ones, and one of kind [`Other`](LlmErrorKind::Other) once the script is at
    /// its end.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let reply = {
            let mut script = self.script();
            script.requests.push(request);
            let (seen, length) = (script.requests.len(), script.length);
            script.replies.pop_front().ok_or_else(|| {
                let message = format!("the script has no reply to request {seen}: it had {length} in all");
                LlmError::new(LlmErrorKind::Other, message)
            })?
        };
        if !reply.after.is_zero() {
            tokio::time::sleep(reply.after).await;
        }
        reply.outcome
    }
}

/// One reply of a [`ScriptedClient`]: what comes, and after how long.
///
/// ```
/// use std::time::Duration;
/// use cogwork_llm::{ScriptedClient, ScriptedReply};
///
/// let slow = ScriptedClient::default().then(ScriptedReply::from("At last.").after(Duration::from_secs(90)));
/// ```
#[derive(Debug)]
pub struct ScriptedReply {
    outcome: Result<ChatResponse, LlmError>,
    after: Duration,
}

impl ScriptedReply {
    /// Lets the reply come after this much of tokio's time. Unset: at once.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }
}

impl From<Result<ChatResponse, LlmError>> for ScriptedReply {
    fn from(outcome: Result<ChatResponse, LlmError>) -> Self {
        Self { outcome, after: Duration::ZERO }
    }
}

impl From<ChatResponse> for ScriptedReply {
    fn from(response: ChatResponse) -> Self {
        Ok(response).into()
    }
}

impl From<LlmError> for ScriptedReply {
    fn from(error: LlmError) -> Self {
        Err(error).into()
    }
}

impl From<String> for ScriptedReply {
    fn from(text: String) -> Self {
        ChatResponse::new(text).into()
    }
}

impl From<&str> for ScriptedReply {
    fn from(text: &str) -> Self {
        ChatResponse::new(text).into()
    }
}
