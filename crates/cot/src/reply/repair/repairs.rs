use std::fmt;

use cogwork_read::charge;
use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

/// Something that a reader changed in a reply to make it readable.
///
/// `Display` is one line that says where and what; a model's text in it cannot steer a terminal.
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
    /// What kind of fault was repaired.
    pub kind: RepairKind,
    /// The line in the raw reply, from 1.
    pub line: usize,
    /// What was done.
    pub what: String,
}

/// What kind of fault a [`Repair`] mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A tab, a no-break space or a byte order mark where YAML takes only spaces.
    Blanks,
    /// Lines indented so that YAML would take them for something else.
    Indentation,
    /// Quotes missing around a text, left open, or inside of it; a backslash that escapes nothing.
    Quotes,
    /// Signs that JSON and YAML do not have, or that are missing: a comment with `//`, a bracket left open.
    Json,
    /// A character that YAML refuses where it stands, and that leaves no doubt about what was meant.
    Syntax,
    /// A key spelt in another way, or another word for it.
    Key,
    /// A key given twice.
    DuplicateKey,
    /// A status in other words.
    Status,
    /// A step without a status.
    MissingStatus,
    /// A truth value in other words.
    TruthValue,
    /// A step or a plan in another form: a bare text, a line as it is printed, numbered keys.
    Form,
    /// A step that says nothing.
    EmptyStep,
    /// The same step many times over.
    Repetition,
    /// Text inside the block that is no part of the reply.
    Prose,
    /// A step that was not written to its end.
    CutOff,
    /// A later block could not be read.
    EarlierBlock,
    /// More repairs than are listed one by one, which are 1,000.
    More,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, OneLine::new(&self.what))
    }
}

/// The repairs as they are made.
#[derive(Debug, Default)]
pub(super) struct Report(pub(super) Vec<Repair>);

impl Report {
    pub(super) fn add(&mut self, kind: RepairKind, line: usize, what: impl Into<String>) {
        let what = what.into();
        charge(what.len());
        self.0.push(Repair { kind, line, what });
    }

    /// Whether there is one of this kind.
    pub(super) fn has(&self, kind: RepairKind) -> bool {
        charge(self.0.len());
        self.0.iter().any(|repair| repair.kind == kind)
    }

    /// In the order of the lines; of very many the first.
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

/// Repairs that are listed: they are kept with every thought, and only a loop needs more.
const LISTED: usize = 1000;

/// Characters of the model's text that a repair quotes.
const EXCERPT: usize = 40;

/// The beginning of a text, to be quoted.
pub(super) fn excerpt(text: &str) -> String {
    charge(text.len());
    OneLine::new(text).with_max_chars(EXCERPT).to_string()
}
