use std::borrow::Cow;
use std::fmt;

use cogwork_text::Escaped;
use serde::{Deserialize, Serialize};

/// A label that a node returns from `post`. The flow follows the edge with this label.
///
/// Nodes publish their actions as constants, so that wiring and `post` use the same spelling. Use
/// [`Action::new`] for labels from configuration. A static label doesn't allocate.
///
/// ```
/// use cogwork_flow::Action;
///
/// const AGAIN: Action = Action::from_static("again");
/// assert_eq!(AGAIN, Action::new(String::from("again")));
/// assert_eq!(Action::DEFAULT.as_str(), "default");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Action(Cow<'static, str>);

impl Action {
    /// The action of a node that has a single exit: `default`.
    pub const DEFAULT: Self = Self::from_static("default");

    /// The action of a [`Wait`](crate::Wait) that timed out: `timed out`.
    pub const TIMED_OUT: Self = Self::from_static("timed out");

    /// Creates an action from a static label.
    pub const fn from_static(label: &'static str) -> Self {
        Self(Cow::Borrowed(label))
    }

    /// Creates an action from a label that is only known at run time.
    pub fn new(label: impl Into<String>) -> Self {
        Self(Cow::Owned(label.into()))
    }

    /// Returns the label.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for Action {
    fn from(label: &'static str) -> Self {
        Self::from_static(label)
    }
}

impl From<String> for Action {
    fn from(label: String) -> Self {
        Self::new(label)
    }
}

impl From<&Action> for Action {
    fn from(action: &Action) -> Self {
        action.clone()
    }
}

impl AsRef<str> for Action {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Action {
    /// Writes the label with invisible characters escaped; [`as_str`](Self::as_str) returns it
    /// unchanged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped::new(&self.0).fmt(f)
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
