use cogwork_text::OneLine;

/// An operation that a session refused. The session hasn't changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The strategy doesn't allow the move, a parameter is wrong, or a thought or a branch that the
    /// operation names doesn't exist or doesn't allow it. The text says what is expected instead.
    #[error("{}", OneLine::new(.0))]
    Refused(String),
    /// A limit is reached, such as `1000 branches`.
    #[error("the limit of {} is reached", OneLine::new(.0))]
    Full(String),
}

cogwork_text::debug_as_display!(SessionError);
