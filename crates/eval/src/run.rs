use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_agents::FlowState;
use cogwork_flow::CancellationToken;
use cogwork_journal::{RunQuery, RunStatus, RunSummary, Store, StoreError};
use cogwork_llm::layers::Prices;
use cogwork_text::OneLine;
use cogwork_text::files::safe_name;
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
    answer: std::result::Result<String, String>,
    state: FlowState,
    cost: Cost,
}

type Result<T> = std::result::Result<T, StoreError>;

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

    /// Calls `look` after each run, with the number of runs that have ended and that of all runs. By
    /// default, nothing is called.
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
        let agreement = self.agreement().await?;

        // The runs of all arms for a problem are together, so that the table of an evaluation that was
        // stopped compares the same problems.
        let arms = suite.arms.iter().enumerate();
        let mut tasks = iproduct!(1..=suite.repetitions, &suite.problems, arms).enumerate();
        let mut running = FuturesUnordered::new();
        let mut results = BTreeMap::new();
        let mut spent = BTreeMap::new();
        loop {
            while running.len() < suite.at_once
                && !self.is_over(&spent, started)
                && let Some((order, (repetition, problem, (index, arm)))) = tasks.next()
            {
                let result = self.result(arm, problem, repetition);
                running.push(async move { ((index, order), result.await) });
            }
            let Some((place, result)) = running.next().await else {
                break;
            };

            let result = result?;
            // What was interrupted isn't a result. It continues when the evaluation is started again.
            if result.error.is_some() && self.token.is_cancelled() {
                continue;
            }
            for (name, used) in &result.used {
                *spent.entry(name.clone()).or_default() += used;
            }
            results.insert(place, result);
            (self.progress)(results.len(), suite.runs());
        }
        Ok(Table::of(suite, &results, agreement))
    }

    fn is_over(&self, spent: &BTreeMap<String, f64>, started: Instant) -> bool {
        let limits = self.suite.limits;
        let spent = |name| spent.get(name).copied().unwrap_or_default();
        let used = [
            (spent("calls"), limits.calls),
            (spent("tokens"), limits.tokens),
            (spent("cost_at_most"), limits.money),
            (started.elapsed().as_secs_f64(), limits.seconds),
        ];

        // Not `>=`: a limit of NaN allows nothing.
        let is_left = |used: f64, most: f64| used < most;
        let mut used = used.into_iter();
        let is_spent = used.any(|(used, most)| most.is_some_and(|most| !is_left(used, most)));
        is_spent || self.token.is_cancelled()
    }

    /// Makes a run, or takes it from the store.
    async fn result(&self, arm: &Arm, problem: &Problem, repetition: u32) -> Result<RunResult> {
        // Another arm, question or setting is another run, and everything else finds this one again.
        let digest = hash(&[&arm.text, &problem.question]);
        let run = format!("{}-{}-{repetition}-{digest}", arm.name, problem.id);
        let ended = self.flow_run(&run, arm, &problem.question).await?;
        let right = match (&ended.answer, &problem.check, &self.suite.judge) {
            (Ok(answer), Check::Judge(expected), Some(judge)) => {
                let case = judge::case(&problem.question, expected, answer);
                self.verdict(&run, judge, &case).await?
            }
            (Ok(answer), ..) => Ok(problem.check.accepts(answer)),
            (Err(error), ..) => Err(error.clone()),
        };

        let mut used = Self::used(arm, &ended);
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
    fn used(arm: &Arm, ended: &Ended) -> BTreeMap<String, f64> {
        let state = &ended.state;
        let (usage, model, prices) = (state.usage(), arm.model(), Prices::common());
        let cost = prices.known_cost(model.as_deref(), usage);
        let tries = state.visits().flat_map(|visit| &visit.tries);
        let asked_again = tries.filter(|one| one.complaint.is_some());
        let reasonings = state.reasonings().values();
        let thoughts = reasonings.flat_map(|reasoning| reasoning.thoughts());
        let repaired = thoughts.filter(|thought| !thought.trace.repairs.is_empty());

        let used = [
            ("calls", state.calls().into()),
            ("tokens", usage.total_tokens() as f64),
            ("tokens_in", usage.prompt_tokens as f64),
            ("cached", usage.cached_tokens as f64),
            ("tokens_out", usage.completion_tokens as f64),
            ("seconds", ended.cost.seconds),
            ("cost", cost.unwrap_or_default()),
            // A model without a price costs as much as the dearest.
            ("cost_at_most", prices.cost(model.as_deref(), usage)),
            ("repairs", repaired.count() as f64),
            ("asked_again", asked_again.count() as f64),
        ];
        used.map(|(name, number)| (name.to_owned(), number)).into()
    }

    /// Asks the judge, or takes its verdict from the store.
    async fn verdict(&self, run: &str, judge: &Arm, case: &str) -> Result<Verdict> {
        let id = format!("{run}-judge-{}", hash(&[&judge.text, case]));
        let ended = self.flow_run(&id, judge, case).await?;
        Ok(ended.answer.and_then(|verdict| judge::is_right(&verdict)))
    }

    /// Returns how often the judge says the same as the labels; `None` if there are none.
    async fn agreement(&self) -> Result<Option<Share>> {
        let mut agreed = Vec::new();
        for label in &self.suite.labels {
            if let Some(judge) = &self.suite.judge {
                let case = judge::case(&label.question, &label.expected, &label.answer);
                let verdict = self.verdict("label", judge, &case).await?;
                agreed.extend(verdict.map(|verdict| f64::from(u8::from(verdict == label.right))));
            }
        }
        Ok(Share::of(&agreed))
    }

    /// Makes or continues a run of a flow.
    async fn flow_run(&self, id: &str, arm: &Arm, question: &str) -> Result<Ended> {
        let flow = &arm.flow;
        let mut state = FlowState::new(question);
        let known = self.summary(id).await?;
        let has_ended = known.is_some_and(|run| matches!(run.status, RunStatus::Ended { .. }));
        let journal = self.store.start_or_resume(id, flow.flow(), &state).await?;

        let hide = Arc::clone(flow);
        let settings = RecorderSettings::default()
            .with_input(question)
            .with_secrets(move |text| hide.hide_secrets(text));
        // A run that has ended is only read.
        let recorder = (!has_ended).then(|| RunRecorder::new(&journal, settings));

        // A clock can't add more, and nothing runs for a year.
        let limit = self.suite.limits.run_seconds.unwrap_or(600).min(31_536_000);
        let mut run = flow
            .flow()
            .begin()
            .with_id(id)
            .with_max_steps(1_000)
            .with_deadline(tokio::time::Instant::now() + Duration::from_secs(limit))
            .with_cancellation(self.token.clone())
            .with_journal(journal);
        if let Some(recorder) = &recorder {
            run = run.with_events(recorder);
        }

        // Connecting does nothing if the flow names no servers of tools, or if they run.
        let mut ended = flow.connect().await.map_err(|error| error.to_string());
        if ended.is_ok() {
            let finished = run.finish(&mut state).await;
            ended = finished.map(drop).map_err(|error| error.to_string());
        }
        let answer = ended.and_then(|()| flow.answer(&state).map_err(|error| error.to_string()));
        if let Some(recorder) = recorder {
            if let Ok(answer) = &answer {
                recorder.record_answer(&answer.text);
            }
            // A run without its events can still be evaluated.
            let _ = recorder.flush().await;
        }

        let shown = |error: &str| OneLine::new(flow.hide_secrets(error)).with_max_chars(300);
        let answer = answer.map_err(|error| shown(&error).to_string());
        Ok(Ended {
            answer: answer.map(|answer| answer.text),
            state,
            cost: Cost::of(&self.store, id).await?,
        })
    }

    async fn summary(&self, run: &str) -> Result<Option<RunSummary>> {
        let runs = self.store.query(RunQuery::new().run_id(run)).await;
        Ok(runs?.pop())
    }
}

fn hash(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\0"));
    format!("{:02x}", digest.iter().take(8).format(""))
}
