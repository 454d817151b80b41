use std::cmp::Reverse;

use cogwork_tools::Tools;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::normal_form::normal_form;
use crate::session::{BranchId, ThoughtDraft};
use crate::solve::check_answer;
use crate::{Answer, Ask, AskProblem, EndReason, Method, Solve, Stop, Strategy, StrategyName};

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
/// The [confidence](crate::Solving::confidence) is the winner's share of all finished paths. A path
/// is lost if its call fails or its reply can't be read: it counts as a path with a different
/// answer, and its branch contains the error. If more paths are lost than answered, the run gives
/// up with the best answer, or ends at the limit that they met. If all are lost, it fails.
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
/// use cogwork_strategies::methods::SelfConsistency;
/// use cogwork_strategies::Solver;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "30 + 21.\nanswer: 51 km",
///     "17 + 17 + 17.\nanswer: 41 km",
///     "20 * 3 - 9.\nanswer: 51.0km.",
/// ]);
/// let method = SelfConsistency { paths: 3, ..SelfConsistency::default() };
/// let solved = Solver::new(client, method).solve("17 km, three times?").await?;
/// assert_eq!(solved.answer(), Some("51 km"));
/// assert_eq!(solved.confidence(), Some(2.0 / 3.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SelfConsistency {
    /// The number of paths, from 1 to 100. The default is 5.
    pub paths: usize,
    /// The temperature of the paths. At 0, all paths would be the same. The default is 0.7, as in the
    /// paper.
    pub temperature: f32,
    /// Whether the run waits for all paths, so that the confidence is calculated from all of them. By
    /// default, the remaining paths are dropped once they can no longer change the majority.
    pub all_paths: bool,
    /// Converts answers to the form in which they are compared. It must be deterministic. The default
    /// is [`normalised`](Self::normalised).
    pub normalisation: fn(&str) -> String,
}

impl Default for SelfConsistency {
    fn default() -> Self {
        Self {
            paths: 5,
            temperature: 0.7,
            all_paths: false,
            normalisation: normal_form,
        }
    }
}

/// A path of reasoning, which is the thought, and its answer.
#[derive(Clone, Deserialize, JsonSchema)]
struct PathAnswer {
    thought: String,
    /// the answer alone, as short as can be, with its unit if it has one
    answer: String,
}

/// The reply of a path.
type Path = Result<PathAnswer, AskProblem>;

impl Method for SelfConsistency {
    fn strategy(&self) -> Strategy {
        StrategyName::SelfConsistency.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem by reasoning step by step, and then give the answer.".to_owned()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;
        let (paths, temperature) = (self.paths.clamp(1, 100), self.temperature);
        let sampling = format!("{paths} paths at a temperature of {temperature}.");
        let sampling = ThoughtDraft::at("multiple_path_sampling", sampling);
        let sampled = cx.add(sampling.with("paths", paths))?;

        let stage = "reasoning_path_execution";
        // Names tell the questions apart, whose texts are the same.
        let names: Vec<String> = (1..=paths).map(|path| format!("path {path}")).collect();
        let question = self.question(cx.problem());
        let asks = names.iter().map(|name| question.clone().with_name(&**name));
        let replies = self.ask(cx, stage, asks.collect())?;
        let is_needed = |path: &Path| !matches!(path, Err(AskProblem::NotNeeded));
        let finished = names.iter().map(String::as_str).zip(&replies);
        let finished: Vec<_> = finished.filter(|(_, path)| is_needed(path)).collect();

        // Kept first, so that the votes are known even if the session has no room for all paths.
        let votes = Votes::count(&finished, self.normalisation);
        let answer = votes.answer();
        answer.iter().for_each(|answer| cx.keep(answer.clone()));

        for (name, path) in finished {
            let branch = cx.session_mut().fork(sampled, name)?;
            let thought = ThoughtDraft::at(stage, told(path)).with("path_id", name);
            cx.add_on(branch, thought)?;
            // A lost path stays in the session, but nothing may follow on it.
            if path.is_err() {
                cx.session_mut().prune(branch)?;
            }
        }

        votes.merge(cx, paths)?;
        let Some(answer) = answer.filter(|_| votes.answered() >= votes.lost) else {
            let limit = replies.iter().find_map(|path| match path {
                Err(AskProblem::OutOf(limit)) => Some(*limit),
                _ => None,
            });
            if let Some(limit) = limit {
                return Err(EndReason::OutOf { limit }.into());
            }

            let (lost, all) = (votes.lost, votes.finished());
            return Err(Stop::give_up(format!(
                "{lost} of {all} paths gave no answer, so there is no majority"
            )));
        };

        cx.think("consistency_analysis", votes.analysis())?;
        cx.think("majority_selection", votes.selection())?;
        cx.think("final_response", &*answer.text)?;
        Ok(answer)
    }
}

impl SelfConsistency {
    /// Returns the default form in which answers are compared: without case, punctuation and
    /// formatting, in the compatibility form of Unicode (NFKC), with numbers by value, and with
    /// units.
    ///
    /// ```
    /// use cogwork_strategies::methods::SelfConsistency;
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

    fn question(&self, problem: &str) -> Ask<PathAnswer> {
        let problem = problem.to_owned();
        Ask::of::<PathAnswer>("Reason step by step to the answer.")
            .with_stated_answer()
            .with_temperature(self.temperature)
            .with_check(is_short)
            .for_answer()
            .with_check(move |path| check_answer("`answer`", path.answer(), &problem))
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

        let form = self.normalisation;
        cx.ask_until_enough(stage, asks, move |paths| {
            let open = paths.iter().filter(|path| path.is_none()).count();
            let finished: Vec<_> = paths.iter().flatten().map(|path| ("", path)).collect();
            let votes = Votes::count(&finished, form);
            // A tie would be decided by the order in which paths finish.
            votes.count_of(0) > votes.count_of(1) + open
        })
    }
}

/// Returns the text of the thought of a path.
fn told(path: &Path) -> String {
    match path {
        Ok(path) if path.thought.is_empty() => path.answer().to_owned(),
        Ok(path) => path.thought.clone(),
        Err(problem) => format!("No answer: {problem}"),
    }
}

/// The counted votes.
struct Votes<'p> {
    /// The answers, each with the paths that gave it and their words, the one with the most votes
    /// first.
    groups: Vec<Vec<(&'p str, &'p str)>>,
    /// How many paths finished without an answer.
    lost: usize,
}

impl<'p> Votes<'p> {
    /// Counts the answers of paths. Answers with the same `form` are equal.
    fn count(paths: &[(&'p str, &'p Path)], form: fn(&str) -> String) -> Self {
        let mut groups: Vec<(String, Vec<(&str, &str)>)> = Vec::new();
        let mut lost = 0;

        for (name, path) in paths {
            let Ok(path) = path else {
                lost += 1;
                continue;
            };

            let vote = (*name, path.answer());
            let form = form(vote.1);
            // In the order of the paths, so that the first of equal answers gives the words.
            match groups.iter_mut().find(|(known, _)| *known == form) {
                Some((_, votes)) => votes.push(vote),
                None => groups.push((form, vec![vote])),
            }
        }

        // The sort is stable, so of groups of the same size the earliest path wins.
        groups.sort_by_key(|(_, votes)| Reverse(votes.len()));
        let groups = groups.into_iter().map(|(_, votes)| votes).collect();
        Self { groups, lost }
    }

    /// Returns how many paths gave an answer, of which the one with the most votes has number 0.
    fn count_of(&self, answer: usize) -> usize {
        self.groups.get(answer).map_or(0, Vec::len)
    }

    /// Returns the paths with an answer and their answers, those with the winning answer first.
    fn answers(&self) -> impl Iterator<Item = (&'p str, &'p str)> {
        self.groups.iter().flatten().copied()
    }

    fn answered(&self) -> usize {
        self.answers().count()
    }

    fn finished(&self) -> usize {
        self.answered() + self.lost
    }

    /// Returns the answer with the most votes, in the words of the first path, and their share.
    fn answer(&self) -> Option<Answer> {
        let (_, winner) = self.answers().next()?;
        Some(Answer {
            text: winner.to_owned(),
            confidence: Some(self.count_of(0) as f64 / self.finished() as f64),
        })
    }

    /// Merges the branches that have an answer into the first one that has the winning answer, and
    /// continues there.
    fn merge(&self, cx: &mut Solve, paths: usize) -> Result<(), Stop> {
        let by_path: Value = self
            .answers()
            .map(|(path, answer)| (path.to_owned(), json!(answer)))
            .collect();
        let collection = format!("{} of {paths} paths gave an answer.", self.answered());
        let draft = ThoughtDraft::at("answer_collection", collection);
        let draft = draft.with("answers", by_path);

        let session = cx.session_mut();
        let branch = |(path, _)| session.branch_named(path).map(|branch| branch.id);
        let mut others: Vec<BranchId> = self.answers().filter_map(branch).collect();
        let Some(target) = others.first().copied() else {
            return Err(Stop::fail("no path has an answer"));
        };

        others.retain(|branch| *branch != target);
        // In the order of the paths, and not of the votes.
        others.sort_unstable();
        session.switch(target)?;
        if others.is_empty() {
            session.think(draft)?;
        } else {
            session.merge(&others, target, draft)?;
        }
        Ok(())
    }

    /// Returns the answers and their paths, as a text.
    fn analysis(&self) -> String {
        let said = self.groups.iter().map(|votes| {
            let paths: Vec<&str> = votes.iter().map(|(path, _)| *path).collect();
            let answer = votes.first().map_or("", |(_, answer)| answer);
            format!("{answer}: {} ({})", votes.len(), paths.join(", "))
        });
        said.collect::<Vec<_>>().join("; ")
    }

    /// Returns the winning answer and its votes, as a text.
    fn selection(&self) -> String {
        let winner = self.answers().next().map_or("", |(_, answer)| answer);
        let (votes, finished) = (self.count_of(0), self.finished());
        format!("{winner}, with {votes} of {finished} votes.")
    }
}

impl PathAnswer {
    /// Returns the answer.
    ///
    /// It is the last line of the form, so its text also contains what the model added after it: a
    /// closing remark after an empty line, or a line with another label. These don't belong to the
    /// vote.
    fn answer(&self) -> &str {
        let answer = self.answer.trim();
        let mut end = 0;
        for line in answer.split_inclusive('\n') {
            if end > 0 && (line.trim().is_empty() || is_labelled(line)) {
                break;
            }
            end += line.len();
        }
        answer.get(..end).unwrap_or(answer).trim()
    }
}

/// Returns whether a line begins with a label of a few words, such as `Confidence: high`.
fn is_labelled(line: &str) -> bool {
    let Some((label, _)) = line.split_once(':') else {
        return false;
    };

    let label = label.trim_matches(|mark: char| mark.is_whitespace() || "*_`-".contains(mark));
    let is_word = |character: char| character.is_alphabetic() || character == ' ';
    !label.is_empty() && label.chars().count() <= MAX_LABEL && label.chars().all(is_word)
}

/// The maximum number of characters of a label.
const MAX_LABEL: usize = 30;

/// The maximum number of characters of an answer. A longer text is considered to be the path
/// itself.
const MAX_CHARACTERS: usize = 1_000;

/// The maximum number of lines of an answer.
const MAX_LINES: usize = 3;

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
