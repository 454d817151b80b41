use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_agents::{FileFlow, FlowState};
use cogwork_flow::{CancellationToken, RunError};
use cogwork_journal::{RunQuery, RunStatus, RunSummary, Store, StoreError};
use cogwork_llm::Usage;
use cogwork_llm::layers::Prices;
use cogwork_text::OneLine;
use cogwork_trace::{RecorderSettings, RunRecorder};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use itertools::iproduct;

use crate::judge::{self, Judge};
use crate::result::{Cost, RunResult, Share};
use crate::{Arm, Check, Problem, Suite, Table};

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
    /// The estimated time until all have ended.
    pub left: Duration,
}

/// A run that is to be made: the repetition, and the indices of the problem and the arm. The order is
/// that in which runs are started: those of all arms for a problem together, so that a table of an
/// evaluation that was stopped compares the same problems.
type Task = (u32, usize, usize);

/// A run of a flow that has ended or failed.
struct Ended {
    answer: Result<String, String>,
    state: FlowState,
    seconds: f64,
}

impl Evaluation {
    /// Creates an evaluation. Costs are by the list prices of common models.
    pub fn new(suite: Suite, store: Store) -> Self {
        Self {
            suite,
            store,
            prices: Prices::common(),
            token: CancellationToken::new(),
            progress: None,
        }
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
        let started = Instant::now();
        let agreement = match &self.suite.judge {
            Some(judge) => self.agreement(judge).await?,
            None => None,
        };

        let Suite {
            problems,
            arms,
            repetitions,
            ..
        } = &self.suite;
        let runs = problems.len() * arms.len() * *repetitions as usize;
        let mut tasks = iproduct!(1..=*repetitions, 0..problems.len(), 0..arms.len());
        let mut running = FuturesUnordered::new();
        let mut results = BTreeMap::new();
        let mut total = Cost::default();
        let mut money = 0.0;
        loop {
            while running.len() < self.suite.at_once
                && !self.is_over(&total, money, started)
                && let Some(task) = tasks.next()
            {
                running.push(async move { (task, self.result(task).await) });
            }

            let Some((task, result)) = running.next().await else {
                break;
            };
            if let Some(result) = result? {
                total = total + result.cost;
                money += self.highest_price(task, &result.cost);
                results.insert(task, result);
                self.report(results.len(), runs, started);
            }
        }

        let mut by_arm: Vec<Vec<RunResult>> = vec![Vec::new(); arms.len()];
        for ((.., arm), result) in results {
            if let Some(runs) = by_arm.get_mut(arm) {
                runs.push(result);
            }
        }
        Ok(Table::of(&self.suite, by_arm, runs, agreement))
    }

    fn is_over(&self, total: &Cost, money: f64, started: Instant) -> bool {
        let limits = &self.suite.limits;
        let reaches = |spent: f64, most: Option<u64>| most.is_some_and(|most| spent >= most as f64);

        self.token.is_cancelled()
            || reaches(total.calls, limits.calls)
            || reaches(total.tokens(), limits.tokens)
            || reaches(started.elapsed().as_secs_f64(), limits.seconds)
            || limits.money.is_some_and(|most| money >= most)
    }

    fn report(&self, done: usize, runs: usize, started: Instant) {
        if let Some(look) = &self.progress {
            let left = runs.saturating_sub(done) as f64 / done.max(1) as f64;
            look(&Progress {
                done,
                runs,
                left: started.elapsed().mul_f64(left),
            });
        }
    }

    /// Makes a run, or takes it from the store. `None` if it was interrupted.
    async fn result(&self, task: Task) -> Result<Option<RunResult>, StoreError> {
        let (repetition, problem, arm) = task;
        let (arms, problems) = (&self.suite.arms, &self.suite.problems);
        let (Some(arm), Some(problem)) = (arms.get(arm), problems.get(problem)) else {
            return Ok(None);
        };

        let run = run_id(arm, problem, repetition);
        let ended = self.flow_run(&run, &arm.flow, &problem.question).await?;
        let Some(ended) = ended else { return Ok(None) };

        let cost = self.cost(arm, &ended);
        let (answer, error) = match ended.answer {
            Ok(answer) => (Some(answer), None),
            Err(error) => (None, Some(error)),
        };
        let right = match &answer {
            Some(answer) => self.is_right(&run, problem, answer).await?,
            None => Some(false),
        };
        Ok(right.map(|right| RunResult {
            problem: problem.id.clone(),
            repetition,
            run,
            answer,
            error,
            right,
            cost,
        }))
    }

    fn cost(&self, arm: &Arm, ended: &Ended) -> Cost {
        let state = &ended.state;
        let usage = state.usage();

        let tries = state.visits().flat_map(|visit| &visit.tries);
        let asked_again = tries.filter(|one| one.complaint.is_some()).count();
        let reasonings = state.reasonings().values();
        let thoughts = reasonings.flat_map(|reasoning| reasoning.thoughts());
        let repairs = thoughts.filter(|thought| !thought.trace().repairs.is_empty());

        Cost {
            calls: state.calls().into(),
            prompt_tokens: usage.prompt_tokens as f64,
            completion_tokens: usage.completion_tokens as f64,
            cached_tokens: usage.cached_tokens as f64,
            seconds: ended.seconds,
            money: self
                .prices
                .known_cost(arm.model.as_deref(), usage)
                .unwrap_or_default(),
            repairs: repairs.count() as f64,
            asked_again: asked_again as f64,
        }
    }

    /// Returns the cost of a run. The tokens of a model without a price cost as much as the dearest.
    fn highest_price(&self, (.., arm): Task, cost: &Cost) -> f64 {
        let arm = self.suite.arms.get(arm);
        let model = arm.and_then(|arm| arm.model.as_deref());
        let usage = Usage::new(cost.prompt_tokens as u64, cost.completion_tokens as u64);
        self.prices
            .cost(model, usage.with_cached_tokens(cost.cached_tokens as u64))
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

        let case = judge::case(&problem.question, expected, answer);
        self.verdict(run, judge, &case).await
    }

    async fn verdict(
        &self,
        run: &str,
        judge: &Judge,
        case: &str,
    ) -> Result<Option<bool>, StoreError> {
        let id = format!("{run}-judge-{:016x}", hash(&[judge.arm.text(), case]));
        let ended = self.flow_run(&id, &judge.arm.flow, case).await?;
        Ok(ended.map(|ended| {
            let verdict = ended.answer;
            verdict.is_ok_and(|verdict| judge::is_right(&verdict))
        }))
    }

    /// Returns how often the judge says the same as the labels; `None` if there are none.
    async fn agreement(&self, judge: &Judge) -> Result<Option<Share>, StoreError> {
        let (mut agreed, mut known) = (0.0, 0);
        for label in &judge.labels {
            if let Some(verdict) = self.verdict("label", judge, &label.case()).await? {
                known += 1;
                agreed += f64::from(u8::from(verdict == label.right));
            }
        }

        Ok((known > 0).then(|| Share::of(agreed, known)))
    }

    /// Makes or continues a run of a flow. Returns `None` if it was interrupted.
    async fn flow_run(
        &self,
        id: &str,
        flow: &Arc<FileFlow>,
        question: &str,
    ) -> Result<Option<Ended>, StoreError> {
        let mut state = FlowState::new(question);
        let before = self.summary(id).await?;
        let has_ended = before.is_some_and(|run| matches!(run.status, RunStatus::Ended { .. }));
        let journal = self.store.start_or_resume(id, flow.flow(), &state).await?;

        // A run that has ended is only read.
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

        // Does nothing if the flow names no servers of tools, or if they run.
        let ended = match flow.connect().await {
            Ok(()) => run.finish(&mut state).await,
            Err(error) => return Ok(Some(Ended::failed(&error.to_string(), state))),
        };
        if ended.as_ref().is_err_and(RunError::is_cancelled) {
            return Ok(None);
        }

        let answer = match ended {
            Ok(_) => flow.answer(&state).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        drop(run);
        if let Some(recorder) = recorder {
            if let Ok(answer) = &answer {
                recorder.record_answer(&answer.text);
            }
            // A run without its events can still be evaluated.
            let _ = recorder.flush().await;
        }

        let run = self.summary(id).await?;
        Ok(Some(Ended {
            answer: answer
                .map(|answer| answer.text)
                .map_err(|error| one_line(&flow.hide_secrets(&error))),
            state,
            seconds: run.map_or(0.0, |run| seconds(&run)),
        }))
    }

    async fn summary(&self, id: &str) -> Result<Option<RunSummary>, StoreError> {
        let runs = self.store.query(RunQuery::new().run_id(id)).await?;
        Ok(runs.into_iter().next())
    }
}

impl Ended {
    fn failed(error: &str, state: FlowState) -> Self {
        Self {
            answer: Err(one_line(error)),
            state,
            seconds: 0.0,
        }
    }
}

/// Returns the time from the start of a run to the last entry of its journal.
fn seconds(run: &RunSummary) -> f64 {
    let took = run
        .updated
        .map(|updated| updated.duration_since(run.started));
    took.and_then(Result::ok).unwrap_or_default().as_secs_f64()
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
