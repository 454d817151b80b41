mod questions;
mod tree;

use std::fmt;
use std::sync::Arc;

use cogwork_tools::Tools;

use self::tree::Tree;
use super::shared::{ask_for_answer, respond};
use crate::{Answer, Method, Solve, Stop, Strategy, StrategyName};

/// Develops several approaches as branches, step by step, scores them, and follows the best ones
/// (Yao et al. 2023).
///
/// The model names approaches and how promising each one is, and the best of them become branches.
/// In each round, the model proposes next steps for several branches concurrently, and each
/// different proposal becomes a branch. The branches are scored from 0 to 10, those below the
/// [threshold](Self::threshold) are pruned, and the [`Search`] chooses which ones are
/// developed next. The search ends with a branch that contains the complete solution, or if the
/// best branch has reached the maximum [depth](Self::depth) or has no next step. If no
/// branches are left, the remaining approaches are tried. If none of those are left either, the run
/// gives up.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method |
/// | `approach_exploration` | the model: the approaches |
/// | `branch_creation` | the method |
/// | `branch_development` | the model, for all branches concurrently |
/// | `branch_evaluation` | the model, for all branches concurrently, or a [function](Evaluator::check) |
/// | `branch_selection`, `continuation_decision` | the method |
/// | `solution_formulation` | the model: the steps as a solution, and the answer |
/// | `path_justification`, `final_response` | the method: the scores, and the answer |
///
/// If a run is stopped earlier, its best answer is the content of the branch with the highest
/// score.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::Solver;
/// use cogwork_strategies::methods::{Search, TreeOfThoughts};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     r#"approaches: [{"id": "A", "description": "tens first", "promise": 8},
///         {"id": "B", "description": "add it up", "promise": 5}]"#,
///     "10 * 3 + 7 * 3 = 51",
///     "evaluation_score: 10\nsolved: yes",
///     "17 * 3 = 30 + 21 = 51.\nanswer: 51",
/// ]);
/// let method = TreeOfThoughts {
///     search: Search::DepthFirst,
///     proposals: 1,
///     ..TreeOfThoughts::default()
/// };
/// let solved = Solver::new(client, method).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TreeOfThoughts {
    /// Which branches are developed next. The default is breadth first, with a beam of 2.
    pub search: Search,
    /// The number of approaches, from 1 to 20. The default is 3.
    pub approaches: usize,
    /// The maximum number of next steps that are proposed for a branch, from 1 to 20. With 1, the
    /// model takes the step directly. The default is 3.
    pub proposals: usize,
    /// The maximum number of steps of a branch, from 1 to 50. The default is 3.
    pub depth: usize,
    /// The score below which a branch is pruned, from 0 to 10. The default is 2.
    pub threshold: f64,
    /// How branches are scored. By default, the model scores each branch once.
    pub evaluation: Evaluator,
}

impl Default for TreeOfThoughts {
    /// The default settings. With them, a run makes at most 26 calls if the first approaches lead to
    /// a solution and 46 if none does, plus the calls that ask again.
    fn default() -> Self {
        Self {
            search: Search::BreadthFirst { beam_width: 2 },
            approaches: 3,
            proposals: 3,
            depth: 3,
            threshold: 2.0,
            evaluation: Evaluator::Values(1),
        }
    }
}

/// The maximum number of approaches, proposals or values in one round.
const MOST: usize = 20;

/// Determines which branches are developed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Search {
    /// All branches of a level. Only the best ones are kept.
    BreadthFirst {
        /// The number of branches that are kept, and of approaches that are opened at once, from 1
        /// to 20.
        beam_width: usize,
    },
    /// The best of the deepest branches. If all its next steps are pruned, the search goes back to
    /// the next best branch towards the root, and then to the next approach.
    DepthFirst,
    /// The branch with the highest score at any depth. An approach that hasn't been opened yet is
    /// ranked by its promise.
    BestFirst,
}

/// How branches are scored.
#[derive(Clone)]
#[non_exhaustive]
pub enum Evaluator {
    /// The model scores each branch separately, from 1 to 20 times, and the mean counts.
    Values(usize),
    /// A program scores each branch. See [`check`](Self::check).
    Check(Check),
}

type Check = Arc<dyn Fn(&str, &[&str]) -> Worth + Send + Sync>;

impl Evaluator {
    /// Scores the branches with a function instead of the model.
    ///
    /// `check` is called with the problem, and with the approach followed by the steps. It must be
    /// deterministic.
    ///
    /// ```
    /// use cogwork_strategies::methods::{Evaluator, TreeOfThoughts, Worth};
    ///
    /// let evaluation = Evaluator::check(|_problem, steps| match steps.last() {
    ///     Some(step) if step.ends_with("= 24") => Worth::solved(),
    ///     Some(step) if step.contains("left:") => Worth::new(5.0),
    ///     _ => Worth::hopeless(),
    /// });
    /// let method = TreeOfThoughts { evaluation, ..TreeOfThoughts::default() };
    /// ```
    pub fn check(check: impl Fn(&str, &[&str]) -> Worth + Send + Sync + 'static) -> Self {
        Self::Check(Arc::new(check))
    }
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(times) => write!(f, "Values({times})"),
            Self::Check(_) => f.write_str("Check(..)"),
        }
    }
}

/// The score of a branch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    score: f64,
    is_solved: bool,
}

impl Worth {
    /// Creates a score, clamped to the range from 0 to 10. NaN becomes 0.
    pub fn new(score: f64) -> Self {
        Self {
            // The larger one of a number and NaN is the number.
            score: score.max(0.0).clamp(0.0, 10.0),
            is_solved: false,
        }
    }

    /// Creates the score of a branch that contains the complete solution.
    pub fn solved() -> Self {
        Self {
            score: 10.0,
            is_solved: true,
        }
    }

    /// Creates the score of a branch that should be abandoned.
    pub fn hopeless() -> Self {
        Self::new(0.0)
    }
}

impl Method for TreeOfThoughts {
    fn strategy(&self) -> Strategy {
        StrategyName::TreeOfThoughts.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is \
         followed. Each message asks for one part of that work. Do what it asks and nothing else."
            .to_owned()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;

        let mut tree = Tree::explore(self.clone(), cx)?;
        let mut leaves = tree.open(cx)?;
        // A tree always ends: its depth is limited, and repeated steps are ignored.
        while !leaves.is_empty() {
            let grown = tree.develop(cx, leaves)?;
            let judged = tree.evaluate(cx, grown)?;
            leaves = tree.choose(cx, judged)?;
        }

        let question = questions::solution(tree.best_steps());
        let answer = ask_for_answer(cx, "solution_formulation", question)?;
        cx.think("path_justification", tree.justification())?;
        respond(cx, answer)
    }
}
