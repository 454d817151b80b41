use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_agents::FlowState;
use cogwork_flow::CancellationToken;
use cogwork_journal::{RunQuery, RunStatus, Store, StoreError};
use cogwork_text::files::safe_name;
use cogwork_text::{NameList, OneLine, counted};
use cogwork_trace::{RecorderSettings, RunRecorder};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use itertools::{Itertools, iproduct};
use sha2::{Digest, Sha256};

use crate::cost::Cost;
use crate::judge;
use crate::result::{RunResult, Share};
use crate::{Arm, Check, Problem, Suite, Table};

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
    token: CancellationToken,
    progress: Box<dyn Fn(usize, usize) + Send + Sync>,
}

/// A run of a flow that has ended, failed or was interrupted.
struct Ended {
    answer: Answer,
    state: FlowState,
    /// Whether an earlier evaluation made it.
    was_on_record: bool,
}

/// A run to make: the number of the repetition, the problem with its number among those with the same
/// question, and the arm with its index.
type Task<'a> = (u32, (usize, &'a Problem), (usize, &'a Arm));

/// The error of a run that was not started or was interrupted, which isn't a result.
const NOT_MADE: &str = "the run was not made";

type Result<T> = std::result::Result<T, StoreError>;

/// What was used, by the names of columns.
type Used = BTreeMap<String, f64>;

/// The answer of a run, or why it has none.
type Answer = std::result::Result<String, String>;

/// Whether an answer is right, or why that isn't known.
type Verdict = std::result::Result<bool, String>;

impl Evaluation {
    /// Creates an evaluation. Costs are by the list prices of common models.
    pub fn new(suite: Suite, store: Store) -> Self {
        Self {
            suite,
            store,
            token: CancellationToken::new(),
            progress: Box::new(|_, _| {}),
        }
    }

    /// Stops the evaluation when `token` is cancelled. The runs in progress can be continued.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Calls `look` after each run that is made, with the number of runs that have ended and that of all
    /// runs. By default, nothing is called.
    #[must_use]
    pub fn with_progress(mut self, look: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        self.progress = Box::new(look);
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
    pub async fn run(&self) -> Result<Table> {
        let started = Instant::now();
        let suite = &self.suite;

        // The runs of all arms for a problem are together, so that the table of an evaluation that was
        // stopped compares the same problems.
        let arms = suite.arms.iter().enumerate();
        let tasks = iproduct!(1..=suite.repetitions, self.problems(), arms).enumerate();
        let mut left = Vec::new();
        let mut results = BTreeMap::new();
        let mut spent = BTreeMap::new();
        // What earlier evaluations have spent counts before anything is run.
        for (order, task) in tasks {
            let (.., (index, _)) = task;
            let result = self.result(task, false).await?;
            add(&mut spent, &result.used, 1.0);
            if result.error.is_some() {
                left.push(((index, order), task));
            }
            results.insert((index, order), result);
        }
        let agreement = self.agreement(&mut spent, started).await?;

        let mut done = results.len() - left.len();
        let mut left = left.into_iter();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < suite.at_once
                && self.stopped_by(&spent, started).is_none()
                && let Some((place, task)) = left.next()
            {
                running.push(async move { (place, self.result(task, true).await) });
            }
            let Some((place, result)) = running.next().await else {
                break;
            };

            let result = result?;
            // What was interrupted isn't a result. It continues when the evaluation is started again.
            if result.error.is_some() && self.token.is_cancelled() {
                continue;
            }
            add(&mut spent, &result.used, 1.0);
            if let Some(before) = results.insert(place, result) {
                add(&mut spent, &before.used, -1.0);
            }
            done += 1;
            (self.progress)(done, suite.runs());
        }

        results.retain(|_, run| run.error.as_deref() != Some(NOT_MADE));
        let mut table = Table::of(suite, &results, agreement);
        let reason = self.stopped_by(&spent, started).unwrap_or_default();
        let arms = table.arms.iter().filter(|arm| !table.is_whole(arm));
        let arms = NameList::and(arms.map(|arm| &arm.name).collect_vec());
        table.not_made = match table.not_run {
            0 => None,
            1 => Some(format!("1 run of {arms} was not made, because of {reason}")),
            runs => Some(format!(
                "{runs} runs of {arms} were not made, because of {reason}"
            )),
        };
        Ok(table)
    }

    /// Returns the problems, each with its number among those with the same question.
    fn problems(&self) -> Vec<(usize, &Problem)> {
        let mut twins = BTreeMap::new();
        let numbered = self.suite.problems.iter().map(|problem| {
            let twin = twins.entry(&problem.question).or_insert(0);
            *twin += 1;
            (*twin, problem)
        });
        numbered.collect()
    }

    /// Returns what keeps further runs from being started, if there is something.
    fn stopped_by(&self, spent: &Used, started: Instant) -> Option<String> {
        if self.token.is_cancelled() {
            return Some("the interruption".to_owned());
        }

        let limits = self.suite.limits;
        let of_column = |name: &str| spent.get(name).copied().unwrap_or_default();
        // The judge is paid for, too.
        let spent = |name: &str| of_column(name) + of_column(&format!("judge_{name}"));
        let used = [
            (spent("calls"), limits.calls, "call"),
            (spent("tokens"), limits.tokens, "token"),
            (spent("cost_at_most"), limits.money, "dollar"),
            (started.elapsed().as_secs_f64(), limits.seconds, "second"),
        ];
        used.into_iter().find_map(|(used, most, unit)| {
            let most = most.filter(|most| used >= *most)?;
            Some(format!("the limit of {}", counted(most, unit)))
        })
    }

    /// Makes a run, or takes it from the store.
    async fn result(&self, task: Task<'_>, may_run: bool) -> Result<RunResult> {
        let (repetition, (twin, problem), (_, arm)) = task;
        // Another flow or question is another run, and everything else finds this one again. The id of a
        // problem may be its place, which changes when others are added.
        let digest = hash(arm, &[&problem.question, &twin.to_string()]);
        let run = format!("{}-{repetition}-{digest}", arm.name);
        let ended = self.flow_run(&run, arm, &problem.question, may_run).await?;
        let mut judging = Cost::default();
        let right = match (&ended.answer, &problem.check, &self.suite.judge) {
            (Ok(answer), Check::Judge(expected), Some(judge)) => {
                let case = judge::case(&problem.question, expected, answer);
                self.verdict(&run, judge, &case, may_run, &mut judging)
                    .await?
            }
            (Ok(answer), ..) => Ok(problem.check.accepts(answer)),
            (Err(error), ..) => Err(error.clone()),
        };

        let mut used = self.used(&run, &ended.state).await?;
        used.extend(judging.columns("judge_"));
        used.insert(
            "failure_rate".to_owned(),
            f64::from(u8::from(right.is_err())),
        );
        Ok(RunResult {
            problem: problem.id.clone(),
            repetition,
            page: safe_name(&run) + ".html",
            run,
            right: right == Ok(true),
            error: right.err(),
            // Tables and pages are written somewhere else than the journal.
            answer: ended
                .answer
                .ok()
                .map(|answer| arm.flow.hide_secrets(&answer)),
            used,
        })
    }

    /// Returns what a run used, by the names of columns.
    async fn used(&self, run: &str, state: &FlowState) -> Result<Used> {
        let mut cost = Cost::default();
        cost.add_run(&self.store, run).await?;
        // Events can be lost, and then the state knows of more, but not of their models.
        if state.calls() > cost.calls {
            cost = cost.without_prices(state.calls(), state.usage());
        }
        let tries = state.visits().flat_map(|visit| &visit.tries);
        let asked_again = tries.filter(|one| one.complaint.is_some());
        let reasonings = state.reasonings().values();
        let thoughts = reasonings.flat_map(|reasoning| reasoning.thoughts());
        let repaired = thoughts.filter(|thought| !thought.trace.repairs.is_empty());

        let used = [
            ("tokens_in", cost.usage.prompt_tokens as f64),
            ("cached", cost.usage.cached_tokens as f64),
            ("tokens_out", cost.usage.completion_tokens as f64),
            ("seconds", cost.seconds),
            ("repairs", repaired.count() as f64),
            ("asked_again", asked_again.count() as f64),
        ];
        let used = used.map(|(name, number)| (name.to_owned(), number));
        Ok(cost.columns("").chain(used).collect())
    }

    /// Asks the judge, or takes its verdict from the store. Adds what it has cost.
    async fn verdict(
        &self,
        run: &str,
        judge: &Arm,
        case: &str,
        may_run: bool,
        cost: &mut Cost,
    ) -> Result<Verdict> {
        let digest = hash(judge, &[case]);
        let mut verdict = Err(NOT_MADE.to_owned());
        for number in 1.. {
            let id = format!("{run}-judge-{digest}-{number}");
            let ended = self.flow_run(&id, judge, case, may_run).await?;
            cost.add_run(&self.store, &id).await?;

            verdict = match ended.answer {
                Ok(reply) => judge::is_right(&reply),
                Err(error) if error == NOT_MADE => break,
                Err(error) => Err(format!("the judge failed: {error}")),
            };
            // A reply that is no verdict stays on record. Each evaluation asks once more, in another run.
            if verdict.is_ok() || !ended.was_on_record {
                break;
            }
        }
        Ok(verdict)
    }

    /// Returns how often the judge says the same as the labels; `None` if there are none.
    async fn agreement(&self, spent: &mut Used, started: Instant) -> Result<Option<Share>> {
        let mut agreed = Vec::new();
        for label in &self.suite.labels {
            if let Some(judge) = &self.suite.judge {
                let case = judge::case(&label.question, &label.expected, &label.answer);
                let may_run = self.stopped_by(spent, started).is_none();
                let mut cost = Cost::default();
                let verdict = self.verdict("label", judge, &case, may_run, &mut cost);
                let verdict = verdict.await?;
                add(spent, &cost.columns("judge_").collect(), 1.0);
                agreed.extend(verdict.map(|verdict| f64::from(u8::from(verdict == label.right))));
            }
        }
        Ok(Share::of(&agreed))
    }

    /// Makes or continues a run of a flow, or only reads what is on record of it.
    async fn flow_run(&self, id: &str, arm: &Arm, question: &str, may_run: bool) -> Result<Ended> {
        let mut state = FlowState::new(question);
        let run = self.store.query(RunQuery::new().run_id(id)).await?.pop();
        let status = run.map(|run| run.status);
        let has_ended = matches!(status, Some(RunStatus::Ended { .. }));
        let answer = match status {
            _ if may_run || has_ended => self.execute(id, arm, &mut state, has_ended).await?,
            // An interruption is on record as an error, too.
            Some(RunStatus::Failed { error }) if !error.contains("the run was cancelled") => {
                Err(error)
            }
            _ => Err(NOT_MADE.to_owned()),
        };

        let shown = |error: String| OneLine::new(arm.flow.hide_secrets(&error)).with_max_chars(300);
        Ok(Ended {
            answer: answer.map_err(|error| shown(error).to_string()),
            state,
            was_on_record: has_ended,
        })
    }

    /// Executes a run, or reads one that has ended.
    async fn execute(
        &self,
        id: &str,
        arm: &Arm,
        state: &mut FlowState,
        has_ended: bool,
    ) -> Result<Answer> {
        let flow = &arm.flow;
        let journal = self.store.start_or_resume(id, flow.flow(), state).await?;

        let hide = Arc::clone(flow);
        let settings = RecorderSettings::default()
            .with_input(&state.input().text)
            .with_secrets(move |text| hide.hide_secrets(text));
        // A run that has ended is only read.
        let recorder = match has_ended {
            true => None,
            false => Some(RunRecorder::new(&journal, settings).await),
        };

        // A clock can't add more, and nothing runs for a year.
        let limit = self.suite.limits.run_seconds.unwrap_or(600).min(31_536_000);
        let mut run = flow
            .flow()
            .begin()
            .with_id(id)
            .with_max_steps(1_000)
            .with_deadline(tokio::time::Instant::now() + Duration::from_secs(limit))
            .with_journal(journal);
        if let Some(recorder) = &recorder {
            run = run
                .with_events(recorder)
                .with_cancellation(self.token.clone());
        }

        // Connecting does nothing if the flow names no servers of tools, or if they run.
        let mut ended = flow.connect().await.map_err(|error| error.to_string());
        if ended.is_ok() {
            let finished = run.finish(state).await;
            ended = finished.map(drop).map_err(|error| error.to_string());
        }
        let answer = ended.and_then(|()| flow.answer(state).map_err(|error| error.to_string()));
        if let Some(recorder) = recorder {
            if let Ok(answer) = &answer {
                recorder.record_answer(&answer.text);
            }
            // A run without its events can still be evaluated.
            let _ = recorder.flush().await;
        }

        Ok(answer.map(|answer| answer.text))
    }
}

fn add(spent: &mut Used, used: &Used, times: f64) {
    for (name, used) in used {
        *spent.entry(name.clone()).or_default() += times * used;
    }
}

/// Returns a digest of a flow and what it is asked.
fn hash(arm: &Arm, asked: &[&str]) -> String {
    let digest = Sha256::new_with_prefix(arm.flow.digest());
    let digest = digest.chain_update(asked.join("\0")).finalize();
    format!("{:02x}", digest.iter().take(8).format(""))
}
