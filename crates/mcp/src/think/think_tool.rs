//! The tool `think`.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_strategies::{EndRule, Session, Strategies, Strategy, ThoughtDraft, ThoughtId};
use cogwork_text::Name;
use rmcp::model::{CallToolResponse, Tool, ToolAnnotations};
use serde_json::json;

use super::answer::answer;
use super::given::{self, NAME, PURPOSE, branch, draft, new_name};
use super::operation::Operation;
use super::schema;
use super::sessions::{Beginning, ThinkSessions, around, session_id};
use crate::arguments::Arguments;
use crate::store::{SessionId, SessionKind};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// Adds a thought to a session.
pub(crate) struct Think {
    sessions: Arc<ThinkSessions>,
}

/// The arguments of a call.
pub(crate) struct ThinkArguments {
    pub(crate) session: Option<SessionId>,
    pub(crate) strategy: Option<Strategy>,
    pub(crate) purpose: String,
    pub(crate) branch: Option<String>,
    pub(crate) branch_from: Option<ThoughtId>,
    pub(crate) draft: ThoughtDraft,
}

impl Think {
    pub(crate) fn new(sessions: Arc<ThinkSessions>) -> Self {
        Self { sessions }
    }

    fn read(&self, arguments: &mut Arguments) -> Result<ThinkArguments, ToolFailure> {
        arguments.alias("branchId", "branch");
        arguments.alias("branchFromThought", "branchFrom");
        arguments.alias("sessionPurpose", "purpose");

        Ok(ThinkArguments {
            draft: draft(arguments, self.sessions.limits())?,
            session: arguments.session_id("sessionId")?,
            strategy: given::strategy(arguments, self.sessions.strategies())?,
            purpose: arguments.text("purpose", PURPOSE)?.unwrap_or_default(),
            branch: arguments.text("branch", NAME)?,
            branch_from: given::thought(arguments, "branchFrom")?,
        })
    }
}

#[async_trait]
impl ServerTool for Think {
    fn definition(&self) -> Tool {
        let strategies = self.sessions.strategies();
        let mut properties = given::properties();
        properties.extend([
            ("strategy", strategy_property(strategies)),
            ("purpose", schema::purpose()),
            ("sessionId", schema::session_id()),
            (
                "branch",
                json!({
                    "type": "string",
                    "description": "The branch of the thought. By default, the current one.",
                }),
            ),
            (
                "branchFrom",
                json!({
                    "type": "integer",
                    "minimum": 1,
                    "description": "The number of the thought from which a new branch begins with \
                        this thought. `branch` is its name. It becomes the current branch.",
                }),
            ),
        ]);

        let input = schema::object(properties, &["thought"]);
        let annotations = ToolAnnotations::from_raw(
            Some("Think in stages".to_owned()),
            Some(false),
            Some(false),
            Some(false),
            Some(false),
        );
        Tool::new("think", description(strategies), input)
            .with_raw_output_schema(schema::report())
            .with_annotations(annotations)
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = Arguments::new(call.arguments);
        let arguments_read = self.read(&mut arguments)?;
        arguments.finish()?;

        let report = think(&self.sessions, call.connection, arguments_read).await?;
        Ok(answer(&report))
    }
}

/// Adds a thought to a session, which begins with it if there is none.
pub(crate) async fn think(
    sessions: &ThinkSessions,
    connection: &crate::connection::Connection,
    arguments: ThinkArguments,
) -> Result<super::report::Report, ToolFailure> {
    let current = connection.current(SessionKind::Think);
    let id = arguments.session.clone().or(current);

    let Some(strategy) = arguments.strategy.clone() else {
        let id = session_id(connection, id)?;
        let plan = |session: &Session| planned(session, &arguments);
        return sessions.change(connection, &id, plan).await;
    };

    let beginning = Beginning {
        strategy,
        purpose: arguments.purpose.clone(),
        early_end: EndRule::Refuse,
        first: Some(arguments.draft.clone()),
    };
    let plan = |session: &Session| planned(session, &arguments);
    sessions
        .begin_or_change(connection, id, beginning, plan)
        .await
}

/// Returns the operation for a thought on a session that has begun.
fn planned(session: &Session, arguments: &ThinkArguments) -> Result<Operation, ToolFailure> {
    let draft = arguments.draft.clone();
    let name = arguments.branch.as_deref();

    let Some(from) = arguments.branch_from else {
        let branch = branch(session, name)?;
        let operation = Operation::Think { branch, draft };
        return checked_strategy(session, arguments, operation);
    };

    // Later thoughts of a branch may repeat where it begins.
    let known = name.and_then(|name| session.branch_named(name));
    if let Some(known) = known.filter(|branch| branch.forked_from() == Some(from)) {
        let branch = known.id();
        let operation = Operation::Think { branch, draft };
        return checked_strategy(session, arguments, operation);
    }

    let name = name.map_or_else(|| new_name(session), str::to_owned);
    Ok(Operation::ThinkFrom { from, name, draft })
}

/// Refuses a thought that names another strategy than that of its branch.
fn checked_strategy(
    session: &Session,
    arguments: &ThinkArguments,
    operation: Operation,
) -> Result<Operation, ToolFailure> {
    let Some(named) = &arguments.strategy else {
        return Ok(operation);
    };

    let branch = operation.branch().unwrap_or_else(|| session.current());
    let tip = session.branch(branch).ok().and_then(|branch| branch.tip());
    let tip = tip.and_then(|tip| session.thought(tip));
    let strategy = tip.map_or_else(|| session.strategy(), |thought| thought.strategy());
    let outer = tip.map_or_else(|| session.strategy(), around);

    if [strategy.name(), outer.name()].contains(&named.name()) {
        return Ok(operation);
    }
    Err(other_strategy(strategy, named))
}

fn other_strategy(strategy: &Strategy, named: &Strategy) -> ToolFailure {
    let strategy = Name(strategy.name());
    let named = Name(named.name());
    let message = format!(
        "the session follows `{strategy}`, not `{named}`; leave out `strategy`, or call \
         `think_session` with the operation `change_strategy` or `new`"
    );
    let data = json!({"error": {"kind": "other_strategy", "message": message}});
    ToolFailure::Described { message, data }
}

fn strategy_property(strategies: &Strategies) -> serde_json::Value {
    let description = "Begins a session that follows this strategy. Later thoughts need not \
                       repeat it.";
    schema::strategy(strategies, description)
}

fn description(strategies: &Strategies) -> String {
    let lines = strategies.iter().map(|strategy| {
        let name = strategy.name();
        let description = strategy.description();
        format!("\n- {name}: {description}")
    });
    let lines: String = lines.collect();

    format!(
        "Records one thought of your reasoning and checks it against a strategy: a table of \
         stages, each with its parameters and the stages that may follow. Every answer lists the \
         next stages with their prompts and parameters; write the next thought for one of them. A \
         thought that the strategy does not allow is refused with the reason, and nothing \
         changes. Begin with `strategy` and the first thought. `think_session` branches, merges, \
         undoes and exports.\n\nStrategies:{lines}"
    )
}
