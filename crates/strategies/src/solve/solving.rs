use std::fmt;

use cogwork_plan::Plan;
use cogwork_text::{Name, OneLine};
use cogwork_typed::ask::{Limits, Meter, Spent};
use serde::{Deserialize, Serialize};

use super::context::Advanced;
use super::{Answer, Call, EndReason};
use crate::{BranchId, Session, Strategy};

/// The state of a run. It is the state of the flow of a [`Solver`](super::Solver).
///
/// It consists of the problem and the calls with their outcomes. The rest follows from them, and is
/// kept for readers. It serialises, so that runs can be recorded and saved.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<Plan>,
    pub(super) end: Option<EndReason>,
    #[serde(skip)]
    pub(super) limits: Limits,
    /// What follows, unless the options have changed since.
    #[serde(skip)]
    pub(super) next: Option<Advanced>,
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
            plan: None,
            end: None,
            limits: Limits::default(),
            next: None,
        }
    }

    /// Sets limits for the run. The others are those of the solver. They aren't serialised.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self.next = None;
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

    /// Returns the plan, if the strategy has one.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Returns the calls so far, with the raw replies.
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

impl fmt::Display for Solving {
    /// Writes a line for each thought: its number, its branch unless that is `main`, its stage, its
    /// text and its parameters. Each text is on one line and truncated after 200 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for thought in self.session.thoughts() {
            write!(f, "{:>3} ", thought.id())?;
            match self.session.branch(thought.branch()) {
                Ok(branch) if branch.id() != BranchId::MAIN => {
                    write!(f, "[{}] ", Name(branch.name()))?;
                }
                _ => {}
            }

            write!(f, "{}: {}", thought.stage(), line(thought.text()))?;

            for (name, value) in thought.details() {
                write!(f, " · {name} = {}", line(value))?;
            }

            f.write_str("\n")?;
        }

        Ok(())
    }
}

/// The maximum number of characters of a text.
const MOST: usize = 200;

fn line<T>(text: T) -> OneLine<T> {
    OneLine::new(text).with_max_chars(MOST)
}
