//! What closures can return.

use crate::{Action, BoxError};

/// A value that a closure can return in place of a `Result<Action, BoxError>`: `()`, which means the
/// default action; an action; the label of an action; or a result with one of these.
///
/// The error is exactly a [`BoxError`], so that `?` converts every error, and `Ok(())` needs no
/// annotation.
#[diagnostic::on_unimplemented(
    message = "a node's closure cannot return `{Self}`",
    label = "expected `()`, an `Action`, a `&'static str`, or a `Result<_, BoxError>` with one of these",
    note = "if this is a future: only `exec` is async; use `from_phases(prep, exec, post)`",
    note = "if this is a label that isn't static: return `Action::new(label)`",
    note = "if this is a type of yours: implement `From<…> for Action`, and return `Action::from(…)`",
    note = "if this is a `Result` with another error: return `Ok(…?)`, which converts the error"
)]
pub trait IntoAction {
    /// Converts it into a result.
    ///
    /// # Errors
    ///
    /// Returns the error of the closure.
    fn into_result(self) -> Result<Action, BoxError>;
}

impl IntoAction for () {
    fn into_result(self) -> Result<Action, BoxError> {
        Ok(Action::DEFAULT)
    }
}

impl IntoAction for Action {
    fn into_result(self) -> Result<Action, BoxError> {
        Ok(self)
    }
}

impl IntoAction for &'static str {
    fn into_result(self) -> Result<Action, BoxError> {
        Ok(Action::from_static(self))
    }
}

impl<A: IntoAction> IntoAction for Result<A, BoxError> {
    fn into_result(self) -> Result<Action, BoxError> {
        self.and_then(A::into_result)
    }
}

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
