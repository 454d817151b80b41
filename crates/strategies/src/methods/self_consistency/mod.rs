mod paths;
mod votes;

use std::fmt;
use std::sync::Arc;

use cogwork_tools::Tools;
use serde_json::{Value, json};

use self::paths::{PathAnswer, think_path};
use self::votes::{Votes, is_decided};
use super::normal_form::normal_form;
use crate::solve::{ANSWER, check_answer};
use crate::{
    Answer, Ask, AskProblem, Branch, BranchId, Method, Solve, Stop, Strategy, StrategyName,
    ThoughtDraft,
};

/// Samples several independent paths and takes a majority vote over their answers (Wang et al.
/// 2022).
///
/// The same question is asked once for each path, concurrently, with a temperature that makes the
/// replies differ, and with a different seed each if the request has one. Don't put a cache in
/// front of the client, since it would return the same reply for all paths. The answers are
/// converted to a common form and counted. The winner is the answer with the most votes, in the
/// words of the first path that gave it. If there is a tie, the answer of the first path wins.
///
/// An answer is a line `answer: …`, a field in JSON, or what a reply [states](cogwork_typed::ask::stated_answer) in its
/// text, as in "the answer is 51 km". A reply that states none, or
/// [declines to answer](cogwork_typed::ask::no_answer), is asked for again, and is then lost.
///
/// The [confidence](crate::Solved::confidence) is the winner's share of all finished paths. A path
/// is lost if its call fails or its reply can't be read: it counts as a path with a different
/// answer, and its branch contains the error. If more paths are lost than answered, the run gives
/// up with the best answer. If all are lost, it fails.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception`, `multiple_path_sampling` | the method |
/// | `reasoning_path_execution` | the model, on a branch for each path |
/// | `answer_collection` | the method, where the branches are merged |
/// | `consistency_analysis`, `majority_selection`, `final_response` | the method |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{SelfConsistency, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "30 + 21.\nanswer: 51 km",
///     "17 + 17 + 17.\nanswer: 41 km",
///     "20 * 3 - 9.\nanswer: 51.0km.",
/// ]);
/// let method = SelfConsistency::new().with_paths(3);
/// let solved = Solver::new(client, method).solve("17 km, three times?").await?;
/// assert_eq!(solved.answer(), Some("51 km"));
/// assert_eq!(solved.confidence(), Some(2.0 / 3.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SelfConsistency {
    paths: usize,
    temperature: f32,
    all_paths: bool,
    normalisation: Option<Normalisation>,
}

type Normalisation = Arc<dyn Fn(&str) -> String + Send + Sync>;

const MAX_PATHS: usize = 100;

impl Default for SelfConsistency {
    fn default() -> Self {
        Self {
            paths: 5,
            temperature: 0.7,
            all_paths: false,
            normalisation: None,
        }
    }
}

impl fmt::Debug for SelfConsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfConsistency")
            .field("paths", &self.paths)
            .field("temperature", &self.temperature)
            .field("all_paths", &self.all_paths)
            .finish_non_exhaustive()
    }
}

impl SelfConsistency {
    /// Creates a method with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of paths, from 1 to 100. The default is 5.
    #[must_use]
    pub fn with_paths(mut self, paths: usize) -> Self {
        self.paths = paths.clamp(1, MAX_PATHS);
        self
    }

    /// Sets the temperature of the paths. At 0, all paths would be the same. The default is 0.7, as
    /// in the paper.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// Waits for all paths, so that the confidence is calculated from all of them. By default, the
    /// remaining paths are dropped once they can no longer change the majority.
    #[must_use]
    pub fn with_all_paths(mut self) -> Self {
        self.all_paths = true;
        self
    }

    /// Sets the function that converts answers to the form in which they are compared. It must be
    /// deterministic. The default is [`normalised`](Self::normalised).
    #[must_use]
    pub fn with_normalisation(
        mut self,
        form: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        self.normalisation = Some(Arc::new(form));
        self
    }

    /// Returns the default form in which answers are compared: without case, punctuation and
    /// formatting, in the compatibility form of Unicode (NFKC), with numbers by value, and with
    /// units.
    ///
    /// ```
    /// use cogwork_strategies::SelfConsistency;
    ///
    /// let form = SelfConsistency::normalised;
    /// assert_eq!(form("**1,000.50 KM.**"), form("1000.5km"));
    /// assert_eq!(form("−１２％"), form("-12 percent"));
    /// assert_ne!(form("50 %"), form("50"));
    /// assert_ne!(form("5 m"), form("5 km"));
    /// ```
    pub fn normalised(answer: &str) -> String {
        normal_form(answer)
    }
}

/// The maximum number of characters of an answer. A longer text is considered to be the path
/// itself.
const MAX_CHARACTERS: usize = 1_000;

/// The maximum number of lines of an answer.
const MAX_LINES: usize = 3;

impl Method for SelfConsistency {
    fn strategy(&self) -> Strategy {
        StrategyName::SelfConsistency.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by reasoning step by step, and then give the answer.".to_owned()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;
        let (paths, temperature) = (self.paths, self.temperature);
        let sampling = ThoughtDraft::at(
            "multiple_path_sampling",
            format!("{paths} paths at a temperature of {temperature}."),
        );
        let sampled = cx.add(sampling.with("paths", paths))?;

        let stage = "reasoning_path_execution";
        let names: Vec<String> = (1..=paths).map(|path| format!("path {path}")).collect();
        let question = self.question(cx.problem());
        let asks = names.iter().map(|name| question.clone().with_name(&**name));
        let replies = self.ask(cx, stage, asks.collect())?;
        let finished = names.iter().zip(&replies);
        let finished = finished.filter(|(_, reply)| !is_needless(reply));

        // Kept first, so that the votes are known even if the session has no room for all paths.
        let votes = self.count(finished.clone());
        let answer = votes.answer();
        answer.iter().for_each(|answer| cx.keep(answer.clone()));

        for (name, reply) in finished {
            think_path(cx, stage, sampled, name, reply)?;
        }
        merge(cx, &votes, paths)?;
        let Some(answer) = answer.filter(|_| votes.answers.len() >= votes.lost) else {
            return Err(Stop::give_up(format!(
                "{} of {} paths gave no answer, so there is no majority",
                votes.lost,
                votes.finished()
            )));
        };

        cx.think("consistency_analysis", votes.analysis())?;
        cx.think("majority_selection", votes.selection())?;
        cx.think("final_response", &*answer.text)?;
        Ok(answer)
    }
}

/// The reply of a path.
type Path = Result<PathAnswer, AskProblem>;

fn is_needless(path: &Path) -> bool {
    matches!(path, Err(AskProblem::NotNeeded))
}

impl SelfConsistency {
    fn question(&self, problem: &str) -> Ask<PathAnswer> {
        let problem = problem.to_owned();
        Ask::of::<PathAnswer>("Reason step by step to the answer.")
            .with_stated_answer()
            .with_temperature(self.temperature)
            .with_check(is_short)
            .for_answer()
            .with_check(move |path| check_answer(ANSWER, path.answer(), &problem))
    }

    /// Asks on all paths, until those that are open can't change the majority.
    fn ask(
        &self,
        cx: &mut Solve,
        stage: &str,
        asks: Vec<Ask<PathAnswer>>,
    ) -> Result<Vec<Path>, Stop> {
        if self.all_paths {
            return cx.ask_all(stage, asks);
        }

        let form = self.form();
        cx.ask_until_enough(stage, asks, move |paths| {
            let open = paths.iter().filter(|path| path.is_none()).count();
            let answers = paths.iter().flatten().filter_map(|path| path.as_ref().ok());
            is_decided(answers.map(|path| form(path.answer())), open)
        })
    }

    fn form(&self) -> Normalisation {
        match &self.normalisation {
            Some(form) => Arc::clone(form),
            None => Arc::new(normal_form),
        }
    }

    /// Counts the votes of the paths that have finished.
    fn count<'p>(&self, paths: impl Iterator<Item = (&'p String, &'p Path)>) -> Votes {
        let mut answers = Vec::new();
        let mut lost = 0;
        for (name, path) in paths {
            match path {
                Ok(path) => answers.push((name.clone(), path.answer().to_owned())),
                Err(_) => lost += 1,
            }
        }

        Votes::count(answers, lost, &*self.form())
    }
}

/// Merges the branches that have an answer into one that has the winning answer, and continues
/// there.
fn merge(cx: &mut Solve, votes: &Votes, paths: usize) -> Result<(), Stop> {
    let answers = votes.answers.iter();
    let by_path: Value = answers
        .map(|(path, answer)| (path.clone(), json!(answer)))
        .collect();
    let draft = ThoughtDraft::at("answer_collection", votes.collection(paths));
    let draft = draft.with("answers", by_path);

    let session = cx.session_mut();
    let branch = |path: &str| session.branch_named(path).map(Branch::id);
    let branches: Vec<BranchId> = votes.paths().filter_map(branch).collect();
    let Some((target, others)) = branches.split_first() else {
        return Err(Stop::fail("no path has an answer"));
    };

    let mut others = others.to_vec();
    others.sort_unstable();
    session.switch(*target)?;
    if others.is_empty() {
        session.think(draft)?;
    } else {
        session.merge(&others, *target, draft)?;
    }
    Ok(())
}

/// Checks that a reply has an answer rather than a path, which wouldn't agree with any other.
fn is_short(path: &PathAnswer) -> Result<(), String> {
    let answer = path.answer();
    let lines = answer.lines().count();
    let characters = answer.chars().count();

    if lines <= MAX_LINES && characters <= MAX_CHARACTERS {
        return Ok(());
    }

    Err(format!(
        "`answer` has {lines} lines and {characters} characters, expected the answer alone, of at most \
         {MAX_LINES} lines and {MAX_CHARACTERS} characters"
    ))
}
