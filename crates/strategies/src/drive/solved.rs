use std::fmt;

use cogwork_plan::Plan;
use cogwork_text::{Name, OneLine};
use serde::Serialize;

use super::{Answer, Call, EndReason, Solving};
use crate::Session;
use crate::Spent;

/// The result of a run, which has the same form for all strategies.
#[derive(Debug, Clone, Serialize)]
pub struct Solved {
    answer: Option<Answer>,
    end: EndReason,
    spent: Spent,
    trace: SolveTrace,
}

/// How an answer was found: the thoughts, the calls, and the plan if there is one.
///
/// [`Display`](fmt::Display) writes the thoughts in lines.
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
        let spent = solving.spent();
        let Solving {
            problem,
            session,
            calls,
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

    /// Returns the answer. If the run was stopped, this is the best answer so far, if there is one.
    pub fn answer(&self) -> Option<&str> {
        self.answer.as_ref().map(|answer| answer.text.as_str())
    }

    /// Returns the confidence in the answer, from 0 to 1, if the strategy provides one.
    pub fn confidence(&self) -> Option<f64> {
        self.answer.as_ref().and_then(|answer| answer.confidence)
    }

    /// Returns why the run ended.
    pub fn end(&self) -> &EndReason {
        &self.end
    }

    /// Returns whether the strategy reached its final stage with an answer. A refusal isn't one; see
    /// [`no_answer`](cogwork_typed::ask::no_answer). If not, the answer is the best one so far, and
    /// [`end`](Self::end) is the reason.
    pub fn is_answered(&self) -> bool {
        self.end == EndReason::Answered
    }

    /// Returns the cost of the run.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Returns how the answer was found.
    pub fn trace(&self) -> &SolveTrace {
        &self.trace
    }
}

impl SolveTrace {
    /// Returns the name of the strategy.
    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    /// Returns the problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns the session with the thoughts.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the calls to the model and to tools, with the raw replies.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the plan, if the strategy has one.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }
}

impl fmt::Display for SolveTrace {
    /// Writes a line for each thought: its number, its branch unless that is `main`, its stage, its
    /// text and its parameters. Each text is on one line and truncated after 200 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for thought in self.session.thoughts() {
            write!(f, "{:>3} ", thought.id())?;
            match self.session.branch(thought.branch()) {
                Ok(branch) if branch.id() != crate::BranchId::MAIN => {
                    write!(f, "[{}] ", Name(branch.name()))?
                }
                _ => {}
            }

            write!(f, "{}: {}", thought.stage(), line(thought.text()))?;

            // A parameter that repeats the text is left out.
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

/// The maximum number of characters of a text.
const MOST: usize = 200;

fn line<T>(text: T) -> OneLine<T> {
    OneLine::new(text).with_max_chars(MOST)
}
