use std::fmt;

use cogwork_read::charge;
use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

/// A change to a reply that made it readable.
///
/// `Display` writes the place and the change on one line. Control characters in the text of the
/// model are replaced.
///
/// ```
/// use cogwork_cot::{RepairKind, ReplyReader};
///
/// let read = ReplyReader::default().read("\
/// ```yaml
/// current_thinking: So far: two and two make four.
/// planning:
/// - description: Add
///   status: DONE
///   result: 4
/// next_thought_needed: false
/// ```")?;
/// let repairs: Vec<String> = read.repairs.iter().map(ToString::to_string).collect();
/// assert_eq!(repairs, [
///     "line 2: put the text of `current_thinking` in quotes",
///     "line 5: read the status `DONE` as Done",
/// ]);
/// assert_eq!(read.repairs[1].kind, RepairKind::Status);
/// # Ok::<(), cogwork_cot::ReplyProblem>(())
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
    /// A tab, a no-break space or a byte order mark where YAML allows only spaces.
    Blanks,
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
    /// A synonym of a status.
    Status,
    /// A step without a status.
    MissingStatus,
    /// A synonym of a truth value.
    TruthValue,
    /// A step or a plan in a different form: a bare text, a line as plans are printed, or numbered
    /// keys.
    Form,
    /// An empty step.
    EmptyStep,
    /// A step that is repeated many times in a row.
    Repetition,
    /// Text inside the block that is not part of the reply.
    Prose,
    /// An incomplete step at the end.
    CutOff,
    /// An earlier block was used, because a later one could not be read.
    EarlierBlock,
    /// There were more than 1,000 repairs, and the remaining ones are not listed.
    More,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, OneLine::new(&self.what))
    }
}

/// Collects repairs.
#[derive(Debug, Default)]
pub(super) struct Report(pub(super) Vec<Repair>);

impl Report {
    pub(super) fn add(&mut self, kind: RepairKind, line: usize, what: impl Into<String>) {
        let what = what.into();
        charge(what.len());
        self.0.push(Repair { kind, line, what });
    }

    /// Returns whether there is a repair of this kind.
    pub(super) fn has(&self, kind: RepairKind) -> bool {
        charge(self.0.len());
        self.0.iter().any(|repair| repair.kind == kind)
    }

    /// Returns the repairs in the order of the lines, at most the first 1,000.
    pub(super) fn into_sorted(mut self) -> Vec<Repair> {
        charge(self.0.len());
        self.0.sort_by_key(|repair| repair.line);
        if let Some(line) = self.0.get(LISTED).map(|repair| repair.line) {
            let more = self.0.len() - LISTED;
            self.0.truncate(LISTED);
            self.add(
                RepairKind::More,
                line,
                format!("made {more} more repairs from here on"),
            );
        }

        self.0
    }
}

/// The maximum number of repairs that are listed. They are stored with every thought, and only
/// replies with loops need more.
const LISTED: usize = 1000;

/// The maximum number of characters of the model's text that a repair quotes.
const EXCERPT: usize = 40;

/// Returns the beginning of a text, for use as a quote.
pub(super) fn excerpt(text: &str) -> String {
    charge(text.len());
    OneLine::new(text).with_max_chars(EXCERPT).to_string()
}
