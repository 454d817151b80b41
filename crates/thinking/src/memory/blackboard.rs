use async_trait::async_trait;

use super::words::SharedItems;
use super::{Found, Memory, MemoryError, MemoryLimits};

/// A board that several agents write to. A search ignores the query and returns the newest items.
/// Clones share the items.
///
/// The newest item has the score 1, the one before it 1/2, then 1/3 and so on, so a threshold of
/// 0.25 returns the four newest.
///
/// ```
/// use cogwork_thinking::{Blackboard, Memory, MemoryError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), MemoryError> {
/// let board = Blackboard::new();
/// board.add("The survey is done.").await?;
/// board.add("The map is drawn.").await?;
/// let found = board.search("", 1, 0.0).await?;
/// assert_eq!(found[0].text(), "The map is drawn.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Blackboard {
    limits: MemoryLimits,
    items: SharedItems,
}

impl Blackboard {
    /// Creates an empty board with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty board with these limits.
    pub fn with_limits(limits: MemoryLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }
}

#[async_trait]
impl Memory for Blackboard {
    async fn search(
        &self,
        _query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        Ok(self.items.newest(top_k, threshold))
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.limits.check(text)?;
        self.items.push(text, self.limits);
        Ok(())
    }
}
