use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;

use futures_util::{StreamExt, stream};

use crate::backend::{Capabilities, Capability};
use crate::locked::locked;
use crate::{ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream};

/// A client for tests that returns scripted replies in order and keeps the requests.
///
/// Clones share the script and the requests, so a test can pass a clone to the code under test.
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
#[derive(Debug, Clone)]
pub struct ScriptedClient {
    script: Arc<Mutex<Script>>,
    capabilities: Capabilities,
}

impl Default for ScriptedClient {
    fn default() -> Self {
        Self {
            script: Arc::default(),
            capabilities: Capabilities::none().with(Capability::Streaming),
        }
    }
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<ScriptedReply>,
    requests: Vec<ChatRequest>,
}

impl ScriptedClient {
    /// Creates a client that returns these replies in order.
    pub fn new<R: Into<ScriptedReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        replies.into_iter().fold(Self::default(), Self::then)
    }

    /// Appends a reply to the script: a text, a [`ChatResponse`], an [`LlmError`], or a
    /// [`ScriptedReply`].
    #[must_use]
    pub fn then(self, reply: impl Into<ScriptedReply>) -> Self {
        locked(&self.script).replies.push_back(reply.into());
        self
    }

    /// Sets the capabilities of the client. The default is [`Capability::Streaming`].
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Returns the requests so far, oldest first, including those without a reply.
    pub fn requests(&self) -> Vec<ChatRequest> {
        locked(&self.script).requests.clone()
    }

    /// Stores the request, waits for the scripted delay, and returns the next reply.
    async fn next(&self, request: ChatRequest) -> Result<ScriptedReply, LlmError> {
        let reply = {
            let mut script = locked(&self.script);
            // Also without a reply, so that a test sees what was asked once too often.
            script.requests.push(request);
            let seen = script.requests.len();
            script.replies.pop_front().ok_or_else(|| {
                let message = format!("the script has no reply to request {seen}");
                LlmError::new(LlmErrorKind::Other, message)
            })?
        };

        pause(reply.after).await;
        Ok(reply)
    }
}

/// tokio rounds a sleep up to a millisecond, so a zero delay must not sleep.
async fn pause(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

#[async_trait]
impl LlmClient for ScriptedClient {
    /// # Errors
    ///
    /// Returns the scripted errors, and an error of kind [`Other`](LlmErrorKind::Other) after the
    /// end of the script.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.stream(request).await?.collect().await
    }

    /// Returns the pieces of the next reply. A reply without scripted pieces is one piece.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`complete`](Self::complete). An error after pieces is returned by the
    /// stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let reply = self.next(request).await?;
        // An error without pieces is that of the call; one after pieces is that of the stream.
        let Some(pieces) = reply.pieces else {
            return Ok(reply.outcome?.into());
        };

        let between = reply.between;
        let pieces = stream::iter(pieces).then(move |text| async move {
            pause(between).await;
            Ok(Delta::Text(text))
        });

        let end = stream::iter([reply.outcome.map(Delta::End)]);
        Ok(ReplyStream::new(pieces.chain(end)))
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}

/// A reply of a [`ScriptedClient`], with its delay.
///
/// ```
/// use std::time::Duration;
/// use cogwork_llm::{ScriptedClient, ScriptedReply};
///
/// let slow = ScriptedClient::default().then(ScriptedReply::from("At last.").after(Duration::from_secs(90)));
/// ```
#[derive(Debug)]
pub struct ScriptedReply {
    /// The pieces of the text in a stream. `None` for a single piece, or an error before the
    /// stream.
    pieces: Option<Vec<String>>,
    outcome: Result<ChatResponse, LlmError>,
    after: Duration,
    between: Duration,
}

impl ScriptedReply {
    /// Creates a reply that is streamed in these pieces. Without streaming, the reply is their
    /// concatenation.
    pub fn in_pieces<T: Into<String>>(pieces: impl IntoIterator<Item = T>) -> Self {
        let pieces: Vec<String> = pieces.into_iter().map(Into::into).collect();
        let reply = Self::from(pieces.concat());
        Self {
            pieces: Some(pieces),
            ..reply
        }
    }

    /// Ends the reply with this error after its pieces. The stream begins even if there are no
    /// pieces.
    ///
    /// ```
    /// use cogwork_llm::{ChatRequest, LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LlmError> {
    /// let reset = LlmError::new(LlmErrorKind::InterruptedStream, "connection reset");
    /// let client = ScriptedClient::new([ScriptedReply::in_pieces(["Once upon"]).but_then(reset)]);
    /// let error = client.stream(ChatRequest::default()).await?.collect().await.unwrap_err();
    /// assert_eq!(error.text_so_far(), Some("Once upon"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn but_then(mut self, error: LlmError) -> Self {
        self.outcome = Err(error);
        self
    }

    /// Sets the delay before each piece after the first, in tokio's time. The default is 0.
    #[must_use]
    pub fn every(mut self, delay: Duration) -> Self {
        self.between = delay;
        self
    }

    /// Sets the delay before the reply, in tokio's time. The default is 0.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }
}

impl From<Result<ChatResponse, LlmError>> for ScriptedReply {
    fn from(outcome: Result<ChatResponse, LlmError>) -> Self {
        Self {
            pieces: None,
            outcome,
            after: Duration::ZERO,
            between: Duration::ZERO,
        }
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
