use std::sync::Arc;

use cogwork_agents::FileFlow;
use cogwork_text::MultiLine;
use itertools::Itertools;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Problem;

/// Problems, and the arms that are compared on them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Suite {
    /// The name.
    pub name: String,
    /// The problems.
    pub problems: Vec<Problem>,
    /// The ways to ask.
    pub arms: Vec<Arm>,
    /// How often each arm tries each problem.
    pub repetitions: u32,
    /// The arm to which the others are compared.
    pub baseline: Option<String>,
    /// When the evaluation stops.
    pub limits: SuiteLimits,
    /// The number of runs at the same time.
    pub at_once: usize,
    /// The model that compares answers with right ones.
    pub(crate) judge: Option<Arm>,
    /// Answers for which the verdict of the judge is known.
    pub(crate) labels: Vec<Label>,
}

impl Suite {
    /// Returns the number of all runs.
    pub(crate) fn runs(&self) -> usize {
        let tries = self.problems.len().saturating_mul(self.arms.len());
        tries.saturating_mul(self.repetitions as usize)
    }
}

/// All problems of a suite, a line each, with line and column.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", MultiLine::new(.0))]
pub struct SuiteError(pub(crate) String);

cogwork_text::debug_as_display!(SuiteError);

/// A way to ask: a flow from a file, or of one node.
#[derive(Debug)]
#[non_exhaustive]
pub struct Arm {
    /// The name, which is unique in a suite.
    pub name: String,
    /// The flow as YAML, for the command `run`.
    pub text: String,
    pub(crate) flow: Arc<FileFlow>,
}

impl Arm {
    /// Returns the model of all nodes, for prices; `None` if there are several.
    pub(crate) fn model(&self) -> Option<String> {
        let flow: Value = serde_yaml::from_str(&self.text).ok()?;
        let nodes = flow.get("nodes")?.as_array()?.iter();
        let mut models = nodes.filter_map(|node| node.pointer("/config/name")?.as_str());
        models.all_equal_value().ok().map(str::to_owned)
    }
}

/// The limits of an evaluation. When one is reached, no further run is started; an evaluation that is
/// started again with higher limits goes on.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuiteLimits {
    /// The maximum number of calls of models.
    pub calls: Option<f64>,
    /// The maximum number of tokens.
    pub tokens: Option<f64>,
    /// The maximum cost by the price table, in US dollars. Models without a price count as the dearest.
    pub money: Option<f64>,
    /// The maximum time in seconds.
    pub seconds: Option<f64>,
    /// The maximum time of one run in seconds. The default is 600.
    pub run_seconds: Option<u64>,
}

/// The settings of an agent that judges, and what its verdicts should be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeSettings {
    pub(crate) config: Map<String, Value>,
    #[serde(default)]
    pub(crate) labels: Vec<Label>,
}

/// An answer for which the verdict of a person is known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Label {
    pub(crate) question: String,
    pub(crate) expected: String,
    pub(crate) answer: String,
    pub(crate) right: bool,
}
