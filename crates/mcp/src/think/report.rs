//! Where a session is, and what may follow, for a model.

use std::collections::BTreeMap;

use cogwork_strategies::{BranchId, BranchStatus, Parameter, Session, Stage, ThoughtId};
use cogwork_tools::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::Value;

use super::change::{Done, What};
use crate::store::SessionId;

/// The maximum number of other open branches that are listed.
const BRANCHES: usize = 8;

/// Where a session is, on one of its branches. Its size doesn't depend on the number of thoughts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<SessionId>,
    #[serde(skip)]
    pub(crate) what: What,
    pub(crate) strategy: String,
    pub(crate) stage: String,
    /// The last thought on the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub(crate) thought: Option<ThoughtId>,
    pub(crate) branch: BranchReport,
    /// The number of thoughts on all branches.
    pub(crate) thoughts: usize,
    pub(crate) next: Vec<NextStage>,
    /// Whether a thought may stay in its stage.
    pub(crate) may_stay: bool,
    /// Other open branches, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) other_branches: Vec<String>,
}

/// A branch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchReport {
    pub(crate) name: String,
    pub(crate) is_current: bool,
    pub(crate) status: String,
    /// The number of thoughts on the branch.
    pub(crate) thoughts: usize,
    pub(crate) total_thoughts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
}

/// A stage that may follow.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NextStage {
    pub(crate) stage: String,
    pub(crate) prompt: String,
    /// The required parameters.
    pub(crate) needs: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub(crate) parameters: BTreeMap<String, Parameter>,
    /// Whether it ends the strategy.
    #[serde(rename = "final", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_final: bool,
}

impl Report {
    pub(crate) fn new(id: Option<&SessionId>, session: &Session, done: Done) -> Self {
        let found = session.branch(done.branch).ok();
        let tip = found.and_then(|branch| branch.tip());
        let tip = tip.and_then(|tip| session.thought(tip));
        let start = session.strategy();

        let stage = tip.map_or(start.start(), |thought| session.stage_of(thought));
        let strategy = tip.map_or(start.name(), |thought| thought.strategy());
        let is_open = found.is_some_and(|branch| branch.status() == BranchStatus::Open);

        Self {
            session: id.cloned(),
            what: done.what,
            strategy: strategy.to_owned(),
            stage: stage.name().to_owned(),
            thought: tip.map(|thought| thought.id()),
            branch: BranchReport::new(session, done.branch),
            thoughts: session.thoughts().len(),
            next: following(session, done.branch)
                .into_iter()
                .map(NextStage::new)
                .collect(),
            may_stay: is_open && tip.is_some(),
            other_branches: other_branches(session, done.branch),
        }
    }
}

impl BranchReport {
    pub(crate) fn new(session: &Session, id: BranchId) -> Self {
        let branch = session.branch(id).ok();
        let status = branch.map(|branch| branch.status().to_string());

        Self {
            name: branch.map_or_else(String::new, |branch| branch.name().to_owned()),
            is_current: session.current() == id,
            status: status.unwrap_or_default(),
            thoughts: branch.map_or(0, |branch| branch.thoughts().len()),
            total_thoughts: branch.map_or(0, |branch| branch.total_thoughts()),
            score: branch.and_then(|branch| branch.score()),
        }
    }
}

impl NextStage {
    fn new(stage: &Stage) -> Self {
        let required = stage.parameters().iter();
        let required = required.filter(|(_, parameter)| parameter.is_required());

        Self {
            stage: stage.name().to_owned(),
            prompt: stage.prompt().to_owned(),
            needs: required.map(|(name, _)| name.clone()).collect(),
            parameters: stage.parameters().clone(),
            is_final: stage.is_final(),
        }
    }
}

/// Returns the stages that the next thought may name. The first thought may name the start stage as
/// well.
pub(crate) fn following(session: &Session, branch: BranchId) -> Vec<&Stage> {
    let mut stages = session.allowed(branch).unwrap_or_default();
    let is_empty = session
        .branch(branch)
        .is_ok_and(|line| line.tip().is_none());
    let start = session.strategy().start();

    let is_listed = stages.iter().any(|stage| stage.name() == start.name());
    if is_empty && !is_listed {
        stages.insert(0, start);
    }
    stages
}

fn other_branches(session: &Session, than: BranchId) -> Vec<String> {
    let newest_first = session.branches().iter().rev();
    let open = newest_first
        .filter(|branch| branch.status() == BranchStatus::Open)
        .filter(|branch| branch.id() != than);
    let names = open.map(|branch| branch.name().to_owned());
    names.take(BRANCHES).collect()
}
