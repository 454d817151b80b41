use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cogwork_tools::Tools;
use serde_json::{Value, json};

use super::normal_form::normal_form;
use crate::{
    Answer, Ask, AskProblem, Asked, BranchId, BranchStatus, ConflictRule, Done, Draft, Driver, Next,
    Parameter, Reply, SolveError, Solving, Stage, Strategy, StrategyName, Thought, Turn, Work,
};

/// Several paths that know nothing of each other, and the answer of the majority (Wang et al. 2022).
///
/// The same question is asked once for each path, all at the same time, with a temperature that lets the
/// replies differ, and with a seed of its own where the request has one. A cache in front of the client
/// would give all of them one reply. Each path ends in a field `answer`; those are brought to a common form and counted. The
/// answer that most paths gave is taken, as the first of them wrote it; of answers with as many votes, the
/// one that the path with the lowest number gave.
///
/// The [confidence](crate::Solved::confidence) is the agreement: the share of that answer among the paths
/// that came to their end. A path whose call fails or whose replies cannot be read is a lost vote: it
/// counts as a path that does not agree, and its branch says what was wrong. When more are lost
/// than answered, the run is given up, with the best answer there is; when all are, it fails.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception`, `multiple_path_sampling` | the program |
/// | `reasoning_path_execution` | the model, on a branch for each path |
/// | `answer_collection` | the program, where the branches are merged |
/// | `consistency_analysis`, `majority_selection`, `final_response` | the program |
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

/// The answers, by path, from the stage that found them on.
const ANSWERS: &str = "answers";

/// The field of a reply.
const ANSWER: &str = "answer";

/// Characters of an answer. What is longer is a path and no answer.
const LONGEST: usize = 1_000;

const MAX_PATHS: usize = 100;

impl Default for SelfConsistency {
    fn default() -> Self {
        Self { paths: 5, temperature: 0.7, all_paths: false, normalisation: None }
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
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many paths are taken, from 1 to 100. Default: 5.
    #[must_use]
    pub fn with_paths(mut self, paths: usize) -> Self {
        self.paths = paths.clamp(1, MAX_PATHS);
        self
    }

    /// The temperature of the paths. At 0 they would all be the same. Default: 0.7, as in the paper.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// Waits for every path, so that the agreement is that of all. Default: the paths that are still on
    /// their way are given up as soon as they cannot change the majority any more.
    #[must_use]
    pub fn with_all_paths(mut self) -> Self {
        self.all_paths = true;
        self
    }

    /// Another form in which answers are compared. It must answer the same for the same text. Default:
    /// [`normalised`](Self::normalised).
    #[must_use]
    pub fn with_normalisation(mut self, form: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.normalisation = Some(Arc::new(form));
        self
    }

    /// The form in which answers are compared unless another is set: without case, punctuation and
    /// decoration, numbers as the numbers they are, units kept.
    ///
    /// ```
    /// use cogwork_strategies::SelfConsistency;
    ///
    /// let form = SelfConsistency::normalised;
    /// assert_eq!(form("**1,000.50 KM.**"), form("1000.5km"));
    /// assert_ne!(form("50 %"), form("50"));
    /// assert_ne!(form("5 m"), form("5 km"));
    /// ```
    pub fn normalised(answer: &str) -> String {
        normal_form(answer)
    }

    fn form(&self) -> impl Fn(&str) -> String + Send + Sync + 'static {
        let set = self.normalisation.clone();
        move |answer| match &set {
            Some(form) => form(answer),
            None => normal_form(answer),
        }
    }

    /// The votes as they stand.
    fn count(&self, solving: &Solving) -> Count {
        let answers = solving.note(ANSWERS).cloned();
        let answers: Vec<(String, String)> =
            answers.and_then(|answers| serde_json::from_value(answers).ok()).unwrap_or_default();
        let given_up = |branch: &&crate::Branch| branch.status() == BranchStatus::Pruned;
        let lost = solving.session().branches().iter().filter(given_up).count();
        let form = self.form();
        let mut groups: Vec<Group> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (path, answer) in &answers {
            let place = *places.entry(form(answer)).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.paths.push(path.clone()),
                None => groups.push(Group { answer: answer.clone(), paths: vec![path.clone()] }),
            }
        }
        // Stable, so that of as many votes the earlier path has its way.
        groups.sort_by_key(|group| std::cmp::Reverse(group.paths.len()));
        Count { answers, lost, groups }
    }
}

/// Paths that gave the same answer.
struct Group {
    /// As the first of them wrote it.
    answer: String,
    paths: Vec<String>,
}

struct Count {
    /// By path.
    answers: Vec<(String, String)>,
    /// Paths without an answer.
    lost: usize,
    /// The one with the most votes first.
    groups: Vec<Group>,
}

impl Count {
    fn winner(&self) -> &str {
        self.groups.first().map_or("", |group| group.answer.as_str())
    }

    fn votes(&self) -> usize {
        self.groups.first().map_or(0, |group| group.paths.len())
    }

    /// Paths that came to their end.
    fn taken(&self) -> usize {
        self.answers.len() + self.lost
    }

    fn collected(&self, paths: usize) -> String {
        let mut text = format!("{} of {paths} paths gave an answer.", self.answers.len());
        if self.lost > 0 {
            text.push_str(&format!(" Lost: {}.", self.lost));
        }
        match paths.saturating_sub(self.taken()) {
            0 => {}
            left => text.push_str(&format!(" Not needed any more: {left}.")),
        }
        text
    }

    fn analysis(&self) -> String {
        let group =
            |group: &Group| format!("{}: {} ({})", group.answer, group.paths.len(), group.paths.join(", "));
        self.groups.iter().map(group).collect::<Vec<_>>().join("; ")
    }

    fn selection(&self) -> String {
        let equal = self.groups.iter().filter(|group| group.paths.len() == self.votes()).count();
        let tie = match equal {
            0 | 1 => String::new(),
            equal => format!("; {equal} answers have as many, and this one came on the earliest path"),
        };
        format!("{}, with {} of {} votes{tie}.", self.winner(), self.votes(), self.taken())
    }
}

impl Driver for SelfConsistency {
    fn strategy(&self) -> Strategy {
        StrategyName::SelfConsistency.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by reasoning step by step, and then give the answer.".to_owned()
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        let count = self.count(solving);
        Ok(match turn.stage.name() {
            "problem_reception" => Work::say(solving.problem()),
            "multiple_path_sampling" => {
                Work::say(format!("{} paths at a temperature of {}.", self.paths, self.temperature))
                    .with("paths", self.paths)
            }
            "reasoning_path_execution" => {
                let answer = "the answer alone, as short as can be, with its unit if it has one";
                let question = Ask::new(solving.transcript().clone(), "Reason step by step to the answer.")
                    .with_field(ANSWER, Parameter::text(answer))
                    .with_temperature(self.temperature)
                    .with_check(is_short);
                let asks = (1..=self.paths).map(|path| question.clone().named(path_id(path))).collect();
                let form = self.form();
                let enough = move |asked: &[Option<Asked>]| is_certain(asked, &form);
                Work::AskAll { asks, enough: if self.all_paths { None } else { Some(Arc::new(enough)) } }
            }
            "answer_collection" => {
                let answers: Value =
                    count.answers.iter().map(|(path, answer)| (path.clone(), json!(answer))).collect();
                Work::say(count.collected(self.paths)).with(ANSWERS, answers)
            }
            "consistency_analysis" => Work::say(count.analysis()),
            "majority_selection" => Work::say(count.selection()),
            _ => Work::say(count.winner()),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);
        match (stage.name(), done) {
            ("reasoning_path_execution", Done::AllAsked(asked)) => branch_out(solving, stage, asked)?,
            ("answer_collection", done) => {
                let count = self.count(solving);
                let branch = |path: &String| solving.session().branch_named(path).map(crate::Branch::id);
                let winners = count.groups.iter().flat_map(|group| &group.paths).filter_map(branch);
                // The path goes on from one that came to the answer.
                let mut branches: Vec<BranchId> = winners.collect();
                let Some(target) = (!branches.is_empty()).then(|| branches.remove(0)) else {
                    return Err(SolveError::driver("no path has an answer"));
                };
                branches.sort_unstable();
                let session = solving.session_mut();
                session.switch(target)?;
                match branches.as_slice() {
                    [] => session.think(done.draft_at(stage))?,
                    others => {
                        session.merge(others, target, ConflictRule::KeepTarget, done.draft_at(stage))?
                    }
                };
                if count.answers.len() < count.lost {
                    return Ok(Next::GiveUp(format!(
                        "{} of {} paths gave no answer, so there is no majority",
                        count.lost,
                        count.taken()
                    )));
                }
            }
            (_, done) => {
                solving.think(done.draft_at(stage))?;
            }
        }
        Ok(next)
    }

    /// The answer with the most votes so far.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        let count = self.count(solving);
        #[expect(clippy::cast_precision_loss, reason = "there are at most a hundred paths")]
        let agreement = count.votes() as f64 / count.taken().max(1) as f64;
        let winner = (count.votes() > 0).then(|| count.winner())?;
        Some(Answer::new(winner).with_confidence(agreement))
    }

    /// Its table has no way back.
    fn progress(&self, _thought: &Thought) -> Option<String> {
        None
    }
}

fn path_id(path: usize) -> String {
    format!("path {path}")
}

/// Whether the paths that are still on their way, or not begun, can change nothing.
fn is_certain(asked: &[Option<Asked>], form: &impl Fn(&str) -> String) -> bool {
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    for reply in asked.iter().flatten().filter_map(|asked| asked.reply.as_ref().ok()) {
        *votes.entry(form(&answer_of(reply))).or_default() += 1;
    }
    let open = asked.iter().filter(|asked| asked.is_none()).count();
    let mut votes: Vec<usize> = votes.into_values().collect();
    votes.sort_unstable_by(|one, other| other.cmp(one));
    // A tie would depend on which paths came first in time, so the lead must be out of reach.
    votes.first().is_some_and(|first| *first > votes.get(1).copied().unwrap_or(0) + open)
}

fn answer_of(reply: &Reply) -> String {
    reply.field(ANSWER).trim().to_owned()
}

/// A model that does not mark its answer has its whole reply taken for it, which agrees with no other.
fn is_short(reply: &Reply) -> Result<(), String> {
    let answer = answer_of(reply);
    let (lines, letters) = (answer.lines().count(), answer.chars().count());
    match lines > 3 || letters > LONGEST {
        true => Err(format!(
            "`answer` has {lines} lines and {letters} characters, expected the answer alone, of at most 3 lines and \
             {LONGEST} characters"
        )),
        false => Ok(()),
    }
}

/// A branch for each path that came to its end; those without an answer are given up.
fn branch_out(solving: &mut Solving, stage: &Stage, asked: Vec<Asked>) -> Result<(), SolveError> {
    let Some(sampled) = solving.path().next().map(Thought::id) else {
        return Err(SolveError::driver("the paths have nothing to begin from"));
    };
    let mut answers: Vec<(String, String)> = Vec::new();
    for Asked { name, reply, .. } in asked {
        if matches!(reply, Err(AskProblem::NotNeeded)) {
            continue;
        }
        let branch = solving.session_mut().fork(sampled, name.as_str())?;
        let text = match &reply {
            Ok(reply) if reply.text.is_empty() => answer_of(reply),
            Ok(reply) => reply.text.clone(),
            Err(problem) => format!("No answer: {problem}"),
        };
        let draft = Draft::at(stage.name(), text).with("path_id", name.as_str());
        solving.session_mut().think_on(branch, draft)?;
        match reply {
            Ok(reply) => answers.push((name, answer_of(&reply))),
            Err(_) => solving.session_mut().prune(branch)?,
        }
    }
    solving.set_note(ANSWERS, json!(answers));
    Ok(())
}
