//! Forks: new runs that begin with a part of the record of another run.

mod cut;
mod plan;
mod replay;
mod step;

use std::fmt;
use std::pin::Pin;

use cogwork_flow::Flow;
use cogwork_flow::engine::{Json, OutcomeProblem, Snapshot};
use cogwork_text::{Name, NameList};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::replay::{Replay, edited};
use crate::StoreError;

/// How to fork a run, for [`Store::fork`](crate::Store::fork).
///
/// A fork is a new run whose record begins with a copy of a part of the record of another run. When
/// it is executed, that part is replayed without making any calls, and the rest is executed anew,
/// for example with a different model or prompt. The other run isn't changed.
///
/// # Steps
///
/// Steps are counted from 1, as in the names of steps: `shop/charge#7` is step 7. A step in a
/// subflow counts like any other. Steps inside items and branches don't count: all of
/// `crawl/page#7[0]/fetch#1` to `crawl/page#7[9]/parse#2` belong to step 7.
///
/// # Answers, waits and sleeps
///
/// Answers that steps before the fork used are kept with them. An answer that arrived before the
/// first entry of a dropped step, and that no kept step used, is kept for the next step that waits
/// for its event. Later answers are dropped, and a wait that is dropped begins anew, with its whole
/// time limit. Of a run that waits, [`at_end`](Fork::at_end) copies the wait with its time limit.
///
/// # Snapshots
///
/// If a record was [folded](cogwork_flow::Run::with_fold_every), the steps before its snapshot are
/// gone. The run can be forked at the first step after the snapshot or later.
///
/// ```
/// use cogwork_flow::{Flow, from_phases};
/// use cogwork_journal::{Fork, Store};
///
/// /// Adds the outcomes of three calls.
/// fn adding(number: u32) -> Result<Flow<Vec<u32>>, cogwork_flow::BuildError> {
///     let call = move || from_phases(
///         |_: &mut Vec<u32>| (),
///         move |()| async move { Ok::<_, std::io::Error>(number) },
///         |numbers, number| numbers.push(number),
///     );
///     Flow::builder("adding")
///         .start("one").node("one", call()).edge("one", "default", "two")
///         .node("two", call()).edge("two", "default", "three")
///         .node("three", call()).end("three", "default")
///         .build()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::files(folder.path());
/// let ones = adding(1)?;
/// let journal = store.start("run 1", &ones, &Vec::<u32>::new()).await?;
/// let mut numbers: Vec<u32> = journal.state()?;
/// ones.begin().with_journal(journal).finish(&mut numbers).await?;
///
/// // Steps 1 and 2 are replayed, the second one with a different outcome. Step 3 is executed.
/// let twos = adding(2)?;
/// let fork = Fork::at(2).with_outcome(&10);
/// let journal = store.fork("run 1", &twos, fork).await?;
/// let mut numbers: Vec<u32> = journal.state()?;
/// twos.begin().with_journal(journal).finish(&mut numbers).await?;
/// assert_eq!(numbers, [1, 10, 2]);
///
/// let origin = store.runs().await?[1].fork.clone().ok_or("not a fork")?;
/// assert_eq!(origin.to_string(), "`run 1` at step 2, with a different outcome of `adding/two#2`");
/// # Ok(())
/// # }
/// ```
pub struct Fork<S> {
    at: At,
    run_id: Option<String>,
    outcomes: Vec<NewOutcome>,
    state: Option<EditState<S>>,
    changes_flow: bool,
}

/// Replays so many steps, and edits the state after them.
type EditState<S> = Box<dyn for<'f> FnOnce(&'f Flow<S>, Replay, u64) -> Edits<'f> + Send>;

type Edits<'f> = Pin<Box<dyn Future<Output = Result<Snapshot, StoreError>> + Send + 'f>>;

/// Where the runs part.
#[derive(Debug, Clone, PartialEq, Eq)]
enum At {
    Step(u64),
    Visit { node: String, number: u64 },
    End,
}

/// An outcome that replaces the recorded one.
struct NewOutcome {
    /// The name of the step. `None` if the step has a single outcome.
    step: Option<String>,
    outcome: Result<Json, OutcomeProblem>,
}

impl<S> Fork<S> {
    fn new(at: At) -> Self {
        Self {
            at,
            run_id: None,
            outcomes: Vec::new(),
            state: None,
            changes_flow: false,
        }
    }

    /// Creates a fork that keeps the steps before this one. This step and those after it are
    /// executed anew, unless its outcome is [edited](Self::with_outcome).
    pub fn at(step: u64) -> Self {
        Self::new(At::Step(step))
    }

    /// Creates a fork at the step that visits a node for the `number`th time, counted from 1, for
    /// example at the third thought of a chain of thought, each of which is a visit. `node` is the
    /// path of the node as in the names of steps, without the name of the flow: `think`, or
    /// `research/think` in a subflow.
    ///
    /// Visits cannot be counted in a record that begins with a snapshot, nor in one of an earlier
    /// version of the flow in which the node had a different name.
    pub fn at_visit(node: impl Into<String>, number: u64) -> Self {
        let node = node.into();
        Self::new(At::Visit { node, number })
    }

    /// Creates a fork that keeps everything that is on record, so that two runs continue from here.
    /// A fork of a run that has ended ends like it, without making any calls.
    pub fn at_end() -> Self {
        Self::new(At::End)
    }

    /// Sets the id of the new run.
    ///
    /// # Default
    ///
    /// The id of the other run followed by ` fork 1`, or the next number that isn't used yet.
    #[must_use]
    pub fn with_run_id(mut self, run_id: impl Into<String>) -> Self {
        self.run_id = Some(run_id.into());
        self
    }

    /// Replaces the recorded outcome of the step at which the runs part, for example the reply of a
    /// model. The steps after it are executed anew. For a step that waited for an event, this is the
    /// answer.
    ///
    /// The type of the outcome isn't checked here. If the flow cannot read it, the run fails at that
    /// step.
    #[must_use]
    pub fn with_outcome(self, outcome: &impl Serialize) -> Self {
        self.with_new_outcome(None, outcome)
    }

    /// Replaces the recorded outcome of one of several parts of the step at which the runs part:
    /// an item of a batch, such as `crawl/fetch#7[2]`, a step inside an item or a branch, such as
    /// `crawl/page#7[2]/fetch#1`, or a call inside a composite step, such as
    /// `crawl/report#7.1/search.2`. [`Store::entries`](crate::Store::entries) returns these names.
    /// It can be called several times for different parts.
    ///
    /// Other parts of the step keep their outcomes, except for those that may depend on this one:
    /// later steps in the same item or branch, and calls of the same step that were recorded later.
    #[must_use]
    pub fn with_outcome_of(self, step: impl Into<String>, outcome: &impl Serialize) -> Self {
        self.with_new_outcome(Some(step.into()), outcome)
    }

    fn with_new_outcome(mut self, step: Option<String>, outcome: &impl Serialize) -> Self {
        let outcome = Json::of(outcome);
        self.outcomes.push(NewOutcome { step, outcome });
        self
    }

    /// Edits the state before the step at which the runs part. [`Store::fork`](crate::Store::fork)
    /// replays the steps before it in memory, with the flow that is passed to it, and records the
    /// edited state as a snapshot. The earlier steps aren't copied.
    ///
    /// The run must have begun with its input as its state.
    #[must_use]
    pub fn with_state(mut self, edit: impl FnOnce(&mut S) + Send + 'static) -> Self
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        self.state = Some(Box::new(|flow, replay, steps| {
            Box::pin(edited(flow, replay, steps, edit))
        }));
        self
    }

    /// Sets whether the shape of the flow may be different from the recorded one. The steps that are
    /// kept must still visit the same nodes; otherwise, the new run fails where it visits a different
    /// one. The name of the flow must be the same in any case.
    ///
    /// # Default
    ///
    /// `false`.
    #[must_use]
    pub fn with_changed_flow(mut self, changes_flow: bool) -> Self {
        self.changes_flow = changes_flow;
        self
    }
}

impl<S> fmt::Debug for Fork<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork")
            .field("at", &self.at)
            .field("run_id", &self.run_id)
            .field("outcomes", &self.outcomes.len())
            .field("state", &self.state.is_some())
            .field("changes_flow", &self.changes_flow)
            .finish()
    }
}

/// Where a run was forked from, as recorded with it. See [`Fork`](crate::Fork).
///
/// `{}` writes it in one line: "`run 3` at step 7, with a different outcome of shop/charge#7".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ForkOrigin {
    /// The id of the other run.
    pub run_id: String,
    /// The step at which the runs part. All steps before it were taken from the other run.
    pub step: u64,
    /// The names of the steps with a different outcome than in the other run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited_outcomes: Vec<String>,
    /// Whether the state before the step was edited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited_state: bool,
}

impl fmt::Display for ForkOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run_id = Name(&self.run_id);
        write!(f, "`{run_id}` at step {}", self.step)?;

        if self.edited_state {
            f.write_str(", with an edited state")?;
        }
        if self.edited_outcomes.is_empty() {
            return Ok(());
        }

        let outcomes = NameList::and(&self.edited_outcomes);
        write!(f, ", with a different outcome of {outcomes}")
    }
}

/// What a fork begins with, as [`Store::preview_fork`](crate::Store::preview_fork) returns it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ForkPreview<S> {
    /// The step at which the runs part.
    pub step: u64,
    /// The outcomes of this step that are on record in the other run, in the order in which they were
    /// recorded. Those are what [`Fork::with_outcome`](crate::Fork::with_outcome) and
    /// [`Fork::with_outcome_of`](crate::Fork::with_outcome_of) replace.
    pub outcomes: Vec<ForkOutcome>,
    /// The state of the new run before the first step that is executed: before step
    /// [`step`](Self::step) or, if all of its outcomes are kept or edited, after it.
    pub state: S,
}

/// A recorded outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ForkOutcome {
    /// The name of the step, of a part of it, or of a call in it.
    pub step: String,
    /// The outcome. For a wait, this is the answer.
    pub outcome: Json,
}
