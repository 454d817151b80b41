use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::MemoryError;

/// Limits on the size of a store.
///
/// The limits apply to the texts. A store that is searched by words also keeps an index, which
/// usually takes fewer bytes than the texts.
///
/// ```
/// use cogwork_thinking::memory::{InMemory, MemoryLimits};
///
/// let memory = InMemory::with_limits(MemoryLimits { items: 50, ..MemoryLimits::default() });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryLimits {
    /// The maximum number of items. When it is exceeded, the oldest are forgotten.
    #[schemars(range(min = 1, max = 10000))]
    pub items: usize,
    /// The maximum size of an item in bytes. A larger one is an error.
    #[schemars(range(min = 1, max = 1048576))]
    pub item_bytes: usize,
    /// The maximum total size of all texts in bytes. When it is exceeded, the oldest items are
    /// forgotten.
    #[schemars(range(min = 1, max = 268435456))]
    pub total_bytes: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self {
            items: 1_000,
            item_bytes: 16 * 1024,
            total_bytes: 16 * 1024 * 1024,
        }
    }
}

impl MemoryLimits {
    /// Checks the size of an item, for custom stores.
    ///
    /// # Errors
    ///
    /// Returns an error if the item is too large.
    pub fn check(self, text: &str) -> Result<(), MemoryError> {
        let (bytes, most) = (text.len(), self.item_bytes);
        if bytes <= most {
            return Ok(());
        }

        let message = format!("the text to remember has {bytes} bytes; expected at most {most}");
        Err(MemoryError::new(message))
    }
}
