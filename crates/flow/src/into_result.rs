use crate::BoxError;

/// A value, or a `Result` with it and a [`BoxError`]: what a closure that may fail can return.
#[diagnostic::on_unimplemented(
    message = "this closure cannot return `{Self}`",
    label = "expected `{T}` or `Result<{T}, BoxError>`",
    note = "if this is a `Result` with another error: return `Ok(…?)`, which converts the error"
)]
pub trait IntoResult<T> {
    /// Converts it into a result.
    ///
    /// # Errors
    ///
    /// Returns the error of the closure.
    fn into_result(self) -> Result<T, BoxError>;
}

impl<T> IntoResult<T> for T {
    fn into_result(self) -> Result<T, BoxError> {
        Ok(self)
    }
}

impl<T> IntoResult<T> for Result<T, BoxError> {
    fn into_result(self) -> Result<T, BoxError> {
        self
    }
}
