use std::fmt;

use cogwork_plan::Plan;
use cogwork_text::{Name, OneLine};
use serde::Serialize;

use super::{Answer, Call, EndReason, Solving};
use crate::Session;
use crate::Spent;

/// What came of a problem, in one form for all strategies.
#[derive(Debug, Clone, Serialize)]
pub struct Solved {
    answer: Option<Answer>,
    end: EndReason,
    spent: Spent,
    trace: SolveTrace,
}

/// How the answer was found: thoughts, calls, and the plan where there is one.
///
/// [`Display`](fmt::Display) writes the thoughts in lines, for people.
#[derive(Debug, Clone, Serialize)]
pub struct SolveTrace {
    strategy: String,
    problem: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
    session: Session,
    calls: Vec<Call>,
}

impl Solved {
    pub(super) fn new(solving: Solving, plan: Option<Plan>) -> Self {
        let Solving {
            problem,
            session,
            calls,
            spent,
            best,
            end,
            ..
        } = solving;

        let strategy = session.strategy().name().to_owned();
        let end = end.unwrap_or_else(|| EndReason::GaveUp {
            why: "the run was given up".to_owned(),
        });
        Self {
            answer: best,
            end,
            spent,
            trace: SolveTrace {
                strategy,
                problem,
                plan,
                session,
                calls,
            },
        }
    }

    /// The answer; where the run was stopped, the best there was, if there was one.
    pub fn answer(&self) -> Option<&str> {
        self.answer.as_ref().map(|answer| answer.text.as_str())
    }

    /// How sure the answer is, from 0 to 1, in strategies that can tell.
    pub fn confidence(&self) -> Option<f64> {
        self.answer.as_ref().and_then(|answer| answer.confidence)
    }

    /// Why the run ended.
    pub fn end(&self) -> &EndReason {
        &self.end
    }

    /// Whether the strategy came to its final stage.
    pub fn is_answered(&self) -> bool {
        self.end == EndReason::Answered
    }

    /// What it cost.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// How it was found.
    pub fn trace(&self) -> &SolveTrace {
        &self.trace
    }
}

impl SolveTrace {
    /// The name of the strategy.
    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    /// The problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The thoughts, on branches, each in its stage.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The calls of the model and of tools, with the raw replies.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The plan, in strategies that have one.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }
}

impl fmt::Display for SolveTrace {
    /// A line for each thought: its number, its branch where that is not `main`, its stage, its text with
    /// its parameters. Texts are one line each, cut after 200 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for thought in self.session.thoughts() {
            write!(f, "{:>3} ", thought.id())?;
            match self.session.branch(thought.branch()) {
                Ok(branch) if branch.id() != crate::BranchId::MAIN => {
                    write!(f, "[{}] ", Name(branch.name()))?
                }
                _ => {}
            }

            write!(f, "{}: {}", thought.stage().name(), line(thought.text()))?;

            // What the text says already is not said twice.
            for (name, value) in thought
                .parameters()
                .filter(|(_, value)| value.as_str() != Some(thought.text()))
            {
                match value.as_str() {
                    Some(text) => write!(f, " · {name} = {}", line(text))?,
                    None => write!(f, " · {name} = {}", line(value))?,
                }
            }

            f.write_str("\n")?;
        }

        Ok(())
    }
}

/// Characters shown of a text.
const MOST: usize = 200;

fn line<T>(text: T) -> OneLine<T> {
    OneLine::new(text).with_max_chars(MOST)
}
