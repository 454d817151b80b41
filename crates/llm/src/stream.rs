use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::stream::{self, BoxStream, Stream};

use crate::{ChatResponse, LlmError, LlmErrorKind, ToolCall};

/// A piece of a streamed reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(String),
    /// More of the reasoning before the reply, from backends that return it.
    Reasoning(String),
    /// A complete tool call that the model requests.
    ToolCall(ToolCall),
    /// The end: the whole response, including the texts and calls of all pieces before it.
    End(ChatResponse),
}

impl Delta {
    /// Returns the deltas of a response, except for the text and the reasoning of these lengths, which
    /// were emitted before.
    pub(crate) fn all_of(
        response: ChatResponse,
        [text, reasoning]: [usize; 2],
    ) -> impl Iterator<Item = Self> + Send {
        // Some servers put texts only into the end of a stream.
        let late = |whole: &str, emitted| whole.get(emitted..).unwrap_or_default().to_owned();
        let reasoning = late(response.reasoning().unwrap_or_default(), reasoning);
        let text = late(response.text(), text);
        let calls = response.tool_calls().to_vec();

        [Self::Reasoning(reasoning), Self::Text(text)]
            .into_iter()
            .filter(|delta| delta.bytes() > 0)
            .chain(calls.into_iter().map(Self::ToolCall))
            .chain([Self::End(response)])
    }

    /// Returns the number of bytes that the piece adds to the reply.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning(text) => text.len(),
            Self::ToolCall(call) => call.bytes(),
            Self::End(_) => 0,
        }
    }
}

/// A streamed reply.
///
/// It ends either with [`Delta::End`], or with an error that contains [the text so
/// far](LlmError::text_so_far). If a backend stops before the end, the error is of kind
/// [`InterruptedStream`](LlmErrorKind::InterruptedStream), so a partial reply is never mistaken for
/// a complete one. Dropping a stream cancels the call.
///
/// It also implements [`Stream`] for use with combinators.
///
/// ```
/// use cogwork_llm::{ChatRequest, Delta, LlmClient, LlmError, Message, ScriptedClient, ScriptedReply};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let client = ScriptedClient::new([ScriptedReply::in_pieces(["Good ", "morning."])]);
/// let mut reply = client.stream(ChatRequest::new([Message::user("Hello")])).await?;
///
/// let mut seen = Vec::new();
/// while let Some(delta) = reply.next().await {
///     match delta? {
///         Delta::Text(text) => seen.push(text),
///         Delta::End(response) => assert_eq!(response.text(), "Good morning."),
///         _ => {}
///     }
/// }
/// assert_eq!(seen, ["Good ", "morning."]);
/// # Ok(())
/// # }
/// ```
pub struct ReplyStream {
    /// `None` once the reply has ended, so that the connection is closed.
    deltas: Option<BoxStream<'static, Result<Delta, LlmError>>>,
    /// The first delta, if [`started`](Self::started) has awaited it and it isn't returned yet.
    first: Option<Delta>,
    text: String,
    reasoning: String,
    tool_calls: Vec<ToolCall>,
}

impl ReplyStream {
    /// Creates a stream from deltas.
    ///
    /// The last item must be an error or a [`Delta::End`] with everything except the texts and
    /// calls, which are taken from the deltas before it if there are any. Items after it are not
    /// read.
    pub fn new(deltas: impl Stream<Item = Result<Delta, LlmError>> + Send + 'static) -> Self {
        Self {
            deltas: Some(Box::pin(deltas)),
            first: None,
            text: String::new(),
            reasoning: String::new(),
            tool_calls: Vec::new(),
        }
    }

    /// Returns the next piece, or `None` once the reply has ended. Dropping the future loses no
    /// piece.
    pub async fn next(&mut self) -> Option<Result<Delta, LlmError>> {
        poll_fn(|context| self.poll_delta(context)).await
    }

    /// Waits for the first piece and keeps it. Until then a wrapper can still retry the call or
    /// call another server, because no part of the reply has been passed on.
    ///
    /// # Errors
    ///
    /// Returns the error that occurred instead of a first piece.
    pub async fn started(mut self) -> Result<Self, LlmError> {
        // Each of several wrappers may wait for it. An empty piece has no part of the reply.
        while self.first.is_none() && self.deltas.is_some() {
            let first = self.next().await.transpose()?;
            let is_part = |delta: &Delta| delta.bytes() > 0 || matches!(delta, Delta::End(_));
            self.first = first.filter(is_part);
        }

        Ok(self)
    }

    /// Returns the whole response, equal to that of the same call without streaming.
    ///
    /// # Errors
    ///
    /// Returns the error of the call, with [the text so far](LlmError::text_so_far).
    pub async fn collect(mut self) -> Result<ChatResponse, LlmError> {
        while let Some(delta) = self.next().await {
            if let Delta::End(response) = delta? {
                return Ok(response);
            }
        }

        Err(LlmError::new(
            LlmErrorKind::Other,
            "the stream has already ended",
        ))
    }

    /// Calls `look` with every piece, or the error at the end, before it is returned.
    #[must_use]
    pub fn inspect(self, mut look: impl FnMut(&Result<Delta, LlmError>) + Send + 'static) -> Self {
        Self::new(futures_util::StreamExt::inspect(self, move |delta| {
            look(delta)
        }))
    }

    fn poll_delta(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Delta, LlmError>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }

        let Some(deltas) = &mut self.deltas else {
            return Poll::Ready(None);
        };

        let delta = ready!(deltas.as_mut().poll_next(context));
        // A backend that just stops has lost the rest.
        let delta = delta.unwrap_or_else(|| {
            let message = "the reply broke off: the stream ended without its end marker";
            Err(LlmError::new(LlmErrorKind::InterruptedStream, message))
        });

        Poll::Ready(Some(match delta {
            // What was passed on is the reply, if anything was, whatever the end says.
            Ok(Delta::End(response)) => Ok(Delta::End(self.end(response))),
            Ok(delta) => {
                self.collect_delta(&delta);
                Ok(delta)
            }
            Err(error) => Err(self.fail(error)),
        }))
    }

    fn collect_delta(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(text),
            Delta::Reasoning(text) => self.reasoning.push_str(text),
            Delta::ToolCall(call) => self.tool_calls.push(call.clone()),
            Delta::End(_) => {}
        }
    }

    fn end(&mut self, response: ChatResponse) -> ChatResponse {
        // Closes the connection, even if the caller keeps the stream.
        self.deltas = None;
        let reasoning = std::mem::take(&mut self.reasoning);
        // A backend may have had the whole reply at once.
        if self.text.is_empty() && reasoning.is_empty() && self.tool_calls.is_empty() {
            return response;
        }

        ChatResponse {
            text: std::mem::take(&mut self.text),
            reasoning: Some(reasoning).filter(|text| !text.is_empty()),
            tool_calls: std::mem::take(&mut self.tool_calls),
            ..response
        }
    }

    fn fail(&mut self, error: LlmError) -> LlmError {
        self.deltas = None;
        let text = std::mem::take(&mut self.text);

        // A client inside a wrapper may have text that it hasn't emitted.
        if error.text_so_far().is_some() {
            error
        } else {
            error.with_text_so_far(text)
        }
    }
}

impl Stream for ReplyStream {
    type Item = Result<Delta, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_delta(context)
    }
}

impl From<ChatResponse> for ReplyStream {
    /// Creates a stream with the reasoning, if any, and the text as one piece each.
    fn from(response: ChatResponse) -> Self {
        Self::new(stream::iter(Delta::all_of(response, [0, 0]).map(Ok)))
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream")
            .field("text", &self.text)
            .field("ended", &self.deltas.is_none())
            .finish_non_exhaustive()
    }
}
