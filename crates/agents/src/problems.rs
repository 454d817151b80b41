//! The problems of a file, with their places.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::Arc;

use cogwork_text::{Escaped, Name, OneLine, counted};

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Returns the path of a value in a mapping, such as `nodes[0].config.role`. Long keys are shortened,
/// since each value below has a path of its own.
pub(crate) fn below(path: &str, key: &str) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    format!("{path}{dot}{}", Name(key))
}

/// Returns the path of a value in a list.
pub(crate) fn item(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// Returns whether a path is equal to `other` or below it.
fn is_in(path: &str, other: &str) -> bool {
    let rest = path.strip_prefix(other);
    rest.is_some_and(|rest| other.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Where a value is.
pub(crate) struct Mark {
    pub(crate) place: Place,
    /// The place of its key, which is its own place in a list.
    pub(crate) key: Place,
    /// The variables that the text contains, in order. Messages only show their names.
    pub(crate) variables: Vec<String>,
}

/// The problems of one text, and the places of its values. The number of problems is limited, because
/// thousands are not useful and each one costs a search for similar names.
#[derive(Default)]
pub(crate) struct Problems {
    /// The name of the text.
    pub(crate) file: Arc<str>,
    marks: BTreeMap<String, Mark>,
    pub(crate) found: Vec<FileProblem>,
}

impl Problems {
    const MAX: usize = 100;

    pub(crate) fn of(file: &str) -> Self {
        Self {
            file: file.into(),
            ..Self::default()
        }
    }

    /// Sets the place of a value.
    pub(crate) fn mark(&mut self, path: &str, mark: Mark) {
        match self.marks.entry(path.to_owned()) {
            Entry::Vacant(entry) => drop(entry.insert(mark)),
            // The key is repeated, or two keys are equal when shortened.
            Entry::Occupied(mut entry) => entry.get_mut().variables.extend(mark.variables),
        }
    }

    /// Returns the variables in the text at a path.
    pub(crate) fn variables(&self, path: &str) -> &[String] {
        self.marks
            .get(path)
            .map_or(&[], |mark| mark.variables.as_slice())
    }

    /// Returns the place of the value at a path, or of the closest one around it.
    pub(crate) fn place(&self, path: &str) -> Place {
        let mut path = path;
        loop {
            match self.marks.get(path) {
                Some(mark) => return mark.place,
                None if path.is_empty() => return Place::START,
                None => {
                    // A missing value has no place, so the one around it is shown.
                    let end = path.rfind(['.', '[']).unwrap_or_default();
                    path = path.get(..end).unwrap_or_default();
                }
            }
        }
    }

    /// Adds a problem of the value at a path.
    pub(crate) fn push(&mut self, path: &str, message: impl Into<String>) {
        self.push_at(self.place(path), path, message);
    }

    /// Adds a problem of a key of the mapping at a path.
    pub(crate) fn push_at_key(&mut self, path: &str, key: &str, message: String) {
        let mark = self.marks.get(&below(path, key));
        let place = mark.map_or_else(|| self.place(path), |mark| mark.key);
        self.push_at(place, path, message);
    }

    pub(crate) fn push_at(&mut self, place: Place, path: &str, message: impl Into<String>) {
        let found = FileProblem {
            file: Arc::clone(&self.file),
            place: Some(place),
            path: path.to_owned(),
            message: message.into(),
        };
        self.extend([found]);
    }

    pub(crate) fn extend(&mut self, others: impl IntoIterator<Item = FileProblem>) {
        // One wrong indentation can make every key of a file unknown.
        let room = Self::MAX.saturating_sub(self.found.len());
        self.found.extend(others.into_iter().take(room));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= Self::MAX
    }

    /// Returns whether there is a problem at the path or below it.
    pub(crate) fn any_in(&self, path: &str) -> bool {
        self.found.iter().any(|found| is_in(&found.path, path))
    }
}

/// A problem of a file, and its place.
///
/// `Display` writes one line: `flow.yaml:12:15: nodes[0].config.thinking.type: unknown mode …`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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

impl FileProblem {
    /// Creates a problem of a file as a whole.
    pub(crate) fn of_file(file: &str, message: &str) -> Self {
        Self {
            file: file.into(),
            place: None,
            path: String::new(),
            message: message.to_owned(),
        }
    }
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

/// Returns an external message on one line of limited length.
pub(crate) fn one_line(message: impl fmt::Display) -> String {
    OneLine::new(message).with_max_chars(1_000).to_string()
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
    /// Sorts the problems by file and place, and removes duplicates.
    pub(crate) fn new(mut problems: Vec<FileProblem>) -> Self {
        problems.sort();
        problems.dedup();
        Self { problems }
    }

    /// Returns the problems by file and place. There is at least one.
    pub fn problems(&self) -> &[FileProblem] {
        &self.problems
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, more)) = self.problems.split_first() else {
            return Ok(());
        };
        write!(f, "{first}")?;

        match more.len() {
            0 => Ok(()),
            _ if f.alternate() => more.iter().try_for_each(|problem| write!(f, "\n{problem}")),
            count => write!(f, " (and {})", counted(count, "more problem")),
        }
    }
}

cogwork_text::debug_as_display!(FileError);

impl std::error::Error for FileError {}
