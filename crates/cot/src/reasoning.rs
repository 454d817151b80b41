mod error;
mod read;

pub use error::StateError;

use std::sync::Arc;
use std::time::Duration;

use cogwork_llm::{Messages, Usage};
use cogwork_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::prompt::Transcript;
use crate::{CotError, History, Prompts, Refusal, Repair, Reply, Rung};

/// A problem, the thoughts on it so far, and the solution when there is one: the state of the
/// chain-of-thought node.
///
/// Its serialised form has the field names of PocketFlow's thinking cookbook (`problem`, `thoughts`,
/// `current_thought_number`, `solution`), and beside them what the thoughts cost. A state read
/// back goes on where it stopped.
///
/// Read files with [`from_json`](Self::from_json) or [`from_yaml`](Self::from_yaml), which bound what
/// they read and whose errors are safe to show. `Deserialize` is there for states that are part of a
/// larger value, and for text that one has written oneself: it bounds nothing, and its errors quote
/// the text as it is.
///
/// However it is read, a state must be one that a run could have left: thoughts numbered from 1, each
/// with a text and a plan, none after one that ends the reasoning; a solution if and only if the last
/// thought ends it, and then the same text; a `current_thought_number` that is the number of thoughts
/// or one more. Where `spent` is missing it is the sum over the thoughts.
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
#[derive(Debug, Clone, Serialize)]
pub struct Reasoning {
    problem: String,
    thoughts: Vec<Thought>,
    current_thought_number: u32,
    solution: Option<String>,
    #[serde(skip_serializing_if = "Spent::is_nothing")]
    spent: Spent,
    #[serde(skip)]
    transcript: Transcript,
}

/// What thoughts have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Spent {
    /// Tokens, as the client reported them.
    #[serde(default)]
    pub usage: Usage,
    /// Tokens guessed for replies whose client reported none: one for every four bytes of text
    /// read and written.
    #[serde(default)]
    pub estimated_tokens: u64,
    /// Time in `exec`.
    #[serde(default, with = "seconds", rename = "seconds")]
    pub time: Duration,
}

impl Spent {
    /// Tokens reported and guessed: what the limit of tokens is held against.
    pub fn tokens(&self) -> u64 {
        self.usage.total_tokens().saturating_add(self.estimated_tokens)
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.estimated_tokens = self.estimated_tokens.saturating_add(other.estimated_tokens);
        self.time = self.time.saturating_add(other.time);
    }
}

/// One thought: what the model said in one turn, and how it came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thought {
    thought_number: u32,
    current_thinking: String,
    planning: Plan,
    next_thought_needed: bool,
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    trace: Trace,
}

/// How a thought came about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Trace {
    /// Every reply of the turn in order. The one without a complaint became the thought; where all
    /// have one, the conclusion that the model was asked about did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<Try>,
    /// What the turn cost, all tries together.
    #[serde(skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
    /// The thought ends the reasoning although steps of its plan are not done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended_early: bool,
    /// What was repaired in the reply that became the thought.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// The reply ends in the middle of a step, which was left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// How the last reply was asked for.
    #[serde(skip_serializing_if = "Rung::is_default")]
    pub rung: Rung,
    /// The forms that the server refused in this turn, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
}

impl Trace {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One reply of the model, and what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// The model's raw text.
    pub reply: String,
    /// Why the model was asked again; `None` for a reply that was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
}

impl Reasoning {
    /// A problem nobody has thought about yet.
    pub fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            thoughts: Vec::new(),
            current_thought_number: 0,
            solution: None,
            spent: Spent::default(),
            transcript: Transcript::default(),
        }
    }

    /// The problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The thoughts so far, in order.
    pub fn thoughts(&self) -> &[Thought] {
        &self.thoughts
    }

    /// The number of the thought being made, or of the last one made; 0 before the first.
    pub fn current_thought_number(&self) -> u32 {
        self.current_thought_number
    }

    /// The last thought, which brought the conclusion, once there is one.
    pub fn solution(&self) -> Option<&str> {
        self.solution.as_deref()
    }

    /// The conclusion in a few words, once there is a solution: the result of the last step of the
    /// plan, if the model gave it one.
    pub fn conclusion(&self) -> Option<&str> {
        self.solution.as_ref()?;
        self.plan()?.steps().last()?.result.as_deref()
    }

    /// The plan as the last thought left it.
    pub fn plan(&self) -> Option<&Plan> {
        self.thoughts.last().map(Thought::planning)
    }

    /// The plan as the last but one thought left it.
    pub fn previous_plan(&self) -> Option<&Plan> {
        self.thoughts.iter().nth_back(1).map(Thought::planning)
    }

    /// What the thoughts have cost, all together.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Counts what a failed turn has cost, which only its error knows: a state that is to go on
    /// after the error then keeps to its limits. A wrapper that makes turns again (`retry` of
    /// flows) drops the errors before the last, and what they cost with them.
    pub fn charge(&mut self, error: &CotError) {
        self.spent += error.spent();
    }

    pub(crate) fn begin_thought(&mut self) -> u32 {
        // From the thoughts there are, so that a repeated turn does not count twice.
        let number = u32::try_from(self.thoughts.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.current_thought_number = number;
        number
    }

    /// The messages that ask for the next thought, in JSON or in YAML.
    pub(crate) fn conversation(&mut self, prompts: &Arc<Prompts>, history: History, json: bool) -> Messages {
        self.transcript.conversation(prompts, &self.problem, &self.thoughts, history, json)
    }

    pub(crate) fn push(&mut self, thought: Thought) {
        self.spent += thought.trace.spent;
        if !thought.next_thought_needed {
            self.solution = Some(thought.current_thinking.clone());
        }
        self.thoughts.push(thought);
    }
}

impl PartialEq for Reasoning {
    /// The transcript is a cache and does not count.
    fn eq(&self, other: &Self) -> bool {
        self.problem == other.problem
            && self.thoughts == other.thoughts
            && self.current_thought_number == other.current_thought_number
            && self.solution == other.solution
            && self.spent == other.spent
    }
}

impl Thought {
    /// The thought that a reply makes.
    pub fn new(thought_number: u32, reply: Reply, trace: Trace) -> Self {
        let Reply { current_thinking, planning, next_thought_needed } = reply;
        Self { thought_number, current_thinking, planning, next_thought_needed, trace }
    }

    /// Its number, from 1.
    pub fn thought_number(&self) -> u32 {
        self.thought_number
    }

    /// The evaluation of the thought before and the thinking of this one.
    pub fn current_thinking(&self) -> &str {
        &self.current_thinking
    }

    /// The plan as this thought leaves it.
    pub fn planning(&self) -> &Plan {
        &self.planning
    }

    /// Whether the reasoning goes on after it.
    pub fn next_thought_needed(&self) -> bool {
        self.next_thought_needed
    }

    /// How it came about: every raw reply, what was repaired, what it cost.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

/// A duration as a number of seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| de::Error::custom(format!("{seconds} is not a number of seconds")))
    }
}
