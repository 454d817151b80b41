use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::MemoryError;

/// Limits on the size of a store.
///
/// The limits apply to the texts. A store that is searched by words also keeps an index, which
/// usually takes fewer bytes than the texts.
///
/// ```
/// use cogwork_thinking::{InMemory, MemoryLimits};
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
    const MOST_ITEMS: usize = 10_000;
    const MOST_BYTES: usize = 1024 * 1024;
    const MOST_TOTAL_BYTES: usize = 256 * 1024 * 1024;

    pub(super) fn total_bytes(self) -> usize {
        self.total_bytes.clamp(1, Self::MOST_TOTAL_BYTES)
    }

    pub(super) fn items(self) -> usize {
        self.items.clamp(1, Self::MOST_ITEMS)
    }

    pub(super) fn item_bytes(self) -> usize {
        self.item_bytes.clamp(1, Self::MOST_BYTES)
    }

    pub(super) fn check(self, text: &str) -> Result<(), MemoryError> {
        if text.len() <= self.item_bytes() {
            return Ok(());
        }

        let bytes = text.len() as u64;
        let most = self.item_bytes() as u64;
        Err(MemoryError::TooLong {
            what: "the text to remember".to_owned(),
            bytes,
            most,
        })
    }
}
