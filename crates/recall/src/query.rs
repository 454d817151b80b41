use std::fmt;
use std::sync::Arc;

type Filter = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What to find in a [`VectorMemory`](crate::VectorMemory).
///
/// ```
/// use cogwork_recall::Query;
///
/// let query = Query::new("When does the office close?")
///     .with_limit(3)
///     .with_min_score(0.3)
///     .with_sources(|source| source.starts_with("handbook/"));
/// ```
#[derive(Clone)]
pub struct Query {
    pub(crate) text: String,
    pub(crate) limit: usize,
    pub(crate) min_score: f32,
    pub(crate) sources: Option<Filter>,
}

impl Query {
    /// Creates a query for passages that are similar to `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            limit: 5,
            min_score: 0.0,
            sources: None,
        }
    }

    /// Sets the maximum number of passages to return.
    ///
    /// The default is 5.
    #[must_use]
    pub fn with_limit(mut self, passages: usize) -> Self {
        self.limit = passages;
        self
    }

    /// Sets the minimum score, from -1 to 1. NaN is higher than every score.
    ///
    /// The default is 0.
    #[must_use]
    pub fn with_min_score(mut self, score: f32) -> Self {
        self.min_score = score;
        self
    }

    /// Searches only the sources for whose names `filter` returns `true`. It is called for
    /// each passage.
    ///
    /// The default is all sources.
    #[must_use]
    pub fn with_sources(mut self, filter: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.sources = Some(Arc::new(filter));
        self
    }
}

impl<T: Into<String>> From<T> for Query {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("text", &self.text)
            .field("limit", &self.limit)
            .field("min_score", &self.min_score)
            .finish_non_exhaustive()
    }
}
