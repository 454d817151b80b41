//! The tool `think-strategies`.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_strategies::{
    BranchId, BranchStatus, EndRule, Session, Stage, Strategy, StrategyName, ThoughtDraft,
};
use rmcp::model::{CallToolResponse, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::given::Given;
use super::inferred;
use crate::arguments::Arguments;
use crate::connection::Connection;
use crate::store::SessionKind;
use crate::think::answer::described;
use crate::think::branch_name::{branch, new_name};
use crate::think::failure::fields_of;
use crate::think::operation::Operation;
use crate::think::report::Report;
use crate::think::rules::Ruled;
use crate::think::schema;
use crate::think::sessions::{Beginning, ThinkSessions};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// Adds a thought, whose stage follows from the arguments.
pub(super) struct ThinkStrategies {
    sessions: Arc<ThinkSessions>,
}

impl ThinkStrategies {
    pub(super) fn new(sessions: Arc<ThinkSessions>) -> Self {
        Self { sessions }
    }
}

#[async_trait]
impl ServerTool for ThinkStrategies {
    fn definition(&self) -> Tool {
        let text = || json!({"type": "string"});
        let count = || json!({"type": "integer", "minimum": 1});
        let objects = || json!({"type": "array", "items": {"type": "object"}});
        let strategies = self.sessions.strategies();
        let strategy = "The strategy of a new session, or the one to change to.";

        let properties = vec![
            ("thought", text()),
            ("strategy", schema::strategy(strategies, strategy)),
            ("stage", text()),
            ("sessionPurpose", text()),
            ("nextThoughtNeeded", json!({"type": "boolean"})),
            ("needsMoreThoughts", json!({"type": "boolean"})),
            ("thoughtNumber", count()),
            ("totalThoughts", count()),
            ("revisesThought", count()),
            ("branchFromThought", count()),
            ("branchId", text()),
            ("action", text()),
            ("observation", text()),
            ("finalAnswer", text()),
            ("plannedActions", objects()),
            ("actionResults", objects()),
            ("qualityRating", json!({"type": "object"})),
        ];
        let annotations = ToolAnnotations::from_raw(
            Some("Think with the names of think-strategies".to_owned()),
            Some(false),
            Some(false),
            Some(false),
            Some(false),
        );
        Tool::new(
            "think-strategies",
            DESCRIPTION,
            schema::object(properties, &["thought"]),
        )
        .with_annotations(annotations)
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let arguments = Arguments::new(call.arguments);
        think(&self.sessions, call.connection, arguments).await
    }
}

const DESCRIPTION: &str = "\
The tool `think` with the arguments of think-strategies. The stage of a thought follows from its \
arguments: the next one, or the one whose parameters are given, such as `action`. Parameters of a \
stage are separate arguments. `thoughtNumber` 1 begins a new session.";

/// Adds a thought.
pub(super) async fn think(
    sessions: &ThinkSessions,
    connection: &Connection,
    arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    let given = Given::read(arguments, sessions)?;
    let current = connection.current(SessionKind::Think);
    let is_anew = given.number == Some(1) && given.branch_from.is_none();
    let id = current.filter(|_| !is_anew);

    let strategy = given.strategy.clone();
    let strategy = strategy.unwrap_or_else(|| StrategyName::Linear.strategy());
    let beginning = Beginning {
        first: Some(first(&strategy, &given)),
        strategy,
        purpose: given.purpose.clone(),
        // A caller of think-strategies ends when it wants to.
        early_end: EndRule::Allow,
    };
    let plan = |session: &Session| planned(session, &given);
    let report = sessions.begin_or_change(connection, id, beginning, plan);
    let report = report.await?;

    Ok(answer(&report, &given, sessions))
}

/// Returns the first thought of a session, in the stage that it names or in the start stage.
fn first(strategy: &Strategy, given: &Given) -> ThoughtDraft {
    let mut draft = given.draft.clone();
    let stage = match &draft.stage {
        None => Some(strategy.start()),
        Some(name) => strategy.stage(name),
    };
    if let Some(stage) = stage {
        draft.parameters = values(stage, given);
    }
    draft
}

/// Returns the operation for a thought on a session that has begun.
fn planned(session: &Session, given: &Given) -> Result<Operation, ToolFailure> {
    if let Some(strategy) = &given.strategy
        && strategy_of(session) != strategy
    {
        return Ok(Operation::ChangeStrategy {
            branch: session.current(),
            strategy: Ruled::of(strategy),
            draft: given.draft.clone(),
        });
    }

    let is_parameter = given.draft.stage.as_deref().is_some_and(|name| {
        let stage = strategy_of(session).stage(name);
        stage.is_some_and(|stage| stage.parameters().contains_key("branch_from_thought"))
    });
    match given.branch_from.filter(|_| !is_parameter) {
        None => on_branch(session, given, is_parameter),
        Some(from) => {
            let name = given.branch.as_deref();
            let known = name.and_then(|name| session.branch_named(name));
            if known.is_some() {
                return on_branch(session, given, false);
            }

            let stage = match (&given.draft.stage, session.thought(from)) {
                (None, Some(thought)) => {
                    let next = thought.strategy().next(thought.stage()).collect();
                    inferred::among(next, given).unwrap_or(None)
                }
                _ => None,
            };
            let draft = match stage {
                Some(stage) => draft_at(stage, given),
                None => given.draft.clone(),
            };
            let name = name.map_or_else(|| new_name(session), str::to_owned);
            Ok(Operation::ThinkFrom { from, name, draft })
        }
    }
}

fn on_branch(
    session: &Session,
    given: &Given,
    is_parameter: bool,
) -> Result<Operation, ToolFailure> {
    let name = given.branch.as_deref().filter(|_| !is_parameter);
    let branch = branch(session, name)?;
    let draft = match &given.draft.stage {
        Some(name) => named(session, branch, name, given),
        None => match inferred::stage(session, branch, given)? {
            Some(stage) => draft_at(stage, given),
            None => given.draft.clone(),
        },
    };
    Ok(Operation::Think { branch, draft })
}

/// Returns the thought in the stage that was named.
fn named(session: &Session, branch: BranchId, name: &str, given: &Given) -> ThoughtDraft {
    let allowed = session.allowed(branch).unwrap_or_default();
    let stage = allowed.into_iter().find(|stage| stage.name() == name);
    stage.map_or_else(|| given.draft.clone(), |stage| draft_at(stage, given))
}

fn draft_at(stage: &Stage, given: &Given) -> ThoughtDraft {
    let mut draft = given.draft.clone();
    draft.stage = Some(stage.name().to_owned());
    draft.parameters = values(stage, given);
    draft
}

/// Returns the parameters of a stage among the given values, and those that were given as such.
fn values(stage: &Stage, given: &Given) -> BTreeMap<String, Value> {
    let mut values = given.values.clone();
    if let (Some(from), Some(branch)) = (given.branch_from, &given.branch) {
        values.insert("branch_from_thought".to_owned(), json!(from));
        values.insert("branch_id".to_owned(), json!(branch));
    }
    values.retain(|name, _| {
        stage.parameters().contains_key(name) || given.draft.parameters.contains_key(name)
    });
    values
}

fn strategy_of(session: &Session) -> &Strategy {
    let tip = session.branch(session.current()).ok();
    let tip = tip.and_then(|branch| branch.tip());
    let tip = tip.and_then(|tip| session.thought(tip));
    tip.map_or_else(|| session.strategy(), |thought| thought.strategy())
}

/// Returns the report with the names of think-strategies, and with the arguments that weren't used.
fn answer(report: &Report, given: &Given, sessions: &ThinkSessions) -> CallToolResponse {
    let strategy = sessions.strategies().get(&report.strategy).ok();
    let stage = strategy.and_then(|strategy| strategy.stage(&report.stage));
    let is_unused =
        |name: &&String| stage.is_none_or(|stage| !stage.parameters().contains_key(name.as_str()));
    let unused: Vec<&String> = given.others.iter().filter(is_unused).collect();

    let mut text = report.to_string();
    let mut data = fields_of(report);
    let is_open = report.branch.status == BranchStatus::Open.to_string();
    let fields = [
        ("thoughtNumber", json!(report.branch.thoughts)),
        ("totalThoughts", json!(report.branch.total_thoughts)),
        ("nextThoughtNeeded", json!(is_open)),
    ];
    data.extend(fields.map(|(name, value)| (name.to_owned(), value)));

    if !unused.is_empty() {
        let names = cogwork_text::NameList::and(&unused);
        text.push_str(&format!(
            "\nNot a parameter of this stage, and not recorded: {names}."
        ));
        data.insert("unused".to_owned(), json!(unused));
    }
    described(text, Value::Object(data))
}
