use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{ChatRequest, ChatResponse, LlmError, ReplyStream};

/// A language model: takes a conversation and returns the next message.
///
/// Implement it for a custom backend, or wrap a client to add retries or other behavior around a
/// call. The trait is object-safe, so programs can hold an `Arc<dyn LlmClient>`. Requests are
/// passed by value, so that a mock can keep them without lifetimes; cloning one copies no text.
///
/// A call may be dropped at any `await`, for example by a timeout or when a run is cancelled. An
/// implementation must not leave partial state behind that affects the next call.
///
/// # Implementations need `#[async_trait]`
///
/// The trait is declared with the attribute [`async_trait`](macro@crate::async_trait), and each
/// implementation needs the attribute, too. Without it, the compiler reports error E0195:
/// "lifetime parameters or bounds on method `complete` do not match the trait declaration".
///
/// ```
/// use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};
///
/// struct MyModel;
///
/// #[async_trait] // without this line: error E0195
/// impl LlmClient for MyModel {
///     async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
///         Ok(ChatResponse::new("four"))
///     }
/// }
/// ```
#[async_trait]
pub trait LlmClient: Send + Sync {
    /// Returns the model's next message in the conversation of `request`.
    ///
    /// # Errors
    ///
    /// Returns an [`LlmError`]. Its [kind](LlmError::kind) identifies what failed, and
    /// [`is_retryable`](LlmError::is_retryable) returns whether a retry may succeed.
    async fn complete(
        &self, // Is `#[async_trait]` missing above the `impl`? It changes this signature.
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError>;

    /// Returns the same reply as a stream.
    ///
    /// The default implementation calls [`complete`](Self::complete) and emits its response as one
    /// piece.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`complete`](Self::complete) if the call fails before the reply
    /// begins. Later errors are returned [by the stream](ReplyStream).
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        Ok(self.complete(request).await?.into())
    }

    /// Returns what this client is known to support. A wrapper returns the capabilities of the
    /// client inside.
    ///
    /// The default implementation returns no capabilities.
    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }
}

macro_rules! through_a_pointer {
    ($($pointer:ty),*) => {$(
        #[async_trait]
        impl<C: LlmClient + ?Sized> LlmClient for $pointer {
            async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
                (**self).complete(request).await
            }

            async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
                (**self).stream(request).await
            }

            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }
        }
    )*};
}

through_a_pointer!(&C, Arc<C>, Box<C>);

/// A feature that a backend may support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Replies are emitted in pieces rather than all at once.
    Streaming,
    /// The model may call tools.
    Tools,
    /// Replies can be constrained to JSON of any shape.
    JsonMode,
    /// Replies can be constrained to a JSON Schema.
    JsonSchema,
}

const ALL: [Capability; 4] = [
    Capability::Streaming,
    Capability::Tools,
    Capability::JsonMode,
    Capability::JsonSchema,
];

/// The set of features that a backend is known to support. Others may work as well.
///
/// ```
/// use cogwork_llm::backend::{Capabilities, Capability};
///
/// let known = Capabilities::none().with(Capability::Streaming).with(Capability::JsonMode);
/// assert!(known.has(Capability::Streaming));
/// assert!(!known.has(Capability::Tools));
/// assert_eq!(format!("{known:?}"), "{Streaming, JsonMode}");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u8);

impl Capabilities {
    /// Creates an empty set.
    pub const fn none() -> Self {
        Self(0)
    }

    /// Returns this set with `capability`.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | bit(capability))
    }

    /// Returns this set without `capability`.
    #[must_use]
    pub const fn without(self, capability: Capability) -> Self {
        self.except(Self(bit(capability)))
    }

    /// Returns whether the set contains `capability`.
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & bit(capability) != 0
    }

    /// Returns this set without those of `other`.
    pub(crate) const fn except(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the intersection with `other`: what a caller can rely on if either client may
    /// respond.
    #[must_use]
    pub const fn in_common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

const fn bit(capability: Capability) -> u8 {
    1 << capability as u8
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(ALL.iter().filter(|capability| self.has(**capability)))
            .finish()
    }
}
