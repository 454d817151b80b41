use cogwork_text::Escaped;

/// The maximum length of a problem, in characters: the names in it may have any length.
const MAX_PROBLEM: usize = 300;

/// An entry that cannot follow the entries before it in a record.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {index}: {problem}")]
#[non_exhaustive]
pub struct EntryError {
    /// The index of the entry, starting at 0.
    pub index: usize,
    /// The reason.
    pub problem: String,
}

cogwork_text::debug_as_display!(EntryError);

impl EntryError {
    pub(super) fn new(index: usize, problem: &str) -> Self {
        let problem = Escaped::new(problem).with_max_chars(MAX_PROBLEM);

        Self {
            index,
            problem: problem.to_string(),
        }
    }
}
