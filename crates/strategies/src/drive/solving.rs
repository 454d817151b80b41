use std::collections::BTreeMap;

use cogwork_ask::{Spent, Try};
use cogwork_llm::{Message, Messages};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, EndReason, ask};
use crate::{
    EndRule, Session, SessionError, SessionPolicy, Strategy, Thought, ThoughtDraft, ThoughtId,
};

/// The state of a run that solves a problem: what a [`Solver`](super::Solver)'s flow works on. It
/// serialises, so runs can be recorded and saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Solving {
    pub(super) problem: String,
    pub(super) session: Session,
    pub(super) transcript: Messages,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) notes: BTreeMap<String, Value>,
    pub(super) calls: Vec<Call>,
    pub(super) spent: Spent,
    pub(super) best: Option<Answer>,
    pub(super) end: Option<EndReason>,
}

/// One call, as the trace keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Call {
    /// Of the model.
    Model {
        /// The stage in which it was asked.
        stage: String,
        /// What told the question from others side by side; empty where there were none.
        name: String,
        /// Its replies, raw.
        tries: Vec<Try>,
        /// Why there is no reply, if so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// Of a tool.
    Tool {
        /// The stage in which it was called.
        stage: String,
        /// The name of the call.
        id: String,
        /// The tool.
        tool: String,
        /// What it was given.
        input: Value,
        /// What it gave, or what went wrong.
        output: String,
        /// Whether it failed.
        failed: bool,
    },
}

impl Solving {
    pub(super) fn new(
        strategy: Strategy,
        problem: String,
        opening: impl IntoIterator<Item = Message>,
    ) -> Self {
        // A run whose budget is spent ends its session early; the table is held to in every other move.
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
            best: None,
            end: None,
        }
    }

    /// The problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The thoughts, on branches, each in its stage.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The thoughts, for a driver to add to.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The conversation with the model so far: instructions, problem, questions and replies.
    pub fn transcript(&self) -> &Messages {
        &self.transcript
    }

    /// Adds to the conversation. Two plain messages of the user in a row become one, since some servers
    /// refuse two of one role.
    pub fn tell(&mut self, message: Message) {
        ask::tell(&mut self.transcript, message);
    }

    /// Something a driver keeps from stage to stage.
    pub fn note(&self, name: &str) -> Option<&Value> {
        self.notes.get(name)
    }

    /// Keeps something from stage to stage.
    pub fn set_note(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.notes.insert(name.into(), value.into());
    }

    /// Takes a note out.
    pub fn take_note(&mut self, name: &str) -> Option<Value> {
        self.notes.remove(name)
    }

    /// Adds a thought to the current branch.
    ///
    /// # Errors
    ///
    /// As [`Session::think`].
    pub fn think(&mut self, draft: ThoughtDraft) -> Result<ThoughtId, SessionError> {
        self.session.think(draft)
    }

    /// The newest thought of the current branch in a stage.
    pub fn last_at(&self, stage: &str) -> Option<&Thought> {
        self.path().find(|thought| thought.stage().name() == stage)
    }

    /// The thoughts from the last one of the current branch back to the first.
    pub fn path(&self) -> impl Iterator<Item = &Thought> {
        let tip = self
            .session
            .branch(self.session.current())
            .ok()
            .and_then(|branch| branch.tip());
        self.session.path(tip)
    }

    /// The calls so far.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// The best answer so far.
    pub fn best(&self) -> Option<&Answer> {
        self.best.as_ref()
    }

    /// Why the run ended, once it has.
    pub fn end(&self) -> Option<&EndReason> {
        self.end.as_ref()
    }
}
