//! Embeddings: vectors for texts, such that similar texts have similar vectors.

use std::sync::Arc;

use async_trait::async_trait;

mod hashed_ngrams;
pub use hashed_ngrams::HashedNgrams;

#[cfg(feature = "http")]
pub use crate::openai::{OpenAiEmbedder, OpenAiEmbedderBuilder};

use crate::{LlmError, LlmErrorKind, Usage};

/// An embedding model: turns texts into vectors. Texts with similar meanings have vectors that
/// point in similar directions.
///
/// `OpenAiEmbedder` calls a server. [`HashedNgrams`] needs neither a server nor
/// a model, but compares spelling instead of meaning. [`Retry`](crate::layers::Retry) wraps embedders in the
/// same way as clients.
///
/// Implementations need the attribute [`async_trait`](macro@crate::async_trait), as with
/// [`LlmClient`](crate::LlmClient). A call may be dropped at any `await`.
///
/// ```
/// use cogwork_llm::{async_trait, LlmError};
/// use cogwork_llm::embedding::{Embedder, Embeddings};
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

/// The vectors of some texts, in the order of the texts.
///
/// All vectors have the same length, from 1 to [`MAX_DIMENSION`](Self::MAX_DIMENSION), and contain
/// only finite numbers.
///
/// ```
/// use cogwork_llm::embedding::Embeddings;
///
/// let error = Embeddings::new([vec![0.5, 0.5], vec![1.0]]).unwrap_err();
/// assert_eq!(error.message(), "embedding 2 has 1 numbers; expected 2, as many as the first");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embeddings {
    pub(crate) vectors: Vec<Vec<f32>>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
}

impl Embeddings {
    /// The maximum length of a vector.
    pub const MAX_DIMENSION: usize = 65_536;

    /// Creates embeddings from their vectors.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Decode`](LlmErrorKind::Decode) if the vectors have different
    /// lengths, if one is empty or longer than [`MAX_DIMENSION`](Self::MAX_DIMENSION), or if a number
    /// is infinite or NaN.
    pub fn new(vectors: impl IntoIterator<Item = Vec<f32>>) -> Result<Self, LlmError> {
        let vectors: Vec<_> = vectors.into_iter().collect();
        let dimension = vectors.first().map_or(0, Vec::len);

        for (number, vector) in (1..).zip(&vectors) {
            if let Some(problem) = problem(vector, dimension) {
                return Err(decode(format!("embedding {number} {problem}")));
            }
        }

        Ok(Self {
            vectors,
            model: None,
            usage: None,
        })
    }

    /// Sets the name of the model that made the embeddings, as the backend reports it.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the token usage of the call.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Returns the embeddings unchanged if there is one for each of `texts` texts.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Decode`](LlmErrorKind::Decode) if there are more or fewer.
    pub fn checked_for(self, texts: usize) -> Result<Self, LlmError> {
        let count = self.vectors.len();
        if count == texts {
            return Ok(self);
        }

        Err(decode(format!(
            "the reply has {count} embeddings for {texts} texts; expected one for each text"
        )))
    }

    /// Returns the vectors, one for each text.
    pub fn vectors(&self) -> &[Vec<f32>] {
        &self.vectors
    }

    /// Returns the vectors without copying them.
    pub fn into_vectors(self) -> Vec<Vec<f32>> {
        self.vectors
    }

    /// Returns the length of the vectors, or 0 if there are none.
    pub fn dimension(&self) -> usize {
        self.vectors.first().map_or(0, Vec::len)
    }

    /// Returns the name of the model, if the backend reports it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the token usage, if the backend reports it. For embeddings of several calls, this is
    /// the sum of what was reported.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

fn problem(vector: &[f32], dimension: usize) -> Option<String> {
    let length = vector.len();
    let most = Embeddings::MAX_DIMENSION;
    if length == 0 || length > most {
        return Some(format!("has {length} numbers; expected 1 to {most}"));
    }
    if length != dimension {
        let expected = format!("expected {dimension}, as many as the first");
        return Some(format!("has {length} numbers; {expected}"));
    }

    // One such number would make all similarities NaN.
    let wrong = vector.iter().find(|number| !number.is_finite())?;
    Some(format!("contains {wrong}; expected finite numbers"))
}

fn decode(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::Decode, message)
}
