use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::watch::report_from;
use cogwork_text::{Name, OneLine};
use cogwork_typed::ask::{Limit, Meter, Spent};
use serde::{Deserialize, Serialize};

use super::context::Batch;
use super::context::TIMES;
use super::solving_event::{SOURCE, SolvingEvent};
use super::{Asked, Call, conclusion};
use crate::Strategy;
use crate::session::{BranchId, Session};

/// A run of a [`Solver`](super::Solver), with its answer: the result of `solve`, and the state of the
/// flow.
///
/// It consists of the problem and the calls with their outcomes. The rest follows from them, and is
/// kept for readers. It serialises, so that runs can be recorded and saved, and is displayed as the
/// thoughts in lines.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Solving {
    pub(super) problem: String,
    pub(super) calls: Vec<Call>,
    pub(super) session: Session,
    /// The cost of the steps that have ended.
    pub(super) spent: Spent,
    /// The cost of the attempts at the next step, which didn't end it.
    #[serde(default, skip_serializing_if = "Meter::is_zero")]
    pub(super) failed: Meter,
    pub(super) best: Option<Answer>,
    /// Whether the best answer isn't one that the model gave.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_guess: bool,
    /// The limit that was reached, after which only the conclusion is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) over: Option<Limit>,
    pub(super) end: Option<EndReason>,
    /// The calls that the method waits for, unless the state was read.
    #[serde(skip)]
    pub(super) next: Option<Arc<Batch>>,
    /// How long the method took, which counts as time of the next step.
    #[serde(skip)]
    pub(super) worked: Duration,
}

impl Solving {
    pub(super) fn new(strategy: Strategy, problem: String) -> Self {
        Self {
            problem,
            calls: Vec::new(),
            session: Session::new(strategy),
            spent: Spent::default(),
            failed: Meter::default(),
            best: None,
            is_guess: false,
            over: None,
            end: None,
            next: None,
            worked: Duration::ZERO,
        }
    }

    /// Forgets what follows from the calls, and returns the session before.
    pub(super) fn begin_again(&mut self, strategy: &Strategy) -> Session {
        self.best = None;
        self.is_guess = false;
        std::mem::replace(&mut self.session, Session::new(strategy.clone()))
    }

    /// Returns whether the method goes on.
    pub(super) fn is_open(&self) -> bool {
        self.over.is_none() && self.end.is_none()
    }

    /// Ends the run with the best answer that the conclusion, if there is one, or the method gave.
    pub(super) fn conclude(&mut self, limit: Limit, conclusion: Vec<Call>) {
        for call in conclusion {
            if let Call::Model(Asked {
                reply: Ok(reply), ..
            }) = &call
            {
                // An empty conclusion is worth less than a guess.
                self.best = conclusion::answer(reply).or(self.best.take());
            }
            // A question that the limits didn't allow was not asked.
            if call.last_reply().is_some() {
                self.calls.push(call);
            }
        }
        self.end_with(EndReason::OutOf { limit });
    }

    pub(super) fn end_with(&mut self, reason: EndReason) {
        report_from(SOURCE, || SolvingEvent::Ended {
            reason: reason.clone(),
            answer: self.answer().map(str::to_owned),
        });
        self.end = Some(reason);
    }

    /// Returns the problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns the session with the thoughts.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the calls so far, with the raw replies.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the cost so far, including that of attempts that failed.
    pub fn spent(&self) -> Spent {
        let mut spent = self.spent;
        // Failed attempts cost money, too, even if they are not part of a step.
        spent += self.failed.spent();
        spent
    }

    /// Returns the answer. If the run was stopped or hasn't ended yet, this is the best answer so far,
    /// if there is one.
    pub fn answer(&self) -> Option<&str> {
        self.best.as_ref().map(|answer| answer.text.as_str())
    }

    /// Returns the confidence in the answer, from 0 to 1, if the strategy provides one.
    pub fn confidence(&self) -> Option<f64> {
        self.best.as_ref()?.confidence
    }

    /// Returns whether the strategy reached its final stage with an answer. A refusal isn't one; see
    /// [`no_answer`](cogwork_typed::ask::no_answer). If not, the answer is the best one so far, and
    /// [`end`](Self::end) is the reason.
    pub fn is_answered(&self) -> bool {
        self.end == Some(EndReason::Answered)
    }

    /// Returns why the run ended, or `None` if it hasn't ended yet.
    pub fn end(&self) -> Option<&EndReason> {
        self.end.as_ref()
    }
}

impl fmt::Display for Solving {
    /// Writes a line for each thought: its number, its branch unless that is `main`, its stage, its
    /// text and its parameters. Each text is on one line and truncated after 200 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for thought in self.session.thoughts() {
            write!(f, "{:>3} ", thought.id)?;
            match self.session.branch(thought.branch) {
                Ok(branch) if branch.id != BranchId::MAIN => {
                    write!(f, "[{}] ", Name(&branch.name))?;
                }
                _ => {}
            }

            writeln!(f, "{}", thought.line(MOST))?;
        }

        Ok(())
    }
}

/// The maximum number of characters of a text.
const MOST: usize = 200;

/// An answer to the problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// The confidence in the answer, from 0 to 1, if the strategy provides one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl<T: Into<String>> From<T> for Answer {
    /// Returns an answer without a confidence.
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            confidence: None,
        }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndReason {
    /// The strategy reached its final stage.
    Answered,
    /// A limit was reached.
    OutOf {
        /// The limit.
        limit: Limit,
    },
    /// The [session](Session) was full.
    SessionFull {
        /// The limit, such as `1000 branches`.
        limit: String,
    },
    /// The thoughts repeated.
    NoProgress {
        /// The stage in which the repetition was detected.
        stage: String,
    },
    /// The strategy gave up.
    GaveUp {
        /// The reason.
        why: String,
    },
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("answered"),
            Self::OutOf { limit } => write!(f, "the budget of {limit} is spent"),
            Self::SessionFull { limit } => {
                write!(f, "the session has reached its limit of {limit}")
            }
            Self::NoProgress { stage } => {
                let repeated = format_args!("the thoughts repeated {TIMES} times");
                let stage = Name(stage);
                write!(f, "no progress: {repeated} up to the stage `{stage}`")
            }
            Self::GaveUp { why } => write!(f, "given up: {}", OneLine::new(why)),
        }
    }
}
