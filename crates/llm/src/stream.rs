use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::stream::{self, BoxStream, Stream};

use crate::{ChatResponse, LlmError, LlmErrorKind, ToolCall};

/// A piece of a reply as it grows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More of the reply's text.
    Text(String),
    /// More of the reasoning that goes before the reply, from backends that show it.
    Reasoning(String),
    /// A call of a tool that the model asks for, whole.
    ToolCall(ToolCall),
    /// The last piece: the whole response, with the texts and calls that came before it.
    End(ChatResponse),
}

impl Delta {
    /// How many bytes of the reply it adds.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning(text) => text.len(),
            Self::ToolCall(call) => call.bytes(),
            Self::End(_) => 0,
        }
    }
}

/// A reply that comes piece by piece.
///
/// It ends in one of two ways: with [`Delta::End`], or with an error, which then carries
/// [the text so far](LlmError::text_so_far). A backend that just stops makes an error of kind
/// [`InterruptedStream`](LlmErrorKind::InterruptedStream), so that half a reply is never taken
/// for a whole one. After the end there is nothing more. Dropping a stream gives up the call.
///
/// It is a [`Stream`] too, for programs that have combinators at hand.
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
    /// Gone once the reply has ended, and with it the connection and all that it held.
    deltas: Option<BoxStream<'static, Result<Delta, LlmError>>>,
    /// A delta that was awaited to know that the reply has begun, and is still to be given.
    first: Option<Delta>,
    text: String,
    reasoning: String,
    tool_calls: Vec<ToolCall>,
}

impl ReplyStream {
    /// A reply of these deltas. The last is a [`Delta::End`] with all that is known but the texts and the
    /// calls, which are taken from the deltas before it; or an error. What comes after is not read.
    pub fn new(deltas: impl Stream<Item = Result<Delta, LlmError>> + Send + 'static) -> Self {
        let deltas: BoxStream<'static, _> = Box::pin(deltas);
        let text = String::new();
        let reasoning = String::new();
        Self {
            deltas: Some(deltas),
            first: None,
            text,
            reasoning,
            tool_calls: Vec::new(),
        }
    }

    /// The next piece; nothing once the reply has ended. Dropping the future loses no piece.
    pub async fn next(&mut self) -> Option<Result<Delta, LlmError>> {
        poll_fn(|context| self.poll_delta(context)).await
    }

    /// Waits for the first piece and keeps it. A client that would rather call again, or call
    /// another server, can do so until then: nobody has seen anything of the reply.
    ///
    /// # Errors
    ///
    /// The one that came instead of a first piece.
    pub async fn started(mut self) -> Result<Self, LlmError> {
        // The pieces already given cannot be taken back, so a stream in use is a started one.
        let unread =
            self.text.is_empty() && self.reasoning.is_empty() && self.tool_calls.is_empty();
        if unread && self.first.is_none() && self.deltas.is_some() {
            self.first = self.next().await.transpose()?;
        }

        Ok(self)
    }

    /// The whole response, equal to what the same call without a stream would have given.
    ///
    /// # Errors
    ///
    /// Those of the call, with [the text so far](LlmError::text_so_far).
    pub async fn collect(mut self) -> Result<ChatResponse, LlmError> {
        while let Some(delta) = self.next().await {
            if let Delta::End(response) = delta? {
                return Ok(response);
            }
        }

        Err(LlmError::new(
            LlmErrorKind::Other,
            "the stream had been read to its end already",
        ))
    }

    /// Shows every piece, or the error at the end, to `look` before it is given on.
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
        let delta = delta.unwrap_or_else(|| {
            let message = "the reply broke off: its stream ended without the mark of an end";
            Err(LlmError::new(LlmErrorKind::InterruptedStream, message))
        });
        Poll::Ready(Some(match delta {
            Ok(Delta::End(response)) => {
                self.deltas = None;
                let text = std::mem::take(&mut self.text);
                let reasoning = std::mem::take(&mut self.reasoning);
                let calls = std::mem::take(&mut self.tool_calls);

                Ok(Delta::End(
                    response.with_texts(text, reasoning).with_tool_calls(calls),
                ))
            }
            Ok(delta) => {
                match &delta {
                    Delta::Text(text) => self.text.push_str(text),
                    Delta::Reasoning(text) => self.reasoning.push_str(text),
                    Delta::ToolCall(call) => self.tool_calls.push(call.clone()),
                    Delta::End(_) => {}
                }

                Ok(delta)
            }
            Err(error) => {
                self.deltas = None;
                let text = std::mem::take(&mut self.text);

                // A client further in may know of text that it has not handed out.
                Err(if error.text_so_far().is_some() {
                    error
                } else {
                    error.with_text_so_far(text)
                })
            }
        }))
    }
}

impl Stream for ReplyStream {
    type Item = Result<Delta, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_delta(context)
    }
}

impl From<ChatResponse> for ReplyStream {
    /// The reply as one piece, after one of its reasoning if it has any.
    fn from(response: ChatResponse) -> Self {
        Self::new(stream::iter(response.into_deltas().map(Ok)))
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
