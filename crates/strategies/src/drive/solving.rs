use std::collections::BTreeMap;

use cogwork_llm::{Message, Messages};
use cogwork_typed::ask::{Format, FormatRefusal, Meter, Repair, Spent, Try};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, EndReason, SolveOptions, ask};
use crate::{
    EndRule, Session, SessionError, SessionPolicy, Strategy, Thought, ThoughtDraft, ThoughtId,
};

/// The state of a run. It is the state of the flow of a [`Solver`](super::Solver).
///
/// It serialises, so that runs can be recorded and saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Solving {
    pub(super) problem: String,
    pub(super) session: Session,
    pub(super) transcript: Messages,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) notes: BTreeMap<String, Value>,
    pub(super) calls: Vec<Call>,
    /// The cost of the turns that have ended.
    pub(super) spent: Spent,
    /// The cost of the attempts at the next turn, which didn't end it.
    #[serde(default, skip_serializing_if = "Meter::is_zero")]
    pub(super) failed: Meter,
    pub(super) best: Option<Answer>,
    pub(super) end: Option<EndReason>,
    #[serde(skip)]
    pub(super) options: SolveOptions,
}

/// A call in the trace of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Call {
    /// A call to the model.
    Model {
        /// The stage of the question.
        stage: String,
        /// The name of the question. It is empty unless several questions were asked at the same
        /// time.
        name: String,
        /// The raw replies.
        tries: Vec<Try>,
        /// The form in which the last reply was requested.
        #[serde(default, skip_serializing_if = "Format::is_default")]
        format: Format,
        /// The forms that the server refused, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refusals: Vec<FormatRefusal>,
        /// What was corrected so that the last reply could be read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<Repair>,
        /// Why no reply could be used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// A call of a tool.
    Tool {
        /// The stage of the call.
        stage: String,
        /// The id of the call.
        id: String,
        /// The name of the tool.
        tool: String,
        /// The input.
        input: Value,
        /// The output, or a description of the failure.
        output: String,
        /// Whether the call failed.
        failed: bool,
    },
}

impl Solving {
    pub(super) fn new(
        strategy: Strategy,
        problem: String,
        opening: impl IntoIterator<Item = Message>,
    ) -> Self {
        // A run whose budget is spent ends its session early. All other moves must follow the
        // table.
        let policy = SessionPolicy {
            early_end: EndRule::Allow,
            ..SessionPolicy::default()
        };
        Self {
            problem,
            session: Session::with_policy(strategy, policy),
            transcript: opening.into_iter().collect(),
            notes: BTreeMap::new(),
            calls: Vec::new(),
            spent: Spent::default(),
            failed: Meter::default(),
            best: None,
            end: None,
            options: SolveOptions::default(),
        }
    }

    /// Sets the settings of the run, which replace those of the solver. By default, the solver's
    /// settings apply.
    #[must_use]
    pub fn with_options(mut self, options: SolveOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns the problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns the session with the thoughts.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session mutably, so that a driver can add thoughts.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Returns the conversation with the model so far: instructions, problem, questions and
    /// replies.
    pub fn transcript(&self) -> &Messages {
        &self.transcript
    }

    /// Adds a message to the conversation. Two consecutive plain user messages are merged into one,
    /// because some servers refuse consecutive messages with the same role.
    pub fn add_message(&mut self, message: Message) {
        ask::add_message(&mut self.transcript, message);
    }

    /// Returns a note. Notes are values that a driver keeps from one stage to the next.
    pub fn note(&self, name: &str) -> Option<&Value> {
        self.notes.get(name)
    }

    /// Sets a note.
    pub fn set_note(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.notes.insert(name.into(), value.into());
    }

    /// Removes a note, and returns it.
    pub fn take_note(&mut self, name: &str) -> Option<Value> {
        self.notes.remove(name)
    }

    /// Adds a thought to the current branch, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`Session::think`].
    pub fn think(&mut self, draft: ThoughtDraft) -> Result<ThoughtId, SessionError> {
        self.session.think(draft)
    }

    /// Returns the last thought on the current branch that is in `stage`.
    pub fn last_at(&self, stage: &str) -> Option<&Thought> {
        self.path().find(|thought| thought.stage() == stage)
    }

    /// Returns the thoughts from the last one of the current branch back to the first.
    pub fn path(&self) -> impl Iterator<Item = &Thought> {
        let tip = self
            .session
            .branch(self.session.current())
            .ok()
            .and_then(|branch| branch.tip());
        self.session.path(tip)
    }

    /// Returns the calls so far.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the cost so far, including that of attempts that failed.
    pub fn spent(&self) -> Spent {
        let mut spent = self.spent;
        spent += self.failed.spent();
        spent
    }

    /// Returns the best answer so far.
    pub fn best(&self) -> Option<&Answer> {
        self.best.as_ref()
    }

    /// Returns why the run ended, or `None` if it hasn't ended yet.
    pub fn end(&self) -> Option<&EndReason> {
        self.end.as_ref()
    }
}
