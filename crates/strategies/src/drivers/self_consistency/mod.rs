mod names;
mod paths;
mod votes;

use std::fmt;
use std::sync::Arc;

use cogwork_tools::Tools;
use serde_json::{Value, json};

use self::names::{ANSWERS, LOST, PATHS};
use self::paths::{PathAnswer, answer_of, merge, take_paths};
use self::votes::{Votes, is_decided};
use super::answering::{ANSWER, ask, check_answer, take_as_it_is};
use super::normal_form::normal_form;
use super::stage_names::{StageName, stage_names};
use crate::{
    Answer, Ask, Asked, Done, Driver, Next, SolveError, Solving, Stage, StageReply, StageTurn,
    StageWork, Strategy, StrategyName,
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
/// | `problem_reception`, `multiple_path_sampling` | the driver |
/// | `reasoning_path_execution` | the model, on a branch for each path |
/// | `answer_collection` | the driver, where the branches are merged |
/// | `consistency_analysis`, `majority_selection`, `final_response` | the driver |
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
/// let driver = SelfConsistency::new().with_paths(3);
/// let solved = Solver::new(client, driver).solve("17 km, three times?").await?;
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
    /// Creates a driver with the default settings.
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

stage_names! {
    /// The stages of `self_consistency`.
    enum SelfConsistencyStage for SelfConsistency {
        ProblemReception = "problem_reception",
        MultiplePathSampling = "multiple_path_sampling",
        ReasoningPathExecution = "reasoning_path_execution",
        AnswerCollection = "answer_collection",
        ConsistencyAnalysis = "consistency_analysis",
        MajoritySelection = "majority_selection",
        FinalResponse = "final_response",
    }
}

/// The maximum number of characters of an answer. A longer text is considered to be the path
/// itself.
const MAX_CHARACTERS: usize = 1_000;

/// The maximum number of lines of an answer.
const MAX_LINES: usize = 3;

impl Driver for SelfConsistency {
    fn strategy(&self) -> Strategy {
        StrategyName::SelfConsistency.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by reasoning step by step, and then give the answer.".to_owned()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;
        let votes = || self.votes(solving);

        Ok(match SelfConsistencyStage::of(turn.stage.name())? {
            SelfConsistencyStage::ProblemReception => StageWork::say(solving.problem()),
            SelfConsistencyStage::MultiplePathSampling => self.announce_paths(),
            SelfConsistencyStage::ReasoningPathExecution => self.ask_on_all_paths(turn),
            SelfConsistencyStage::AnswerCollection => self.collect_answers(solving),
            SelfConsistencyStage::ConsistencyAnalysis => StageWork::say(votes().analysis()),
            SelfConsistencyStage::MajoritySelection => StageWork::say(votes().selection()),
            SelfConsistencyStage::FinalResponse => StageWork::say(votes().winner()),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        match SelfConsistencyStage::of(stage.name())? {
            SelfConsistencyStage::ReasoningPathExecution => take_paths(solving, stage, done),
            SelfConsistencyStage::AnswerCollection => self.take_collection(solving, stage, &done),
            SelfConsistencyStage::ProblemReception
            | SelfConsistencyStage::MultiplePathSampling
            | SelfConsistencyStage::ConsistencyAnalysis
            | SelfConsistencyStage::MajoritySelection
            | SelfConsistencyStage::FinalResponse => take_as_it_is(solving, stage, &done),
        }
    }

    /// Returns the answer with the most votes so far.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        let votes = self.votes(solving);
        if votes.of_winner() == 0 {
            return None;
        }

        #[expect(
            clippy::cast_precision_loss,
            reason = "there are at most a hundred paths"
        )]
        let agreement = votes.of_winner() as f64 / votes.finished() as f64;

        Some(Answer::new(votes.winner()).with_confidence(agreement))
    }
}

impl SelfConsistency {
    fn form(&self) -> Normalisation {
        match &self.normalisation {
            Some(form) => Arc::clone(form),
            None => Arc::new(normal_form),
        }
    }

    /// Returns the votes so far.
    fn votes(&self, solving: &Solving) -> Votes {
        let answers = solving.note(ANSWERS).cloned();
        let answers = answers.and_then(|answers| serde_json::from_value(answers).ok());

        let lost = solving.note(LOST).and_then(Value::as_u64);
        let lost = lost
            .and_then(|lost| usize::try_from(lost).ok())
            .unwrap_or(0);

        Votes::count(answers.unwrap_or_default(), lost, &*self.form())
    }

    fn announce_paths(&self) -> StageWork {
        let paths = self.paths;
        let temperature = self.temperature;
        StageWork::say(format!("{paths} paths at a temperature of {temperature}."))
            .with(PATHS, paths)
    }

    fn ask_on_all_paths(&self, turn: &StageTurn<'_>) -> StageWork {
        let question = self.question(turn);
        let on_path = |path: usize| question.clone().with_name(format!("path {path}"));
        let asks: Vec<Ask> = (1..=self.paths).map(on_path).collect();

        if self.all_paths {
            return StageWork::AskAll { asks, enough: None };
        }

        let form = self.form();
        let enough = move |asked: &[Option<Asked>]| {
            let open = asked.iter().filter(|asked| asked.is_none()).count();
            let replies = asked
                .iter()
                .flatten()
                .filter_map(|asked| asked.reply.as_ref().ok());
            is_decided(replies.map(|reply| form(answer_of(reply))), open)
        };

        StageWork::AskAll {
            asks,
            enough: Some(Arc::new(enough)),
        }
    }

    fn question(&self, turn: &StageTurn<'_>) -> Ask {
        let problem = turn.solving.problem().to_owned();

        ask(turn, "Reason step by step to the answer.")
            .with_fields_of::<PathAnswer>()
            .with_stated_answer()
            .with_temperature(self.temperature)
            .with_check(is_short)
            .with_check(move |reply| check_answer(ANSWER, answer_of(reply), &problem))
    }

    fn collect_answers(&self, solving: &Solving) -> StageWork {
        let votes = self.votes(solving);
        let answers = votes.answers.iter();
        let by_path: Value = answers
            .map(|(path, answer)| (path.clone(), json!(answer)))
            .collect();

        StageWork::say(votes.collection(self.paths)).with(ANSWERS, by_path)
    }

    /// Merges the branches, and gives up if there is no majority.
    fn take_collection(
        &self,
        solving: &mut Solving,
        stage: &Stage,
        done: &Done,
    ) -> Result<Next, SolveError> {
        let votes = self.votes(solving);
        merge(solving, &votes, done.draft_at(stage))?;

        if votes.answers.len() < votes.lost {
            return Ok(Next::GiveUp(format!(
                "{} of {} paths gave no answer, so there is no majority",
                votes.lost,
                votes.finished()
            )));
        }

        Ok(done.next_of(stage))
    }
}

/// Checks that a reply has an answer rather than a path, which wouldn't agree with any other.
fn is_short(reply: &StageReply) -> Result<(), String> {
    let answer = answer_of(reply);
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
