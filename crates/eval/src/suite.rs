//! Suites, and their reading, which finds all problems.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cogwork_agents::{FileFlow, Loader};
use cogwork_text::files::{self, Folder};
use cogwork_text::{MultiLine, Name, NameList, expensive_yaml_line};
use saphyr::{LoadableYamlNode, MarkedYaml};
use serde::Deserialize;
use serde_json::{Map, Value, from_value, json};

use crate::judge::ROLE;
use crate::problem::unread;
use crate::{Check, Problem, generate};

/// The maximum size of a suite and of a file of problems, in bytes.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The maximum depth of a suite.
const MOST_LEVELS: usize = 64;

/// The maximum number of problems of a suite.
const MOST_PROBLEMS: usize = 200_000;

/// The maximum number of runs of a suite.
const MOST_RUNS: usize = 1_000_000;

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
pub struct SuiteError(String);

cogwork_text::debug_as_display!(SuiteError);

/// A way to ask: a flow from a file, or of one node.
#[derive(Debug)]
#[non_exhaustive]
pub struct Arm {
    /// The name, which is unique in a suite.
    pub name: String,
    /// The flow as YAML, for the command `run`.
    pub text: String,
    /// The only folder in which the flow works, if it names files.
    pub home: Option<PathBuf>,
    pub(crate) flow: Arc<FileFlow>,
}

/// The limits of an evaluation. When one is reached, no further run is started; an evaluation that is
/// started again with higher limits goes on. Calls, tokens and money count since the first start, also
/// those of runs that failed.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuiteLimits {
    /// The maximum number of calls of models, with those of the judge, as in the next two.
    pub calls: Option<f64>,
    /// The maximum number of tokens.
    pub tokens: Option<f64>,
    /// The maximum cost by the price table, in US dollars. Models without a price count as the dearest.
    pub money: Option<f64>,
    /// The maximum time of one start in seconds.
    pub seconds: Option<f64>,
    /// The maximum time of one run in seconds. The default is 600.
    pub run_seconds: Option<u64>,
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

type Settings = Map<String, Value>;

/// A suite as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSuite {
    name: Option<String>,
    problems: Vec<Value>,
    arms: Vec<WrittenArm>,
    #[serde(default)]
    defaults: Settings,
    repetitions: Option<NonZeroU32>,
    baseline: Option<String>,
    #[serde(default)]
    limits: SuiteLimits,
    at_once: Option<NonZeroUsize>,
    judge: Option<Settings>,
    #[serde(default)]
    labels: Vec<Label>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArm {
    name: String,
    flow: Option<String>,
    r#type: Option<String>,
    #[serde(default)]
    config: Settings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Generated {
    generate: String,
    count: Option<u16>,
    seed: Option<u64>,
    difficulty: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemFile {
    file: String,
}

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
        let unread = |error: files::Error| SuiteError(format!("{file}: {error}"));
        let (folder, name) = Folder::of_linked_file(path).map_err(unread)?;
        let text = folder.read_text_file(name, MOST_BYTES).map_err(unread)?;
        // A suite may come from somebody else.
        if let Some(line) = expensive_yaml_line(&text, MOST_LEVELS) {
            let expected = format!("expected at most {MOST_LEVELS} levels");
            return Err(SuiteError(format!("{file}:{line}: {expected}")));
        }
        let text = text.trim_start_matches('\u{feff}');
        // Settings of any name are read as JSON, which takes the last of two equal keys.
        let has_no_twins = serde_yaml::from_str::<serde_yaml::Value>(text);
        let written = has_no_twins.and_then(|_| serde_yaml::from_str(text));
        let written = written.map_err(|error| {
            let problem = error.to_string();
            let Some(place) = error.location() else {
                return SuiteError(format!("{file}: {problem}"));
            };
            let (line, column) = (place.line(), place.column());
            // Some errors have the place at their end, and all have it in front here.
            let problem = problem.trim_end_matches(&format!(" at line {line} column {column}"));
            SuiteError(format!("{file}:{line}:{column}: {problem}"))
        })?;

        let mut reading = Reading {
            folder,
            loader,
            found: Vec::new(),
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let suite = reading.suite(written, &name);
        if reading.found.is_empty() {
            return Ok(suite);
        }

        // The places are only needed now. The text is YAML, since it was read before.
        let documents = MarkedYaml::load_from_str(text).unwrap_or_default();
        let lines = reading.found.iter().map(|(path, problem)| {
            let place = documents.first().map(|document| place(document, path));
            format!("{file}:{} {path}: {problem}", place.unwrap_or_default())
        });
        Err(SuiteError(lines.collect::<Vec<_>>().join("\n")))
    }
}

/// Returns the place of a value, such as `arms[2].config`, or of the closest one around it, as
/// `12:3:`.
fn place(document: &MarkedYaml<'_>, path: &str) -> String {
    let mut value = document;
    for part in path.split(['.', '[']) {
        let inside = match part.trim_end_matches(']').parse() {
            Ok(index) => value.data.as_sequence_get(index),
            Err(_) => value.data.as_mapping_get(part),
        };
        let Some(inside) = inside else { break };
        value = inside;
    }

    let start = value.span.start;
    format!("{}:{}:", start.line(), start.col() + 1)
}

struct Reading<'a> {
    folder: Folder,
    loader: &'a Loader,
    /// The problems: the path to the value, and what is wrong with it.
    found: Vec<(String, String)>,
}

impl Reading<'_> {
    fn suite(&mut self, written: WrittenSuite, default_name: &str) -> Suite {
        self.check_names(&written);
        if written.judge.is_none() && !written.labels.is_empty() {
            self.add(
                "labels",
                "there is no `judge`; expected the settings of one",
            );
        }
        let mut arms = Vec::new();
        for (index, arm) in written.arms.into_iter().enumerate() {
            let path = format!("arms[{index}]");
            let arm = self.arm(&path, arm, &written.defaults);
            if let Some(waits) = arm.as_ref().and_then(|arm| arm.flow.waits()) {
                let problem = "which nobody gives in an evaluation; expected another flow";
                self.add(&path, format!("{waits}, {problem}"));
            }
            arms.extend(arm);
        }
        let suite = Suite {
            name: written.name.unwrap_or_else(|| default_name.to_owned()),
            problems: self.problems(written.problems, written.judge.is_some()),
            arms,
            repetitions: written.repetitions.map_or(1, NonZeroU32::get),
            baseline: written.baseline,
            limits: written.limits,
            at_once: written.at_once.map_or(4, NonZeroUsize::get),
            judge: written.judge.and_then(|config| self.judge(config)),
            labels: written.labels,
        };
        self.check_limits(&suite);
        suite
    }

    fn check_limits(&mut self, suite: &Suite) {
        let runs = suite.runs();
        if runs > MOST_RUNS {
            let problem = format!("there are {runs} runs; expected at most {MOST_RUNS}");
            self.add("repetitions", problem);
        }

        let limits = suite.limits;
        for (name, limit) in [
            ("calls", limits.calls),
            ("tokens", limits.tokens),
            ("money", limits.money),
            ("seconds", limits.seconds),
        ] {
            if let Some(wrong) = limit.filter(|limit| limit.is_nan() || *limit < 0.0) {
                let problem = format!("the limit is {wrong}; expected at least 0");
                self.add(&format!("limits.{name}"), problem);
            }
        }
    }

    fn judge(&mut self, mut config: Settings) -> Option<Arm> {
        config.entry("role").or_insert_with(|| ROLE.into());
        self.node("judge", "judge".to_owned(), "agent", config)
    }

    fn add(&mut self, path: &str, problem: impl ToString) {
        self.found.push((path.to_owned(), problem.to_string()));
    }

    fn check_names(&mut self, written: &WrittenSuite) {
        let names: BTreeSet<_> = written.arms.iter().map(|arm| &arm.name).collect();
        if names.len() < written.arms.len() {
            let problem = "two arms have the same name; expected different ones";
            self.add("arms", problem);
        }
        if names.is_empty() {
            self.add("arms", "there are none; expected at least one");
        }

        let baseline = written.baseline.as_ref();
        if let Some(unknown) = baseline.filter(|name| !names.contains(name)) {
            let (unknown, known) = (Name(unknown), NameList::or(&names));
            let problem = format!("unknown arm `{unknown}`; expected {known}");
            self.add("baseline", problem);
        }
    }

    fn problems(&mut self, sources: Vec<Value>, has_judge: bool) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            let path = format!("problems[{index}]");
            match self.problems_of(index, source) {
                Ok(more) => problems.extend(more),
                Err(problem) => self.add(&path, problem),
            }
            // Not at the end: a few lines can ask for more than fit into memory.
            if problems.len() > MOST_PROBLEMS {
                let problem =
                    format!("there are too many problems; expected at most {MOST_PROBLEMS}");
                self.add(&path, problem);
                break;
            }
        }

        // The table names runs by the ids of their problems.
        let mut ids = BTreeSet::new();
        for problem in &problems {
            let (id, check, name) = (&problem.id, &problem.check, Name(&problem.id));
            if problem.question.trim().is_empty() {
                let problem = format!("the question of `{name}` is blank; expected a text");
                self.add("problems", problem);
            }
            if !ids.insert(id) {
                let problem = format!("two problems have the id `{name}`; expected different ones");
                self.add("problems", problem);
            }
            if matches!(check, Check::Judge(_)) && !has_judge {
                let problem =
                    format!("the problem `{name}` needs a `judge`; expected the settings of one");
                self.add("judge", problem);
            }
        }
        if problems.is_empty() {
            self.add("problems", "there are none; expected at least one");
        }
        problems
    }

    /// Returns the problems of an item: generated ones, those of a file, or one problem.
    fn problems_of(&self, index: usize, source: Value) -> Result<Vec<Problem>, String> {
        if source.get("generate").is_some() {
            let made: Generated = from_value(source).map_err(unread)?;
            let (count, seed) = (made.count.unwrap_or(10), made.seed.unwrap_or_default());
            return generate(&made.generate, count, seed, made.difficulty.unwrap_or(1));
        }
        if source.get("file").is_some() {
            let ProblemFile { file } = from_value(source).map_err(unread)?;
            return Problem::from_lines(&file, &self.text_beside(&file)?);
        }

        let problem: Problem = from_value(source).map_err(unread)?;
        Ok(vec![problem.with_default_id("problem", index + 1)])
    }

    /// Reads a file in the folder of the suite or below.
    fn text_beside(&self, file: &str) -> Result<String, String> {
        let found = self.folder.file_beneath(file);
        let text = found.and_then(|(folder, name)| folder.read_text_file(name, MOST_BYTES));
        text.map_err(|error| format!("{}: {error}", Name(file)))
    }

    fn arm(&mut self, path: &str, arm: WrittenArm, defaults: &Settings) -> Option<Arm> {
        let name = arm.name;
        let Some(file) = arm.flow else {
            let mut config = defaults.clone();
            config.extend(arm.config);
            let kind = arm.r#type.as_deref().unwrap_or("agent");
            return self.node(path, name, kind, config);
        };

        if arm.r#type.is_some() || !arm.config.is_empty() {
            let problem = "an arm with `flow` has no `type` or `config`; remove them";
            self.add(path, problem);
        }
        let path = format!("{path}.flow");
        // The loader reads the file again. The text is needed to write the arm.
        let text = self.text_beside(&file);
        let text = text.map_err(|problem| self.add(&path, problem)).ok()?;
        let flow = self.loader.load(self.folder.path_of(&file));
        let flow = flow.map_err(|error| {
            let problems = error.problems().iter();
            problems.for_each(|problem| self.add(&path, problem));
        });
        let flow = Arc::new(flow.ok()?);
        let (folder, _) = self.folder.file_beneath(&file).ok()?;
        Some(Arm {
            name,
            text,
            home: folder.real_path().ok().filter(|_| flow.names_files()),
            flow,
        })
    }

    /// Returns an arm with a flow of one node.
    fn node(&mut self, path: &str, name: String, kind: &str, config: Settings) -> Option<Arm> {
        let node = json!({"id": "answer", "type": kind, "config": config});
        let text = serde_yaml::to_string(&json!({"name": "arm", "nodes": [node]})).ok()?;
        let flow = self.loader.load_text("arm", &text).map_err(|error| {
            for problem in error.problems() {
                // The suite has the node at another path, and of a judge only its settings.
                let place = problem.path.replacen("nodes[0]", path, 1);
                self.add(&place.replace("judge.config", "judge"), &problem.message);
            }
        });
        let flow = Arc::new(flow.ok()?);
        Some(Arm {
            name,
            text,
            home: None,
            flow,
        })
    }
}
