use std::fmt;

use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

/// A change that a client made to a request, because the server refused the request as it was.
///
/// Servers refuse settings that their models don't support: reasoning models of OpenAI want
/// `max_completion_tokens` in place of `max_tokens`, and many models accept no temperature. The
/// clients of this crate then repeat the request once without the setting, or under its other name,
/// remember the change, and report it in [every response](crate::ChatResponse::adjustments) that it
/// applies to.
///
/// ```
/// use cogwork_llm::backend::Adjustment;
///
/// assert_eq!(Adjustment::omitted("temperature").to_string(), "temperature was not sent");
/// assert_eq!(
///     Adjustment::replaced("max_tokens", "max_completion_tokens").to_string(),
///     "max_completion_tokens was sent instead of max_tokens"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Adjustment {
    setting: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replacement: Option<String>,
}

impl Adjustment {
    /// Creates the report of a setting that was left out.
    pub fn omitted(setting: impl Into<String>) -> Self {
        Self {
            setting: setting.into(),
            replacement: None,
        }
    }

    /// Creates the report of a setting that was replaced by another one.
    pub fn replaced(setting: impl Into<String>, replacement: impl Into<String>) -> Self {
        Self {
            setting: setting.into(),
            replacement: Some(replacement.into()),
        }
    }

    /// Returns the name of the setting in the API of the server.
    pub fn setting(&self) -> &str {
        &self.setting
    }

    /// Returns what was sent instead, or `None` if the setting was left out.
    pub fn replacement(&self) -> Option<&str> {
        self.replacement.as_deref()
    }
}

impl fmt::Display for Adjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names may come from a saved response.
        let setting = OneLine::new(&self.setting);

        match self.replacement.as_ref().map(OneLine::new) {
            Some(replacement) => write!(f, "{replacement} was sent instead of {setting}"),
            None => write!(f, "{setting} was not sent"),
        }
    }
}
