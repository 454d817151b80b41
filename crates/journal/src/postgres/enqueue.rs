use std::time::Duration;

use serde_json::Value;

/// How workers take a run.
#[derive(Debug, Clone)]
pub struct Enqueue {
    pub(super) queue: String,
    pub(super) priority: i32,
    pub(super) key: Option<String>,
    pub(super) metadata: Option<Value>,
    pub(super) delay: Duration,
}

impl Enqueue {
    /// The name of the queue that is used by default: `default`.
    pub const DEFAULT_QUEUE: &str = "default";

    /// Creates the default settings.
    pub fn new() -> Self {
        Self {
            queue: Self::DEFAULT_QUEUE.to_owned(),
            priority: 0,
            key: None,
            metadata: None,
            delay: Duration::ZERO,
        }
    }

    /// Sets the name of the queue.
    ///
    /// # Default
    ///
    /// [`Enqueue::DEFAULT_QUEUE`].
    #[must_use]
    pub fn with_queue(mut self, name: impl Into<String>) -> Self {
        self.queue = name.into();
        self
    }

    /// Sets the priority. Runs with a higher priority are taken first, and runs with the same
    /// priority in the order in which they were enqueued.
    ///
    /// # Default
    ///
    /// 0.
    #[must_use]
    pub fn with_priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets a key, such as the name of a customer. A queue can limit how many runs with the same key
    /// are executed at the same time; see [`QueueLimits`](crate::QueueLimits).
    ///
    /// # Default
    ///
    /// No key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets metadata, by which the run can be [found](crate::QueueQuery::metadata).
    ///
    /// # Default
    ///
    /// None.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Value) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Sets how long the run waits before it is taken for the first time.
    ///
    /// # Default
    ///
    /// It can be taken immediately.
    #[must_use]
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

impl Default for Enqueue {
    fn default() -> Self {
        Self::new()
    }
}
