use std::fmt;
use std::sync::Arc;

/// Develops several approaches as branches, step by step, scores them, and follows the best ones
/// (Yao et al. 2023).
///
/// The model names approaches and how promising each one is, and the best of them become branches.
/// In each round, the model proposes next steps for several branches concurrently, and each
/// different proposal becomes a branch. The branches are scored from 0 to 10, those below the
/// [threshold](Self::with_threshold) are pruned, and the [`Search`] chooses which ones are
/// developed next. The search ends with a branch that contains the complete solution, or if the
/// best branch has reached the maximum [depth](Self::with_depth) or has no next step. If no
/// branches are left, the remaining approaches are tried. If none of those are left either, the run
/// gives up.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method |
/// | `approach_exploration` | the model: the approaches |
/// | `branch_creation` | the method |
/// | `branch_development` | the model, for all branches concurrently |
/// | `branch_evaluation` | the model, for all branches concurrently, or a [function](Self::with_check) |
/// | `branch_selection`, `continuation_decision` | the method |
/// | `solution_formulation` | the model: the steps as a solution, and the answer |
/// | `path_justification`, `final_response` | the method: the scores, and the answer |
///
/// If a run is stopped earlier, its best answer is the content of the branch with the highest
/// score.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Search, Solver, TreeOfThoughts};
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
/// let method = TreeOfThoughts::new().with_search(Search::DepthFirst).with_proposals(1);
/// let solved = Solver::new(client, method).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TreeOfThoughts {
    pub(super) search: Search,
    pub(super) approaches: usize,
    pub(super) proposals: usize,
    pub(super) depth: usize,
    pub(super) threshold: f64,
    pub(super) evaluation: Evaluation,
}

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

/// The score of a branch as determined by a program. See [`TreeOfThoughts::with_check`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    score: f64,
    solved: bool,
}

impl Worth {
    /// Creates a score, clamped to the range from 0 to 10. NaN becomes 0.
    pub fn new(score: f64) -> Self {
        let score = if score.is_nan() {
            0.0
        } else {
            score.clamp(0.0, 10.0)
        };
        Self {
            score,
            solved: false,
        }
    }

    /// Creates the score of a branch that contains the complete solution.
    pub fn solved() -> Self {
        Self {
            score: 10.0,
            solved: true,
        }
    }

    /// Creates the score of a branch that should be abandoned.
    pub fn hopeless() -> Self {
        Self::new(0.0)
    }

    pub(super) fn or_solved(self, solved: bool) -> Self {
        Self { solved, ..self }
    }

    /// Returns the score, from 0 to 10.
    pub fn score(self) -> f64 {
        self.score
    }

    /// Returns whether the branch contains the complete solution.
    pub(super) fn is_solved(self) -> bool {
        self.solved
    }
}

/// How branches are scored.
#[derive(Clone)]
pub(super) enum Evaluation {
    /// The model scores each branch separately, this many times.
    Values(usize),
    /// The model compares all branches, with this many votes.
    Votes(usize),
    /// A program scores each branch.
    Check(Check),
}

pub(super) type Check = Arc<dyn Fn(&str, &[&str]) -> Worth + Send + Sync>;

/// The maximum number of approaches, proposals, values or votes in one round.
const MOST: usize = 20;

impl Default for TreeOfThoughts {
    fn default() -> Self {
        Self {
            search: Search::BreadthFirst { beam_width: 2 },
            approaches: 3,
            proposals: 3,
            depth: 3,
            threshold: 2.0,
            evaluation: Evaluation::Values(1),
        }
    }
}

impl fmt::Debug for TreeOfThoughts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeOfThoughts")
            .field("search", &self.search)
            .field("approaches", &self.approaches)
            .field("proposals", &self.proposals)
            .field("depth", &self.depth)
            .field("threshold", &self.threshold)
            .finish_non_exhaustive()
    }
}

impl TreeOfThoughts {
    /// Creates a method with the default settings. It makes at most 26 calls if the first
    /// approaches lead to a solution and 46 if none does, plus the calls that ask again.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which branches are developed next. The default is breadth first, with a beam of 2.
    #[must_use]
    pub fn with_search(mut self, search: Search) -> Self {
        self.search = match search {
            Search::BreadthFirst { beam_width } => Search::BreadthFirst {
                beam_width: beam_width.clamp(1, MOST),
            },
            other => other,
        };
        self
    }

    /// Sets the number of approaches, from 1 to 20. The default is 3.
    #[must_use]
    pub fn with_approaches(mut self, approaches: usize) -> Self {
        self.approaches = approaches.clamp(1, MOST);
        self
    }

    /// Sets the maximum number of next steps that are proposed for a branch, from 1 to 20. With 1,
    /// the model takes the step directly. The default is 3.
    #[must_use]
    pub fn with_proposals(mut self, proposals: usize) -> Self {
        self.proposals = proposals.clamp(1, MOST);
        self
    }

    /// Sets the maximum number of steps of a branch, from 1 to 50. The default is 3.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth.clamp(1, 50);
        self
    }

    /// Sets the score below which a branch is pruned, from 0 to 10. The default is 2.
    #[must_use]
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.threshold = Worth::new(threshold).score();
        self
    }

    /// Makes the model score each branch separately, from 1 to 20 times, and uses the mean. By
    /// default, each branch is scored once.
    #[must_use]
    pub fn with_values(mut self, times: usize) -> Self {
        self.evaluation = Evaluation::Values(times.clamp(1, MOST));
        self
    }

    /// Makes the model compare the branches of a round, from 1 to 20 times, and vote for one of
    /// them. The score of a branch is its share of the votes. A single branch is scored separately.
    ///
    /// Votes work better if it is hard to give an absolute score, for example to prose. By default,
    /// branches are scored.
    #[must_use]
    pub fn with_votes(mut self, votes: usize) -> Self {
        self.evaluation = Evaluation::Votes(votes.clamp(1, MOST));
        self
    }

    /// Scores the branches with a function instead of the model.
    ///
    /// `check` is called with the problem, and with the approach followed by the steps. It must be
    /// deterministic.
    ///
    /// ```
    /// use cogwork_strategies::{TreeOfThoughts, Worth};
    ///
    /// let method = TreeOfThoughts::new().with_check(|_problem, steps| match steps.last() {
    ///     Some(step) if step.ends_with("= 24") => Worth::solved(),
    ///     Some(step) if step.contains("left:") => Worth::new(5.0),
    ///     _ => Worth::hopeless(),
    /// });
    /// ```
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn(&str, &[&str]) -> Worth + Send + Sync + 'static,
    ) -> Self {
        self.evaluation = Evaluation::Check(Arc::new(check));
        self
    }
}
