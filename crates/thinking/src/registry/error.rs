use std::fmt;

use cogwork_text::{Name, NameList, OneLine};

/// The reason why a mode was not registered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is already registered.
    #[error("the thinking mode `{}` is already registered; choose a different name", Name(.0))]
    Duplicate(String),
    /// The name is not valid.
    #[error("`{}` is not a valid name of a thinking mode; expected 1 to 64 letters, digits, `_` and `-`", Name(.0))]
    Name(String),
}

cogwork_text::debug_as_display!(RegistryError);

/// The reason why a mode was not built. `{}` shows the first problem of the settings, `{:#}` shows
/// all of them, one per line.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModeBuildError {
    /// No mode has this name.
    Unknown {
        /// The requested name.
        name: String,
        /// The most similar registered name, if there is one.
        nearest: Option<String>,
        /// The registered names.
        known: Vec<String>,
    },
    /// The settings are invalid.
    Settings {
        /// The name of the mode.
        mode: String,
        /// All problems, at least one.
        problems: Vec<SettingsProblem>,
    },
}

cogwork_text::debug_as_display!(ModeBuildError);

/// A problem with the settings of a mode. `{}` is one line with the path and the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsProblem {
    /// The path below `config`. Empty for the settings as a whole.
    pub path: Vec<PathPart>,
    /// The problem.
    pub message: String,
    /// What would have been accepted.
    pub expected: Option<String>,
    /// The most similar known name, if the name is unknown.
    pub nearest: Option<String>,
}

/// A component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPart {
    /// The value of this key.
    Key(String),
    /// The item with this index, from 0.
    Index(usize),
}

impl SettingsProblem {
    /// Returns the path as text, such as `config.criteria[2]`.
    pub fn path(&self) -> String {
        let mut path = "config".to_owned();
        for part in &self.path {
            match part {
                PathPart::Key(key) => path.push_str(&format!(".{}", Name(key))),
                PathPart::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }

        path
    }

    /// Returns the problem and what would have been accepted, without the path.
    pub fn problem(&self) -> String {
        let nearest = self
            .nearest
            .as_ref()
            .map(|name| format!("; did you mean `{}`?", Name(name)));
        let expected = || {
            self.expected
                .as_ref()
                .map(|expected| format!("; expected {expected}"))
        };

        let hint = nearest.or_else(expected).unwrap_or_default();
        format!("{}{hint}", self.message)
    }
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path(), OneLine::new(self.problem()))
    }
}

impl ModeBuildError {
    pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let known: Vec<_> = known.map(str::to_owned).collect();
        Self::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, known.iter().map(String::as_str)).map(str::to_owned),
            known,
        }
    }
}

/// Returns the known name that was most likely meant: the most similar one, if at most a third of
/// its characters differ.
#[doc(hidden)]
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Comparing takes time proportional to the product of the lengths, and names and lists of names
    /// from a file can be as long as the file.
    const LONGEST: usize = 64;
    const COMPARED: usize = 100;

    if name.len() > LONGEST {
        return None;
    }

    let lower = name.to_lowercase();
    let length = name.chars().count();
    let farthest = (length / 3).max(1);

    let is_candidate =
        |known: &&str| known.len() <= LONGEST && known.chars().count().abs_diff(length) <= farthest;
    let candidates = known.into_iter().filter(is_candidate).take(COMPARED);
    let distances =
        candidates.map(|known| (strsim::osa_distance(&lower, &known.to_lowercase()), known));

    distances
        .filter(|(distance, _)| *distance <= farthest)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

impl fmt::Display for ModeBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown {
                name,
                nearest,
                known,
            } => {
                write!(
                    f,
                    "unknown thinking mode `{}`; expected {}",
                    Name(name),
                    NameList::or(known)
                )?;
                nearest
                    .iter()
                    .try_for_each(|nearest| write!(f, "; did you mean `{}`?", Name(nearest)))
            }
            Self::Settings { mode, problems } => {
                write!(f, "settings of the thinking mode `{}`", Name(mode))?;
                if f.alternate() {
                    return problems
                        .iter()
                        .try_for_each(|problem| write!(f, "\n{problem}"));
                }

                let mut problems = problems.iter();
                if let Some(first) = problems.next() {
                    write!(f, ": {first}")?;
                }

                match problems.len() {
                    0 => Ok(()),
                    1 => f.write_str(" (and 1 more problem)"),
                    more => write!(f, " (and {more} more problems)"),
                }
            }
        }
    }
}

impl std::error::Error for ModeBuildError {}
