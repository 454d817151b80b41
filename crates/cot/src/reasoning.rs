use cogwork_ask::Spent;
use cogwork_plan::Plan;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::prompt::Transcript;
use crate::record::ReasoningRecord;
use crate::{CotError, TextError, Thought, saved};

/// A problem, the thoughts on it so far, and the answer once there is one: the state of the
/// chain-of-thought node.
///
/// The serialised form has the field names of PocketFlow's thinking cookbook (`problem`,
/// `thoughts`, `current_thought_number`, `solution`), and `spent` for what the thoughts cost. A
/// state that was read back continues where it stopped.
///
/// Read files with [`from_json`](Self::from_json) or [`from_yaml`](Self::from_yaml): they bound
/// what they read, and their errors are safe to show. `Deserialize` is for states inside a larger
/// value and for trusted text. It has no bounds, and its errors quote the text unchanged.
///
/// In either case, the state must be one that a run could have left: thoughts are numbered from 1,
/// each has a text and a plan, and none follows one that ends the reasoning. There is an answer if
/// and only if the last thought ends the reasoning, and it is that thought's text.
/// `current_thought_number` is the number of thoughts, or one more. If `spent` is missing, it is
/// the sum over the thoughts.
///
/// ```
/// use cogwork_cot::Reasoning;
///
/// let reasoning = Reasoning::new("What is 2 + 2?");
/// let saved = serde_json::to_string(&reasoning)?;
/// assert_eq!(saved, r#"{"problem":"What is 2 + 2?","thoughts":[],"current_thought_number":0,"solution":null}"#);
/// assert_eq!(Reasoning::from_json(&saved)?, reasoning);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reasoning {
    record: ReasoningRecord,
    /// The messages of the thoughts so far: a cache for the requests.
    transcript: Transcript,
}

impl Reasoning {
    /// Creates a state without any thoughts.
    pub fn new(problem: impl Into<String>) -> Self {
        ReasoningRecord::new(problem.into()).into()
    }

    /// Reads a state saved as JSON, of at most 64 MiB.
    ///
    /// # Errors
    ///
    /// A [`TextError`] if the text is longer, is not JSON, or is not a state that a run could have
    /// left; see [`Reasoning`].
    pub fn from_json(text: &str) -> Result<Self, TextError> {
        saved::from_json(text).map(Self::from)
    }

    /// Reads a state saved as YAML, of at most 4 MiB.
    ///
    /// # Errors
    ///
    /// A [`TextError`] if the text is longer, is not YAML, is not a state that a run could have
    /// left, or uses YAML that [`Reply::read`](crate::Reply::read) refuses, some of which would
    /// keep the YAML library busy for minutes.
    pub fn from_yaml(text: &str) -> Result<Self, TextError> {
        saved::from_yaml(text).map(Self::from)
    }

    /// Returns the problem.
    pub fn problem(&self) -> &str {
        &self.record.problem
    }

    /// Returns the thoughts so far, in order.
    pub fn thoughts(&self) -> &[Thought] {
        &self.record.thoughts
    }

    /// Returns the number of the thought that is being made, or of the last one made; 0 before the
    /// first.
    pub fn current_thought_number(&self) -> u32 {
        self.record.current_thought_number
    }

    /// Returns the text of the last thought, which brought the conclusion, once there is one.
    pub fn answer(&self) -> Option<&str> {
        self.record.answer.as_deref()
    }

    /// Returns the conclusion in a few words, once there is an answer: the result of the last step
    /// of the plan, if the model gave it one.
    pub fn conclusion(&self) -> Option<&str> {
        self.answer()?;
        let last_step = self.plan()?.steps().last()?;
        last_step.result.as_deref()
    }

    /// Returns the plan as the last thought left it.
    pub fn plan(&self) -> Option<&Plan> {
        self.record.plan()
    }

    /// Returns the plan as the last but one thought left it.
    pub fn previous_plan(&self) -> Option<&Plan> {
        self.thoughts().iter().nth_back(1).map(Thought::planning)
    }

    /// Returns what all thoughts together have cost.
    pub fn spent(&self) -> Spent {
        self.record.spent
    }

    /// Adds what a failed turn has cost, which only its error knows. If the state is used for
    /// another run after the error, its limits then hold.
    ///
    /// A flow-level `retry` keeps only the last error, and with it only the cost of the last
    /// attempt.
    pub fn charge(&mut self, error: &CotError) {
        self.record.spent += error.spent();
    }

    pub(crate) fn begin_thought(&mut self) -> u32 {
        self.record.begin_thought()
    }

    pub(crate) fn push(&mut self, thought: Thought) {
        self.record.push(thought);
    }

    /// Returns the record, and the cache of its messages.
    pub(crate) fn parts(&mut self) -> (&ReasoningRecord, &mut Transcript) {
        (&self.record, &mut self.transcript)
    }
}

impl From<ReasoningRecord> for Reasoning {
    fn from(record: ReasoningRecord) -> Self {
        Self {
            record,
            transcript: Transcript::default(),
        }
    }
}

impl PartialEq for Reasoning {
    /// Compares the records; the cache does not count.
    fn eq(&self, other: &Self) -> bool {
        self.record == other.record
    }
}

impl Serialize for Reasoning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Reasoning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ReasoningRecord::deserialize(deserializer).map(Self::from)
    }
}
