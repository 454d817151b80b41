use crate::{LlmError, LlmErrorKind};

/// Returns an error for a request that cannot be sent.
pub(crate) fn invalid(message: impl Into<String>) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

/// Returns an error for a client that cannot be built.
pub(super) fn invalid_settings(message: impl Into<String>) -> LlmError {
    LlmError::new(LlmErrorKind::Settings, message)
}
