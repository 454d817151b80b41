use std::convert::Infallible;

use crate::{Action, BoxError};

/// A return value of closures that stands for a `Result<Action, E>`: nothing, for the default
/// action, an action, or a result with one of the two.
pub trait IntoAction {
    /// The error; [`Infallible`] if there is none.
    type Error: Into<BoxError> + Send;

    /// Converts it into a result.
    ///
    /// # Errors
    ///
    /// Returns the closure's own error.
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

impl<A: IntoAction<Error = Infallible>, E: Into<BoxError> + Send> IntoAction for Result<A, E> {
    type Error = E;

    fn into_result(self) -> Result<Action, E> {
        self.map(|returned| match returned.into_result() {
            Ok(action) => action,
        })
    }
}
