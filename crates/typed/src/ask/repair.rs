use std::fmt;

use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

/// A change to a reply that made it readable.
///
/// `Display` writes the place and the change on one line. Control characters in the text of the
/// model are replaced.
///
/// ```
/// use cogwork_typed::ask::{Repair, RepairKind};
///
/// let repair = Repair::new(RepairKind::Quotes, 2, "put the text of `answer` in quotes");
/// assert_eq!(repair.to_string(), "line 2: put the text of `answer` in quotes");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Repair {
    /// The kind of fault.
    pub kind: RepairKind,
    /// The line in the raw reply, from 1.
    pub line: usize,
    /// What was changed.
    pub what: String,
}

/// The kind of problem that a [`Repair`] fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// Indentation that YAML would misread.
    Indentation,
    /// Quotes that are missing, not closed, or inside a text; a backslash without a valid escape.
    Quotes,
    /// Characters that JSON and YAML do not allow, such as a `//` comment, or missing ones, such as
    /// a closing bracket.
    Json,
    /// A character that YAML rejects, although its meaning is clear.
    Syntax,
    /// A key in a different spelling, or a synonym of a key.
    Key,
    /// A duplicate key.
    DuplicateKey,
    /// A step without a status.
    MissingStatus,
    /// A synonym of a truth value.
    TruthValue,
    /// A step or a plan in a different form: a bare text, a line as plans are printed, or numbered
    /// keys.
    Form,
    /// A step that is repeated many times in a row.
    Repetition,
    /// Text inside the block that is not part of the reply.
    Prose,
}

impl Repair {
    /// Creates a repair on a line of the raw reply, from 1.
    pub fn new(kind: RepairKind, line: usize, what: impl Into<String>) -> Self {
        Self {
            kind,
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, OneLine::new(&self.what))
    }
}
