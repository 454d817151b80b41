use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cogwork_agents::{FileFlow, FlowState};
use cogwork_flow::{CancellationToken, RunError};
use cogwork_journal::{RunQuery, RunStatus, Store, StoreError};
use cogwork_llm::Usage;
use cogwork_llm::layers::Prices;
use cogwork_text::OneLine;
use cogwork_trace::{RecorderSettings, RunRecorder};
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::suite::Arm;
use crate::{Check, Problem, Suite, Table};

/// The maximum number of steps of a run.
const MAX_STEPS: u64 = 1_000;

/// An evaluation of a suite, whose runs are kept in a store.
///
/// Every run has an id that is made of what it depends on. An evaluation that is started again takes
/// the runs that have ended from the store, continues those that were interrupted without repeating
/// a recorded call, and tries those that failed again.
///
/// ```no_run
/// use cogwork_agents::Loader;
/// use cogwork_eval::{Evaluation, Suite};
/// use cogwork_journal::Store;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let suite = Suite::load("suite.yaml", &Loader::new().with_process_environment())?;
/// let table = Evaluation::new(suite, Store::at("runs.db")?).run().await?;
/// println!("{table}");
/// # Ok(())
/// # }
/// ```
pub struct Evaluation {
    suite: Suite,
    store: Store,
    prices: Prices,
    token: CancellationToken,
    progress: Option<Look>,
}

type Look = Box<dyn Fn(&Progress) + Send + Sync>;

/// How far an evaluation is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of runs that have ended.
    pub done: usize,
    /// The number of all runs.
    pub runs: usize,
    /// The estimated time until all have ended; `None` before the first.
    pub left: Option<Duration>,
}

/// A run of an arm on a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunResult {
    /// The id of the problem.
    pub problem: String,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The id of the run in the store.
    pub run: String,
    /// The answer; `None` if the run failed.
    pub answer: Option<String>,
    /// Why the run failed, in one line.
    pub error: Option<String>,
    /// Whether the answer is right.
    pub right: bool,
    /// The number of calls of models.
    pub calls: u64,
    /// The tokens of prompts.
    pub prompt_tokens: u64,
    /// The tokens of replies.
    pub completion_tokens: u64,
    /// The tokens of prompts that a cache had.
    pub cached_tokens: u64,
    /// The time from the start to the last entry of the journal, in seconds.
    pub seconds: f64,
    /// The cost by the price table, in US dollars.
    pub money: f64,
    /// The number of replies that had to be repaired.
    pub repairs: u64,
    /// The number of questions that were asked again.
    pub asked_again: u64,
}

/// One run that is to be made.
struct Task<'a> {
    arm: usize,
    problem: &'a Problem,
    repetition: u32,
}

/// What has been spent so far.
#[derive(Default)]
struct Total {
    done: usize,
    calls: u64,
    tokens: u64,
    money: f64,
}

impl Evaluation {
    /// Creates an evaluation with the list prices of common models.
    pub fn new(suite: Suite, store: Store) -> Self {
        Self {
            suite,
            store,
            prices: Prices::common(),
            token: CancellationToken::new(),
            progress: None,
        }
    }

    /// Sets the prices of models. The default is [`Prices::common`].
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Stops the evaluation when `token` is cancelled. The runs in progress can be continued.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Calls `look` after each run. None by default.
    #[must_use]
    pub fn with_progress(mut self, look: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(look));
        self
    }

    /// Returns the suite.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// Makes all runs, within the limits of the suite, and returns the table of those that have
    /// ended or failed.
    ///
    /// # Errors
    ///
    /// Returns an error if a journal cannot be read or written. What was recorded remains.
    pub async fn run(&self) -> Result<Table, StoreError> {
        let tasks = self.tasks();
        let count = tasks.len();
        let started = Instant::now();
        let total = Mutex::new(Total::default());

        let runs = tasks.into_iter().map(|task| async {
            if self.is_over(&total, started) {
                return Ok(None);
            }

            let arm = task.arm;
            let result = self.result(task).await?;
            if let Some(result) = &result {
                self.count(&total, result, count, started);
            }
            Ok(result.map(|result| (arm, result)))
        });

        let mut runs = stream::iter(runs).buffered(self.suite.at_once);
        let mut by_arm: BTreeMap<usize, Vec<RunResult>> = BTreeMap::new();
        while let Some(run) = runs.next().await {
            if let Some((arm, result)) = run? {
                by_arm.entry(arm).or_default().push(result);
            }
        }

        Ok(Table::of(&self.suite, by_arm, count))
    }

    /// Returns all runs, those of all arms for a problem together, so that a table of an evaluation
    /// that was stopped compares the same problems.
    fn tasks(&self) -> Vec<Task<'_>> {
        let Suite {
            problems,
            arms,
            repetitions,
            ..
        } = &self.suite;

        let tasks = (1..=*repetitions).flat_map(|repetition| {
            problems.iter().flat_map(move |problem| {
                (0..arms.len()).map(move |arm| Task {
                    arm,
                    problem,
                    repetition,
                })
            })
        });
        tasks.collect()
    }

    fn is_over(&self, total: &Mutex<Total>, started: Instant) -> bool {
        let total = total.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = &self.suite.limits;

        self.token.is_cancelled()
            || limits.calls.is_some_and(|most| total.calls >= most)
            || limits.tokens.is_some_and(|most| total.tokens >= most)
            || limits.money.is_some_and(|most| total.money >= most)
            || limits
                .seconds
                .is_some_and(|most| started.elapsed().as_secs() >= most)
    }

    fn count(&self, total: &Mutex<Total>, result: &RunResult, runs: usize, started: Instant) {
        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
        total.done += 1;
        total.calls += result.calls;
        total.tokens += result.prompt_tokens + result.completion_tokens;
        total.money += result.money;

        if let Some(look) = &self.progress {
            let each = started.elapsed().as_secs_f64() / total.done as f64;
            let left = each * runs.saturating_sub(total.done) as f64;
            look(&Progress {
                done: total.done,
                runs,
                left: Duration::try_from_secs_f64(left).ok(),
            });
        }
    }

    /// Makes a run, or takes it from the store. `None` if it was interrupted.
    async fn result(&self, task: Task<'_>) -> Result<Option<RunResult>, StoreError> {
        let Some(arm) = self.suite.arms.get(task.arm) else {
            return Ok(None);
        };

        let id = run_id(arm, task.problem, task.repetition);
        let ended = self
            .flow_run(&id, &arm.flow, &task.problem.question)
            .await?;
        let Ended {
            answer,
            state,
            seconds,
        } = match ended {
            Some(ended) => ended,
            None => return Ok(None),
        };

        let mut result = self.measured(arm, &task, id, &state, seconds);
        match answer {
            Ok(answer) => {
                let right = self.is_right(&result.run, task.problem, &answer).await?;
                let Some(right) = right else { return Ok(None) };
                result.right = right;
                result.answer = Some(answer);
            }
            Err(error) => result.error = Some(error),
        }
        Ok(Some(result))
    }

    fn measured(
        &self,
        arm: &Arm,
        task: &Task<'_>,
        run: String,
        state: &FlowState,
        seconds: f64,
    ) -> RunResult {
        let usage: Usage = state.usage();
        let tries = state.visits().flat_map(|visit| &visit.tries);
        let asked_again = tries.filter(|one| one.complaint.is_some()).count();
        let thoughts = state
            .reasonings()
            .values()
            .flat_map(|reasoning| reasoning.thoughts());
        let repairs = thoughts
            .filter(|thought| !thought.trace().repairs.is_empty())
            .count();

        RunResult {
            problem: task.problem.id.clone(),
            repetition: task.repetition,
            run,
            answer: None,
            error: None,
            right: false,
            calls: state.calls().into(),
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cached_tokens: usage.cached_tokens,
            seconds,
            money: self.prices.cost(arm.model.as_deref(), usage),
            repairs: repairs as u64,
            asked_again: asked_again as u64,
        }
    }

    /// Returns whether an answer is right; `None` if the judge was interrupted.
    async fn is_right(
        &self,
        run: &str,
        problem: &Problem,
        answer: &str,
    ) -> Result<Option<bool>, StoreError> {
        let (Check::Judge(expected), Some(judge)) = (&problem.check, &self.suite.judge) else {
            return Ok(Some(problem.check.accepts(answer)));
        };

        let question = judge_question(&problem.question, expected, answer);
        let id = format!("{run}-judge-{:016x}", hash(&[judge.text(), &question]));
        let ended = self.flow_run(&id, &judge.flow, &question).await?;
        Ok(ended.map(|ended| ended.answer.is_ok_and(|verdict| is_yes(&verdict))))
    }

    /// Makes or continues a run of a flow. Returns `None` if it was interrupted.
    async fn flow_run(
        &self,
        id: &str,
        flow: &Arc<FileFlow>,
        question: &str,
    ) -> Result<Option<Ended>, StoreError> {
        let mut state = FlowState::new(question);
        let has_ended = self
            .status(id)
            .await?
            .is_some_and(|(status, _)| matches!(status, RunStatus::Ended { .. }));
        let journal = self.store.start_or_resume(id, flow.flow(), &state).await?;

        let hide = Arc::clone(flow);
        let settings = RecorderSettings::default()
            .with_input(question)
            .with_secrets(move |text| hide.hide_secrets(text));
        // A run that has ended is only read.
        let recorder = (!has_ended).then(|| RunRecorder::new(&journal, settings));

        let mut run = flow
            .flow()
            .begin()
            .with_id(id)
            .with_max_steps(MAX_STEPS)
            .with_deadline(tokio::time::Instant::now() + self.suite.limits.run_time())
            .with_cancellation(self.token.clone())
            .with_journal(journal);
        if let Some(recorder) = &recorder {
            run = run.with_events(recorder);
        }

        let ended = run.finish(&mut state).await;
        if ended.as_ref().is_err_and(RunError::is_cancelled) {
            return Ok(None);
        }

        let answer = match ended {
            Ok(_) => flow
                .answer(&state)
                .map(|answer| answer.text)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let (Some(recorder), Ok(answer)) = (&recorder, &answer) {
            recorder.record_answer(answer);
        }
        drop(run);
        if let Some(recorder) = recorder {
            // A run without its events can still be evaluated.
            let _ = recorder.flush().await;
        }

        let seconds = self.status(id).await?.map_or(0.0, |(_, seconds)| seconds);
        Ok(Some(Ended {
            answer: answer.map_err(|error| one_line(&flow.hide_secrets(&error))),
            state,
            seconds,
        }))
    }

    /// Returns the status of a run, and the time from its start to its last entry.
    async fn status(&self, id: &str) -> Result<Option<(RunStatus, f64)>, StoreError> {
        let runs = self.store.query(RunQuery::new().run_id(id)).await?;
        let run = runs.into_iter().next();

        Ok(run.map(|run| {
            let took = run
                .updated
                .and_then(|updated| updated.duration_since(run.started).ok());
            (run.status, took.unwrap_or_default().as_secs_f64())
        }))
    }
}

struct Ended {
    answer: Result<String, String>,
    state: FlowState,
    seconds: f64,
}

fn one_line(text: &str) -> String {
    OneLine::new(text).with_max_chars(300).to_string()
}

/// Returns an id of what the result of a run depends on.
fn run_id(arm: &Arm, problem: &Problem, repetition: u32) -> String {
    let digest = hash(&[arm.text(), &problem.question]);
    format!("{}-{}-{repetition}-{digest:016x}", arm.name, problem.id)
}

/// FNV-1a over parts, which is the same in every version.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn judge_question(question: &str, expected: &str, answer: &str) -> String {
    // Nothing may close the tag around it.
    let inside = |text: &str| text.replace("</", "< /");
    format!(
        "<question>\n{}\n</question>\n<right_answer>\n{}\n</right_answer>\n<answer>\n{}\n</answer>",
        inside(question),
        inside(expected),
        inside(answer)
    )
}

/// Returns whether a verdict is RIGHT and nothing else.
fn is_yes(verdict: &str) -> bool {
    let word = verdict
        .trim()
        .trim_matches(|character: char| !character.is_alphanumeric());
    word.eq_ignore_ascii_case("right")
}
