use std::sync::Arc;

use async_trait::async_trait;

use crate::LlmError;

mod embeddings;
pub use embeddings::Embeddings;

mod hashed_ngrams;
pub use hashed_ngrams::HashedNgrams;

/// An embedding model: turns texts into vectors. Texts with similar meanings have vectors that
/// point in similar directions.
///
/// `OpenAiEmbedder` and `OllamaEmbedder` call a server. [`HashedNgrams`] needs neither a server nor
/// a model, but compares spelling instead of meaning. [`Retry`](crate::Retry) wraps embedders in the
/// same way as clients.
///
/// Implementations need the attribute [`async_trait`](macro@crate::async_trait), as with
/// [`LlmClient`](crate::LlmClient). A call may be dropped at any `await`.
///
/// ```
/// use cogwork_llm::{Embedder, Embeddings, LlmError, async_trait};
///
/// /// Embeds a text as its numbers of vowels and of other characters.
/// struct Vowels;
///
/// #[async_trait]
/// impl Embedder for Vowels {
///     async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
///         let vectors = texts.iter().map(|text| {
///             let vowels = text.chars().filter(|c| "aeiou".contains(*c)).count();
///             vec![vowels as f32, (text.chars().count() - vowels) as f32]
///         });
///         Embeddings::new(vectors)
///     }
///
///     fn model(&self) -> &str {
///         "vowels"
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let embeddings = Vowels.embed(&["area".to_owned()]).await?;
/// assert_eq!(embeddings.vectors(), [[3.0, 1.0]]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns one embedding for each text, in the same order. All have the same dimension.
    ///
    /// # Errors
    ///
    /// Returns an [`LlmError`]. Its [kind](LlmError::kind) identifies what failed.
    async fn embed(
        &self, // Is `#[async_trait]` missing above the `impl`? It changes this signature.
        texts: &[String],
    ) -> Result<Embeddings, LlmError>;

    /// Returns the name of the model. Vectors of models with different names are never compared.
    fn model(&self) -> &str;

    /// Returns the length of the vectors if it is known before the first call.
    ///
    /// The default implementation returns `None`.
    fn dimension(&self) -> Option<usize> {
        None
    }
}

macro_rules! through_a_pointer {
    ($($pointer:ty),*) => {$(
        #[async_trait]
        impl<E: Embedder + ?Sized> Embedder for $pointer {
            async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
                (**self).embed(texts).await
            }

            fn model(&self) -> &str {
                (**self).model()
            }

            fn dimension(&self) -> Option<usize> {
                (**self).dimension()
            }
        }
    )*};
}

through_a_pointer!(&E, Arc<E>, Box<E>);
