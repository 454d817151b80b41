use std::convert::Infallible;

use crate::{Action, BoxError};

/// A value that a closure can return in place of a `Result<Action, E>`: `()`, which means the
/// default action; an action; the label of an action; or a result with one of these.
#[diagnostic::on_unimplemented(
    message = "a node's closure cannot return `{Self}`",
    label = "expected `()`, an `Action`, a `&'static str`, or a `Result` with one of these",
    note = "if this is a future: `from_fn` takes a synchronous closure; \
            use `from_phases(prep, exec, post)`, where `exec` is async"
)]
pub trait IntoAction {
    /// The error; [`Infallible`] if there is none.
    type Error: Into<BoxError> + Send;

    /// Converts it into a result.
    ///
    /// # Errors
    ///
    /// Returns the error of the closure.
    fn into_result(self) -> Result<Action, Self::Error>;
}

impl IntoAction for () {
    type Error = Infallible;

    fn into_result(self) -> Result<Action, Infallible> {
        Ok(Action::DEFAULT)
    }
}

impl IntoAction for Action {
    type Error = Infallible;

    fn into_result(self) -> Result<Action, Infallible> {
        Ok(self)
    }
}

impl IntoAction for &'static str {
    type Error = Infallible;

    fn into_result(self) -> Result<Action, Infallible> {
        Ok(Action::from_static(self))
    }
}

impl<A: IntoAction<Error = Infallible>, E: Into<BoxError> + Send> IntoAction for Result<A, E> {
    type Error = E;

    fn into_result(self) -> Result<Action, E> {
        self.map(|returned| match returned.into_result() {
            Ok(action) => action,
        })
    }
}
