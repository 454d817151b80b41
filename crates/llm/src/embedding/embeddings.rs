use crate::{LlmError, LlmErrorKind, Usage};

/// The vectors of some texts, in the order of the texts.
///
/// All vectors have the same length, from 1 to [`MAX_DIMENSION`](Self::MAX_DIMENSION), and contain
/// only finite numbers.
///
/// ```
/// use cogwork_llm::Embeddings;
///
/// let error = Embeddings::new([vec![0.5, 0.5], vec![1.0]]).unwrap_err();
/// assert_eq!(error.message(), "embedding 2 has 1 numbers; expected 2, as many as the first");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embeddings {
    vectors: Vec<Vec<f32>>,
    model: Option<String>,
    usage: Option<Usage>,
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

        for (number, vector) in (1_usize..).zip(&vectors) {
            check_length(number, vector.len(), dimension)?;
            check_numbers(number, vector)?;
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

    /// Appends the embeddings of further texts.
    #[cfg(feature = "http")]
    pub(crate) fn joined(mut self, more: Self) -> Result<Self, LlmError> {
        // The vectors of each are equally long, so the first ones are compared for all.
        if let (Some(first), Some(next)) = (self.vectors.first(), more.vectors.first()) {
            check_length(self.vectors.len() + 1, next.len(), first.len())?;
        }

        self.vectors.extend(more.vectors);
        Ok(Self {
            vectors: self.vectors,
            model: more.model.or(self.model),
            usage: sum(self.usage, more.usage),
        })
    }
}

#[cfg(feature = "http")]
fn sum(first: Option<Usage>, second: Option<Usage>) -> Option<Usage> {
    let (Some(mut sum), Some(second)) = (first, second) else {
        return first.or(second);
    };

    sum += second;
    Some(sum)
}

fn check_length(number: usize, length: usize, dimension: usize) -> Result<(), LlmError> {
    let most = Embeddings::MAX_DIMENSION;
    if length == 0 {
        return Err(decode(format!(
            "embedding {number} is empty; expected 1 to {most} numbers"
        )));
    }
    if length > most {
        return Err(decode(format!(
            "embedding {number} has {length} numbers; expected at most {most}"
        )));
    }
    if length != dimension {
        return Err(decode(format!(
            "embedding {number} has {length} numbers; expected {dimension}, as many as the first"
        )));
    }

    Ok(())
}

fn check_numbers(number: usize, vector: &[f32]) -> Result<(), LlmError> {
    let wrong = (1_usize..)
        .zip(vector)
        .find(|(_, value)| !value.is_finite());
    match wrong {
        None => Ok(()),
        Some((place, value)) => Err(decode(format!(
            "number {place} of embedding {number} is {value}; expected a finite number"
        ))),
    }
}

fn decode(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::Decode, message)
}
