use std::fmt;
use std::sync::Arc;

/// Several approaches as branches, developed step by step, judged, and the best followed (Yao et al. 2023).
///
/// The model names approaches, each with what it promises. A branch is opened for those whose turn it is. In
/// every round branches are developed: for each, at the same time, the model proposes next steps, and each
/// proposal that differs is a branch of its own. They are scored from 0 to 10, those below the
/// [threshold](Self::with_threshold) are given up, and the [`Search`] says which are developed next. A branch
/// that holds the whole solution ends the search; so does the best one that has come to the full
/// [depth](Self::with_depth), or to a place where no step is left. When no branch is left, the approaches
/// that were not tried are, and after them the run gives up.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program |
/// | `approach_exploration` | the model: the approaches |
/// | `branch_creation` | the program |
/// | `branch_development` | the model, side by side: the next steps of each branch |
/// | `branch_evaluation` | the model, side by side, or the [program](Self::with_check) |
/// | `branch_selection`, `continuation_decision` | the program |
/// | `solution_formulation` | the model: the steps as a solution, and the answer |
/// | `path_justification`, `final_response` | the program: the scores, and the answer |
///
/// Stopped before the end, the answer is what the branch with the highest score holds so far.
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
/// let driver = TreeOfThoughts::new().with_search(Search::DepthFirst).with_proposals(1);
/// let solved = Solver::new(client, driver).solve("What is 17 * 3?").await?;
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

/// Which branches are developed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Search {
    /// All of a level, of which the best are kept.
    BreadthFirst {
        /// How many are kept; also how many approaches are opened at once. From 1 to 20.
        beam_width: usize,
    },
    /// The best of the deepest. When all steps from it are given up, the next best, back towards the root;
    /// then the next approach.
    DepthFirst,
    /// The one with the highest score, wherever it stands. An approach that was not opened counts with what
    /// it promises.
    BestFirst,
}

/// What a program finds a branch to be worth. See [`TreeOfThoughts::with_check`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    score: f64,
    solved: bool,
}

impl Worth {
    /// So promising, from 0 to 10; what is outside is brought to the nearer end, and what is no number is 0.
    pub fn new(score: f64) -> Self {
        let score = if score.is_nan() { 0.0 } else { score.clamp(0.0, 10.0) };
        Self { score, solved: false }
    }

    /// It holds the whole solution.
    pub fn solved() -> Self {
        Self { score: 10.0, solved: true }
    }

    /// It leads nowhere.
    pub fn hopeless() -> Self {
        Self::new(0.0)
    }

    pub(super) fn or_solved(self, solved: bool) -> Self {
        Self { solved, ..self }
    }

    /// From 0 to 10.
    pub fn score(self) -> f64 {
        self.score
    }

    /// Whether it holds the whole solution.
    pub fn is_solved(self) -> bool {
        self.solved
    }
}

/// Who judges, and how.
#[derive(Clone)]
pub(super) enum Evaluation {
    /// The model, each branch by itself, so often.
    Values(usize),
    /// The model, all branches together, with so many votes.
    Votes(usize),
    Check(Check),
}

pub(super) type Check = Arc<dyn Fn(&str, &[&str]) -> Worth + Send + Sync>;

impl Evaluation {
    /// How often a branch by itself is judged.
    pub(super) fn values(&self) -> usize {
        match self {
            Self::Values(times) => *times,
            Self::Votes(_) | Self::Check(_) => 1,
        }
    }
}

/// The most of anything that is wanted in one round.
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
    /// With the default settings, which make at most 26 calls where the approaches that are opened first lead
    /// to a solution, and 46 where none of them does; those that ask again come on top.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which branches are developed next. Default: breadth first, with a beam of 2.
    #[must_use]
    pub fn with_search(mut self, search: Search) -> Self {
        self.search = match search {
            Search::BreadthFirst { beam_width } => {
                Search::BreadthFirst { beam_width: beam_width.clamp(1, MOST) }
            }
            other => other,
        };
        self
    }

    /// How many approaches are wanted, from 1 to 20. Default: 3.
    #[must_use]
    pub fn with_approaches(mut self, approaches: usize) -> Self {
        self.approaches = approaches.clamp(1, MOST);
        self
    }

    /// How many next steps are proposed for a branch, from 1 to 20. With 1 the model takes the step.
    /// Default: 3.
    #[must_use]
    pub fn with_proposals(mut self, proposals: usize) -> Self {
        self.proposals = proposals.clamp(1, MOST);
        self
    }

    /// How many steps a branch has at most, from 1 to 50. Default: 3.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth.clamp(1, 50);
        self
    }

    /// A branch with a lower score is given up. From 0 to 10. Default: 2.
    #[must_use]
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.threshold = Worth::new(threshold).score();
        self
    }

    /// The model scores each branch by itself, so often, from 1 to 20; the mean counts. Default: once.
    #[must_use]
    pub fn with_values(mut self, times: usize) -> Self {
        self.evaluation = Evaluation::Values(times.clamp(1, MOST));
        self
    }

    /// The model compares the branches of a round, so often, from 1 to 20, and each time votes for one; the
    /// score is the share of the votes. A branch without others is scored by itself. Good where a score
    /// alone is hard to give, as for texts. Default: scores, no votes.
    #[must_use]
    pub fn with_votes(mut self, votes: usize) -> Self {
        self.evaluation = Evaluation::Votes(votes.clamp(1, MOST));
        self
    }

    /// The program scores the branches: it is given the problem, and the approach with the steps after it.
    /// It must answer the same for the same branch. Default: the model does.
    ///
    /// ```
    /// use cogwork_strategies::{TreeOfThoughts, Worth};
    ///
    /// let driver = TreeOfThoughts::new().with_check(|_problem, steps| match steps.last() {
    ///     Some(step) if step.ends_with("= 24") => Worth::solved(),
    ///     Some(step) if step.contains("left:") => Worth::new(5.0),
    ///     _ => Worth::hopeless(),
    /// });
    /// ```
    #[must_use]
    pub fn with_check(mut self, check: impl Fn(&str, &[&str]) -> Worth + Send + Sync + 'static) -> Self {
        self.evaluation = Evaluation::Check(Arc::new(check));
        self
    }
}
