//! Settings as Rust types: their JSON Schema, their problems, and what a [`Registry`](crate::Registry) contains.

use std::fmt;

use cogwork_text::OneLine;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use crate::registry::{MakeMode, Registered};
pub use cogwork_tools::schema_of;

/// The maximum number of characters of a message.
const MAX_MESSAGE: usize = 1_000;

/// A problem of the settings of a mode, a provider or a node.
///
/// ```
/// use cogwork_thinking::SettingProblem;
///
/// let problem = SettingProblem::new("expected a folder that exists").at("output.folder");
/// assert_eq!(problem.to_string(), "`output.folder`: expected a folder that exists");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SettingProblem {
    path: String,
    message: String,
}

impl SettingProblem {
    /// Creates a problem of the settings as a whole. The message should describe what is wrong and
    /// what is expected instead.
    pub fn new(message: impl fmt::Display) -> Self {
        let message = OneLine::new(message).with_max_chars(MAX_MESSAGE);
        Self {
            path: String::new(),
            message: message.to_string(),
        }
    }

    /// Sets the path of the setting, such as `rounds` or `criteria[2].name`.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Puts a path in front of the path of the setting.
    #[must_use]
    pub fn below(mut self, outer: &str) -> Self {
        // An index follows its list without a dot.
        let path = std::mem::take(&mut self.path);
        let dot = match path.chars().next() {
            None | Some('[') => "",
            Some(_) if outer.is_empty() => "",
            Some(_) => ".",
        };
        self.at(format!("{outer}{dot}{path}"))
    }

    /// Returns the path of the setting, which is empty for the settings as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns what is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", OneLine::new(&self.path))?;
        }
        f.write_str(&self.message)
    }
}

cogwork_text::debug_as_display!(SettingProblem);

impl std::error::Error for SettingProblem {}

/// Reads settings.
///
/// # Errors
///
/// Returns the first problem, with the path of the setting.
pub fn read<S: DeserializeOwned>(settings: &Value) -> Result<S, SettingProblem> {
    serde_path_to_error::deserialize(settings).map_err(|error| {
        // serde_path_to_error shows the root as a dot.
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        SettingProblem::new(error.inner()).at(path)
    })
}
