use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cogwork_agents::{FileFlow, Loader};
use cogwork_text::files::Folder;
use cogwork_text::{MultiLine, OneLine};
use serde::Deserialize;
use serde_json::Value;

use crate::Problem;
use crate::judge::Judge;
use crate::reading::{MOST_BYTES, Reading, located};

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
    pub(crate) judge: Option<Judge>,
}

/// A way to ask: a flow from a file, or of one node.
#[derive(Debug)]
#[non_exhaustive]
pub struct Arm {
    /// The name, which is unique in a suite.
    pub name: String,
    /// The name of the model, for prices; `None` if there are several.
    pub model: Option<String>,
    pub(crate) flow: Arc<FileFlow>,
    pub(crate) text: String,
}

impl Arm {
    pub(crate) fn new(name: &str, flow: Arc<FileFlow>, text: String) -> Self {
        Self {
            name: one_line(name),
            model: only_model(&text),
            flow,
            text,
        }
    }

    /// Returns the flow of the arm as YAML, for the command `run`.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the model of all nodes of a flow.
fn only_model(text: &str) -> Option<String> {
    let flow: Value = serde_yaml::from_str(text).ok()?;
    let nodes = flow.get("nodes")?.as_array()?.iter();
    let mut models: Vec<_> = nodes
        .filter_map(|node| node.get("config")?.get("name")?.as_str())
        .collect();
    models.dedup();

    match models.as_slice() {
        [model] => Some((*model).to_owned()),
        _ => None,
    }
}

/// Names are shown in tables, where they have no room for more.
pub(crate) fn one_line(name: &str) -> String {
    OneLine::new(name).with_max_chars(100).to_string()
}

/// The limits of an evaluation. When one is reached, no further run is started; an evaluation that is
/// started again with higher limits goes on.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuiteLimits {
    /// The maximum number of calls of models.
    pub calls: Option<u64>,
    /// The maximum number of tokens.
    pub tokens: Option<u64>,
    /// The maximum cost by the price table, in US dollars. Models without a price count as the dearest.
    pub money: Option<f64>,
    /// The maximum time in seconds.
    pub seconds: Option<u64>,
    /// The maximum time of one run in seconds. The default is 600.
    pub run_seconds: Option<u64>,
}

impl SuiteLimits {
    pub(crate) fn run_time(&self) -> Duration {
        Duration::from_secs(self.run_seconds.unwrap_or(600))
    }
}

/// All problems of a suite, a line each, with line and column.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", MultiLine::new(problems.join("\n")))]
pub struct SuiteError {
    problems: Vec<String>,
}

cogwork_text::debug_as_display!(SuiteError);

impl Suite {
    /// Reads a suite and everything that it names: files of problems and flows beside it, with the
    /// clients of all arms.
    ///
    /// # Errors
    ///
    /// Returns all problems of the suite.
    pub fn load(path: impl AsRef<Path>, loader: &Loader) -> Result<Self, SuiteError> {
        let path = path.as_ref();
        let file = path.display();
        let fail = |problem: String| SuiteError {
            problems: vec![problem],
        };

        let opened = Folder::of_linked_file(path).and_then(|(folder, name)| {
            let text = folder.read_text_file(name, MOST_BYTES)?;
            Ok((folder, text))
        });
        let (folder, text) = opened.map_err(|error| fail(format!("{file}: {error}")))?;
        let written = serde_yaml::from_str(&text).map_err(|error| {
            let place = error.location();
            let place = place.map(|place| format!(":{}:{}", place.line(), place.column()));
            fail(format!("{file}{}: {error}", place.unwrap_or_default()))
        })?;

        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Reading::new(folder, loader)
            .suite(written, &name)
            .map_err(|found| SuiteError {
                problems: located(&file.to_string(), &text, found),
            })
    }
}
