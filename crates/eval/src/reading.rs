use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use cogwork_agents::{FileError, FileFlow, FileProblem, Loader};
use cogwork_text::files::Folder;
use cogwork_text::{Name, NameList};
use saphyr::{LoadableYamlNode, MarkedYaml};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::judge::{Judge, JudgeSettings};
use crate::problem::{WrittenProblem, from_lines};
use crate::suite::one_line;
use crate::{Arm, Check, Problem, Suite, SuiteLimits, family};

/// The maximum size of a suite and of a file of problems, in bytes.
pub(crate) const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The maximum number of runs of a suite.
const MOST_RUNS: u64 = 1_000_000;

/// A suite as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenSuite {
    name: Option<String>,
    problems: Vec<Value>,
    arms: Vec<WrittenArm>,
    #[serde(default)]
    defaults: Map<String, Value>,
    repetitions: Option<NonZeroU32>,
    baseline: Option<String>,
    #[serde(default)]
    limits: SuiteLimits,
    at_once: Option<NonZeroUsize>,
    judge: Option<JudgeSettings>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArm {
    name: String,
    flow: Option<String>,
    r#type: Option<String>,
    #[serde(default)]
    config: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Generated {
    generate: String,
    count: Option<u16>,
    #[serde(default)]
    seed: u64,
    difficulty: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemFile {
    file: String,
}

/// A problem of a suite: the path to the value, and what is wrong with it.
pub(crate) type Found = (String, String);

/// Writes problems with the lines and columns of the values, or of the values around them.
pub(crate) fn located(file: &str, text: &str, found: Vec<Found>) -> Vec<String> {
    let documents = MarkedYaml::load_from_str(text).unwrap_or_default();
    let lines = found.into_iter().map(|(path, problem)| {
        let place = documents.first().map(|document| place(document, &path));
        format!("{file}:{} {path}: {problem}", place.unwrap_or_default())
    });
    lines.collect()
}

/// Returns the place of a value, such as `arms[2].config`, as `12:3:`.
fn place(document: &MarkedYaml<'_>, path: &str) -> String {
    let mut value = document;
    for part in path.split(['.', '[']) {
        let inside = match part.trim_end_matches(']').parse() {
            Ok(index) => value.data.as_sequence_get(index),
            Err(_) => value.data.as_mapping().and_then(|mapping| {
                let mut entries = mapping.iter();
                entries.find_map(|(key, value)| (key.data.as_str() == Some(part)).then_some(value))
            }),
        };
        let Some(inside) = inside else { break };
        value = inside;
    }

    let start = value.span.start;
    format!("{}:{}:", start.line(), start.col() + 1)
}

/// The reading of a suite, which collects its problems.
pub(crate) struct Reading<'a> {
    folder: Folder,
    loader: &'a Loader,
    found: Vec<Found>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(folder: Folder, loader: &'a Loader) -> Self {
        Self {
            folder,
            loader,
            found: Vec::new(),
        }
    }

    pub(crate) fn suite(
        mut self,
        written: WrittenSuite,
        default_name: &str,
    ) -> Result<Suite, Vec<Found>> {
        let name = written.name.as_deref().unwrap_or(default_name);
        let problems = self.problems(written.problems);
        let judge = written.judge.and_then(|settings| self.judge(settings));
        let repetitions = written.repetitions.map_or(1, NonZeroU32::get);

        let runs = problems.len() as u64 * written.arms.len() as u64 * u64::from(repetitions);
        if runs > MOST_RUNS {
            let problem = format!("there are {runs} runs; expected at most {MOST_RUNS}");
            self.add("repetitions", problem);
        }
        if judge.is_none() {
            self.check_for_judge(&problems);
        }

        let names: Vec<_> = written.arms.iter().map(|arm| arm.name.clone()).collect();
        self.check_names(&names, written.baseline.as_deref());
        let arms = written.arms.into_iter().enumerate();
        let arms = arms.filter_map(|(index, arm)| {
            let path = format!("arms[{index}]");
            self.arm(&path, arm, &written.defaults)
        });

        let suite = Suite {
            name: one_line(name),
            arms: arms.collect(),
            problems,
            repetitions,
            baseline: written.baseline.as_deref().map(one_line),
            limits: written.limits,
            at_once: written.at_once.map_or(4, NonZeroUsize::get),
            judge,
        };
        if self.found.is_empty() {
            Ok(suite)
        } else {
            Err(self.found)
        }
    }

    fn add(&mut self, path: &str, problem: impl ToString) {
        self.found.push((path.to_owned(), problem.to_string()));
    }

    fn problems(&mut self, sources: Vec<Value>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            match self.problems_of(index, source) {
                Ok(more) => problems.extend(more),
                Err(problem) => self.add(&format!("problems[{index}]"), problem),
            }
        }

        let mut ids = BTreeSet::new();
        for Problem { id, .. } in &problems {
            if !ids.insert(id) {
                let id = Name(id);
                let problem = format!("two problems have the id `{id}`; expected different ones");
                self.add("problems", problem);
            }
        }
        if problems.is_empty() {
            self.add("problems", "there are none; expected at least one");
        }
        problems
    }

    /// Returns the problems of an item: one problem, those of a file, or generated ones.
    fn problems_of(&self, index: usize, source: Value) -> Result<Vec<Problem>, String> {
        if source.get("generate").is_some() {
            let Generated {
                generate,
                count,
                seed,
                difficulty,
            } = settings(source)?;
            return family::generate(
                &generate,
                count.unwrap_or(10),
                seed,
                difficulty.unwrap_or(1),
            );
        }
        if source.get("file").is_some() {
            let ProblemFile { file } = settings(source)?;
            return from_lines(&file, &self.text_beside(&file)?);
        }

        let written: WrittenProblem = settings(source)?;
        let problem = written.into_problem(format!("problem-{}", index + 1))?;
        Ok(vec![problem])
    }

    /// Reads a file in the folder of the suite or below.
    fn text_beside(&self, file: &str) -> Result<String, String> {
        let text = self
            .folder
            .file_beneath(file)
            .and_then(|(folder, name)| folder.read_text_file(name, MOST_BYTES));
        text.map_err(|error| format!("{}: {error}", Name(file)))
    }

    fn arm(&mut self, path: &str, arm: WrittenArm, defaults: &Map<String, Value>) -> Option<Arm> {
        let Some(file) = arm.flow else {
            let mut config = defaults.clone();
            config.extend(arm.config);
            let kind = arm.r#type.as_deref().unwrap_or("agent");
            return self.node(path, &arm.name, kind, config);
        };

        if arm.r#type.is_some() || !arm.config.is_empty() {
            let problem = "an arm with `flow` has no `type` or `config`; remove them";
            self.add(path, problem);
        }
        let path = format!("{path}.flow");
        let text = match self.text_beside(&file) {
            Ok(text) => text,
            Err(problem) => {
                self.add(&path, problem);
                return None;
            }
        };
        let loaded = self.loader.load(self.folder.path_of(&file));
        let flow = self.loaded(loaded, |problem| (path.clone(), problem.to_string()))?;
        Some(Arm::new(&arm.name, flow, text))
    }

    /// Makes a flow of one node.
    fn node(
        &mut self,
        path: &str,
        name: &str,
        kind: &str,
        config: Map<String, Value>,
    ) -> Option<Arm> {
        let node = json!({"id": "answer", "type": kind, "config": config});
        let text = serde_yaml::to_string(&json!({"name": "arm", "nodes": [node]}));
        let text = text.unwrap_or_default();

        let loaded = self.loader.load_text("arm", &text);
        let flow = self.loaded(loaded, |problem| {
            let inside = problem.path.replacen("nodes[0]", path, 1);
            (inside, problem.message.clone())
        })?;
        Some(Arm::new(name, flow, text))
    }

    fn loaded(
        &mut self,
        loaded: Result<FileFlow, FileError>,
        found: impl Fn(&FileProblem) -> Found,
    ) -> Option<Arc<FileFlow>> {
        match loaded {
            Ok(flow) => Some(Arc::new(flow)),
            Err(error) => {
                self.found.extend(error.problems().iter().map(found));
                None
            }
        }
    }

    fn judge(&mut self, settings: JudgeSettings) -> Option<Judge> {
        let arm = self.node("judge", "judge", "agent", settings.node())?;
        Some(Judge {
            arm,
            labels: settings.labels,
        })
    }

    fn check_names(&mut self, names: &[String], baseline: Option<&str>) {
        let known: BTreeSet<_> = names.iter().map(String::as_str).collect();
        if known.len() < names.len() {
            self.add(
                "arms",
                "two arms have the same name; expected different ones",
            );
        }
        if let Some(unknown) = baseline.filter(|baseline| !known.contains(baseline)) {
            let problem = format!(
                "unknown arm `{}`; expected {}",
                Name(unknown),
                NameList::or(&known)
            );
            self.add("baseline", problem);
        }
    }

    fn check_for_judge(&mut self, problems: &[Problem]) {
        let needs = |problem: &&Problem| matches!(problem.check, Check::Judge(_));
        if let Some(Problem { id, .. }) = problems.iter().find(needs) {
            let id = Name(id);
            let problem = format!("the problem `{id}` needs a judge; expected its `config`");
            self.add("judge", problem);
        }
    }
}

fn settings<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
