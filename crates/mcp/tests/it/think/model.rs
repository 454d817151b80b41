//! Random operations, compared with a simple model of a session.

use cogwork_mcp::Server;
use cogwork_strategies::{Session, Strategies};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

use super::{needed, next_of, session_text};
use crate::support::{Client, call, connect, text};

/// A call that may be refused. An index chooses among what there is, and one thing more that there
/// isn't.
#[derive(Debug, Clone)]
enum Step {
    Think { branch: Index, stage: Index },
    ThinkFrom { from: Index },
    Fork { from: Index, is_named: bool },
    Switch { branch: Index },
    Score { branch: Index, score: i8 },
    SelectBest,
    Merge { sources: Vec<Index>, into: Index },
    Prune { branch: Index },
    ChangeStrategy { branch: Index, strategy: Index },
    BeginPart { branch: Index, strategy: Index },
    Undo,
}

const STRATEGIES: [&str; 4] = ["linear", "react", "step_back", "nonsense"];

impl Step {
    fn only_adds_a_thought(&self) -> bool {
        matches!(
            self,
            Self::Think { .. }
                | Self::Merge { .. }
                | Self::ChangeStrategy { .. }
                | Self::BeginPart { .. }
        )
    }
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    let index = any::<Index>;
    let step = prop_oneof![
        6 => (index(), index()).prop_map(|(branch, stage)| Step::Think { branch, stage }),
        2 => index().prop_map(|from| Step::ThinkFrom { from }),
        2 => (index(), any::<bool>()).prop_map(|(from, is_named)| Step::Fork { from, is_named }),
        1 => index().prop_map(|branch| Step::Switch { branch }),
        1 => (index(), -1_i8..12).prop_map(|(branch, score)| Step::Score { branch, score }),
        1 => Just(Step::SelectBest),
        2 => (prop::collection::vec(index(), 0..4), index())
            .prop_map(|(sources, into)| Step::Merge { sources, into }),
        1 => index().prop_map(|branch| Step::Prune { branch }),
        1 => (index(), index())
            .prop_map(|(branch, strategy)| Step::ChangeStrategy { branch, strategy }),
        1 => (index(), index()).prop_map(|(branch, strategy)| Step::BeginPart { branch, strategy }),
        3 => Just(Step::Undo),
    ];
    prop::collection::vec(step, 1..40)
}

/// What the session should be like.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    /// The texts of the thoughts, and the names of their branches.
    thoughts: Vec<(String, String)>,
    branches: Vec<String>,
    current: String,
}

impl Model {
    fn new() -> Self {
        Self {
            thoughts: vec![("0".to_owned(), "main".to_owned())],
            branches: vec!["main".to_owned()],
            current: "main".to_owned(),
        }
    }

    fn branch(&self, index: &Index) -> String {
        let chosen = self.branches.get(index.index(self.branches.len() + 1));
        chosen.map_or_else(|| "nowhere".to_owned(), String::clone)
    }

    fn thought(&self, index: &Index) -> usize {
        index.index(self.thoughts.len() + 1) + 1
    }

    /// Applies an accepted step, whose answer is for `branch`.
    fn apply(&mut self, step: &Step, number: usize, branch: &str) {
        match step {
            Step::Merge { sources, .. } => {
                self.thoughts.push((number.to_string(), branch.to_owned()));
                if sources
                    .iter()
                    .any(|source| self.branch(source) == self.current)
                {
                    self.current = branch.to_owned();
                }
            }
            Step::Think { .. } | Step::ChangeStrategy { .. } | Step::BeginPart { .. } => {
                self.thoughts.push((number.to_string(), branch.to_owned()));
            }
            Step::ThinkFrom { .. } => {
                self.thoughts.push((number.to_string(), branch.to_owned()));
                self.branches.push(branch.to_owned());
                self.current = branch.to_owned();
            }
            Step::Fork { .. } => {
                self.branches.push(branch.to_owned());
                self.current = branch.to_owned();
            }
            Step::Switch { .. } | Step::SelectBest => self.current = branch.to_owned(),
            Step::Score { .. } | Step::Prune { .. } => {}
            Step::Undo => {
                self.thoughts.pop();
            }
        }
    }
}

/// Returns the tool and the arguments of a step.
fn request(step: &Step, model: &Model, number: usize, answer: &Value) -> (&'static str, Value) {
    let thought = number.to_string();
    let manage = |arguments| ("think_session", arguments);
    match step {
        Step::Think { branch, stage } => {
            // The last answer may have been for another branch.
            let next = next_of(answer);
            let stage = next.get(stage.index(next.len() + 1));
            let stage = stage.map_or("nonsense", String::as_str);
            let strategy = answer["strategy"].as_str().expect("a name");
            let arguments = json!({
                "thought": thought,
                "branch": model.branch(branch),
                "stage": stage,
                "parameters": parameters(strategy, stage),
            });
            ("think", arguments)
        }
        Step::ThinkFrom { from } => {
            let from = model.thought(from);
            let name = format!("thought-{number}");
            (
                "think",
                json!({"thought": thought, "branchFrom": from, "branch": name}),
            )
        }
        Step::Fork { from, is_named } => {
            let from = model.thought(from);
            let name = is_named.then(|| format!("fork-{number}"));
            manage(json!({"operation": "fork", "from": from, "branch": name}))
        }
        Step::Switch { branch } => {
            manage(json!({"operation": "switch", "branch": model.branch(branch)}))
        }
        Step::Score { branch, score } => {
            let branch = model.branch(branch);
            manage(json!({"operation": "score", "branch": branch, "score": score}))
        }
        Step::SelectBest => manage(json!({"operation": "select_best"})),
        Step::Merge { sources, into } => {
            let sources: Vec<String> = sources.iter().map(|source| model.branch(source)).collect();
            let into = model.branch(into);
            manage(
                json!({"operation": "merge", "branches": sources, "into": into, "thought": thought}),
            )
        }
        Step::Prune { branch } => {
            manage(json!({"operation": "prune", "branch": model.branch(branch)}))
        }
        Step::ChangeStrategy { branch, strategy } => {
            let branch = model.branch(branch);
            let strategy = strategy.get(&STRATEGIES);
            manage(
                json!({"operation": "change_strategy", "branch": branch, "strategy": strategy, "thought": thought}),
            )
        }
        Step::BeginPart { branch, strategy } => {
            let branch = model.branch(branch);
            let strategy = strategy.get(&STRATEGIES);
            manage(
                json!({"operation": "begin_part", "branch": branch, "strategy": strategy, "thought": thought}),
            )
        }
        Step::Undo => manage(json!({"operation": "undo"})),
    }
}

/// Returns valid values of the required parameters of a stage.
fn parameters(strategy: &str, stage: &str) -> Map<String, Value> {
    let strategies = Strategies::built_in();
    let strategy = strategies.get(strategy).ok();
    let stage = strategy.and_then(|strategy| strategy.stage(stage));
    stage.map(needed).unwrap_or_default()
}

/// Returns everything that a session consists of.
async fn exported(client: &Client) -> Value {
    let export = json!({"operation": "export", "format": "json", "sessionId": "s"});
    let text = session_text(client, export).await;

    let read = Session::from_json(&text).expect("a possible session");
    let again = serde_json::to_value(read).expect("JSON");
    let exported: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(exported, again);
    exported
}

/// Returns what the model has as well, from an export.
fn modelled(export: &Value) -> Model {
    let branches = export["branches"].as_array().expect("branches");
    let names = branches.iter().map(|branch| branch["name"].as_str());
    let names: Vec<String> = names.map(|name| name.expect("a name").to_owned()).collect();
    let named = |index: &Value| {
        let index = index.as_u64().expect("an index");
        names[usize::try_from(index).expect("an index")].clone()
    };

    let thoughts = export["thoughts"].as_array().expect("thoughts");
    let thoughts = thoughts.iter().map(|thought| {
        let text = thought["thought"].as_str().expect("a text");
        (text.to_owned(), named(&thought["branch"]))
    });
    Model {
        thoughts: thoughts.collect(),
        current: named(&export["current"]),
        branches: names,
    }
}

/// Returns an export without what `undo` leaves as it is.
fn undoable(mut export: Value) -> Value {
    for branch in export["branches"].as_array_mut().expect("branches") {
        branch["total_thoughts"] = Value::Null;
    }
    export["current"] = Value::Null;
    export
}

async fn check(steps: Vec<Step>) {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder().with_data(folder.path());
    let client = connect(builder.clone()).await;
    let begin = json!({"strategy": "linear", "sessionId": "s", "thought": "0"});
    let mut answer = super::think(&client, begin).await;

    let mut model = Model::new();
    let mut before = exported(&client).await;
    let mut added_to: Option<Value> = None;

    for (index, step) in steps.iter().enumerate() {
        let number = index + 1;
        let (tool, arguments) = request(step, &model, number, &answer);
        let result = call(&client, tool, arguments.clone()).await;
        let after = exported(&client).await;

        if result.is_error == Some(true) {
            assert_eq!(before, after, "{arguments} was refused: {}", text(&result));
            continue;
        }

        answer = result.structured_content.expect("data");
        model.apply(
            step,
            number,
            answer["branch"]["name"].as_str().expect("a name"),
        );
        assert_eq!(modelled(&after), model, "after {arguments}");

        if matches!(step, Step::Undo)
            && let Some(earlier) = added_to
        {
            assert_eq!(undoable(after.clone()), undoable(earlier));
        }
        added_to = step.only_adds_a_thought().then_some(before);
        before = after;
    }

    drop(client);
    let client = connect(builder).await;
    assert_eq!(exported(&client).await, before);
    for (format, mark) in [("markdown", "\n## "), ("mermaid", "<br/>")] {
        let export = json!({"operation": "export", "format": format, "sessionId": "s"});
        let text = session_text(&client, export).await;
        assert_eq!(text.matches(mark).count(), model.thoughts.len(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_session_is_what_a_simple_model_predicts(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(check(steps));
    }
}
