use std::fmt;
use std::sync::Arc;

use cogwork_text::{Escaped, OneLine};

use crate::Place;
use crate::quote::one_line;
use crate::yaml::Path;

/// A problem of the file that is currently being read.
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) path: Path,
    pub(crate) message: String,
    /// Whether the rest of the mapping was checked as if this problem did not exist.
    pub(crate) is_of_tag: bool,
}

impl Found {
    pub(crate) fn new(place: Place, path: &Path, message: impl Into<String>) -> Self {
        Self {
            place,
            path: path.clone(),
            message: message.into(),
            is_of_tag: false,
        }
    }

    /// Marks a problem of the key that selects the kind of a mapping.
    pub(crate) fn of_tag(self) -> Self {
        Self {
            is_of_tag: true,
            ..self
        }
    }
}

/// The problems of one text. Their number is limited, because thousands are not useful and each one
/// costs a search for similar names.
#[derive(Default)]
pub(crate) struct Problems(pub(crate) Vec<Found>);

impl Problems {
    const MAX: usize = 100;

    pub(crate) fn push(&mut self, found: Found) {
        if self.0.len() < Self::MAX {
            self.0.push(found);
        }
    }

    pub(crate) fn extend(&mut self, others: impl IntoIterator<Item = Found>) {
        others.into_iter().for_each(|found| self.push(found));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= Self::MAX
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a problem has exactly this path.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|found| found.path == *path)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is a problem at the path or below it.
    pub(crate) fn any_in(&self, path: &Path) -> bool {
        self.of(path).next().is_some()
    }

    /// Returns the problems at the path and below it.
    pub(crate) fn of(&self, path: &Path) -> impl Iterator<Item = &Found> {
        self.0.iter().filter(move |found| found.path.is_in(path))
    }
}

/// A problem of a file, and its place.
///
/// `Display` writes one line: `flow.yaml:12:15: nodes[0].config.thinking.type: unknown mode …`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProblem {
    /// The name of the file, as given.
    pub file: Arc<str>,
    /// The place; `None` if the file could not be read.
    pub place: Option<Place>,
    /// The path to the value, such as `nodes[0].config.role`; empty for the whole file.
    pub path: String,
    /// What is wrong, and what is expected instead.
    pub message: String,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path is not shortened, because its end is the most important part.
        write!(f, "{}:", one_line(&self.file))?;
        if let Some(place) = self.place {
            write!(f, "{place}:")?;
        }

        f.write_str(" ")?;
        if !self.path.is_empty() {
            write!(f, "{}: ", Escaped::new(&self.path))?;
        }

        OneLine::new(&self.message).fmt(f)
    }
}

/// All problems of a file and of the files it names, at most 100 per file.
///
/// `{}` writes one line: the first problem and the number of others. `{:#}` writes one line per
/// problem. Neither shows values from the environment.
#[derive(Clone, PartialEq, Eq)]
pub struct FileError {
    problems: Vec<FileProblem>,
}

impl FileError {
    /// Sorts the problems by place and removes duplicates.
    pub(crate) fn new(mut problems: Vec<FileProblem>) -> Self {
        problems.sort_by_key(|problem| problem.place);
        problems.dedup();

        // Keeps the files in the order in which they were read, and the problems of each file
        // together.
        let mut files: Vec<Arc<str>> = Vec::new();
        for problem in &problems {
            if !files.contains(&problem.file) {
                files.push(Arc::clone(&problem.file));
            }
        }

        problems.sort_by_key(|problem| files.iter().position(|file| *file == problem.file));
        Self { problems }
    }

    /// Returns the problems by file and place. There is at least one.
    pub fn problems(&self) -> &[FileProblem] {
        &self.problems
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, more) = match self.problems.split_first() {
            Some((first, more)) => (first, more),
            None => return Ok(()),
        };
        write!(f, "{first}")?;
        match (f.alternate(), more.len()) {
            (_, 0) => Ok(()),
            (true, _) => more.iter().try_for_each(|problem| write!(f, "\n{problem}")),
            (false, count) => {
                write!(
                    f,
                    " (and {count} more problem{})",
                    if count == 1 { "" } else { "s" }
                )
            }
        }
    }
}

cogwork_text::debug_as_display!(FileError);

impl std::error::Error for FileError {}
