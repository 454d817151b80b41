use serde::{Deserialize, Serialize};

/// A text to be found, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Passage {
    /// The text.
    pub text: String,
    /// The name of the source, such as a path. Empty if there is none.
    pub source: String,
    /// The line of the source at which the text begins, from 1. 0 if it is unknown.
    pub line: u32,
}

impl Passage {
    /// Creates a passage without a source.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            source: String::new(),
            line: 0,
        }
    }

    /// Sets the name of the source.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets the line of the source at which the text begins, from 1.
    #[must_use]
    pub fn with_line(mut self, line: u32) -> Self {
        self.line = line;
        self
    }
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recalled {
    /// The text.
    pub text: String,
    /// The name of the source. Empty if there is none.
    pub source: String,
    /// The line of the source at which the text begins, from 1. 0 if it is unknown.
    pub line: u32,
    /// The cosine similarity of the passage and the query, from -1 to 1. What counts as similar
    /// depends on the embedding model.
    pub score: f32,
}
