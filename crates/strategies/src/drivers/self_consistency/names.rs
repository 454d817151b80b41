//! The names of the fields, parameters and notes.

/// The note and the parameter with the answers by path.
pub(super) const ANSWERS: &str = "answers";

/// The parameter with the number of paths.
pub(super) const PATHS: &str = "paths";

/// The parameter with the name of the path.
pub(super) const PATH: &str = "path_id";

/// The note with the number of paths that finished without an answer.
pub(super) const LOST: &str = "lost";
