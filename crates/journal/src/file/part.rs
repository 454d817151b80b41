//! Lines that are read together.

use std::sync::Arc;

/// Whole lines, or the beginning of one that is incomplete or too long.
pub(super) enum Part {
    Text(Arc<String>),
    /// Bytes that aren't UTF-8.
    Bytes(Vec<u8>),
}

impl Part {
    pub(super) const EMPTY: Self = Self::Bytes(Vec::new());

    /// Lines that aren't all UTF-8 aren't shared, but read one by one.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(Arc::new(text)),
            Err(error) => Self::Bytes(error.into_bytes()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}
