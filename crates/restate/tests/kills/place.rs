//! What the harness needs of a place where runs are recorded.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::flow::Story;
use crate::process::Process;
use crate::witness::Made;

/// A place where runs are recorded, and the workers that execute them.
///
/// While its server is down, everything that is asked of it is an error that is worth another attempt.
pub(crate) trait Place {
    /// Whether a run can be forked.
    const FORKS: bool;

    /// Has the workers execute a run.
    async fn order(&self, order: &Order) -> Result<()>;

    /// Answers everything for which the run waits. Returns its final state once it has ended.
    async fn tend(&self, run: &str) -> Result<Option<Story>>;

    async fn record(&self, run: &str) -> Result<Record>;

    fn workers(&mut self) -> &mut [Process];

    /// Kills the server, and starts it again. Returns whether there is one.
    async fn kill_server(&mut self) -> Result<bool>;
}

/// A run to execute. Its id is the same in each attempt to start it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) run: String,
    pub(crate) fork: Option<ForkOf>,
    /// Whether the record is folded, now and then.
    pub(crate) folds: bool,
}

/// The beginning of a fork.
#[derive(Serialize, Deserialize)]
pub(crate) struct ForkOf {
    pub(crate) run: String,
    /// The step before which the runs part, or none to keep everything.
    pub(crate) step: Option<u64>,
}

/// The recorded outcome of each step that is a call.
pub(crate) type Record = HashMap<String, Made>;
