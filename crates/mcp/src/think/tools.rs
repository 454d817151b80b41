//! The tools `think` and `think_session`.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_strategies::{Branch, Strategies, Strategy};
use cogwork_text::NameList;
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::model::{CallToolResponse, JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::change::{Change, Done, Draft, Placed, What, found};
use super::list::{ListArguments, listed};
use super::page::{Page, Window};
use super::report::{BranchReport, Report};
use super::sessions::{Beginning, ThinkSessions, id_or_current};
use super::{export, tables};
use crate::arguments::{self, variants};
use crate::connection::Connection;
use crate::resources::SessionFormat;
use crate::store::{SessionId, SessionKind};
use crate::tool::{
    ServerTool, ToolCall, ToolFailure, described, fields_of, schema_of, set_choices, tool,
};

/// The maximum number of branches that are shown.
const BRANCHES: usize = 100;

/// Adds a thought to a session.
pub(super) struct Think(pub(super) Arc<ThinkSessions>);

/// The arguments of `think`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ThinkArguments {
    #[serde(flatten)]
    placed: Placed,
    /// What the session is for, in a line that lists and searches show.
    purpose: Option<String>,
    /// The session. By default, the one that this client used last.
    session_id: Option<SessionId>,
}

#[async_trait]
impl ServerTool for Think {
    fn definition(&self) -> Tool {
        let strategies = self.0.strategies();
        let mut input = (*schema_of::<ThinkArguments>()).clone();
        set_strategies(&mut input, strategies);

        let mut report = (*schema_of::<Report>()).clone();
        // A refusal has no session if none has begun.
        report.remove("required");
        tool("think", "Think in stages", description(strategies), input)
            .with_raw_output_schema(Arc::new(report))
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let max_bytes = self.0.limits().thought_bytes;
        let arguments: ThinkArguments = arguments::read(call.arguments, max_bytes)?;
        let ThinkArguments {
            mut placed,
            purpose,
            session_id,
        } = arguments;

        let strategy = placed.strategy.as_deref();
        let strategy = strategy.map(|name| self.0.strategy(name)).transpose()?;
        placed.strategy = strategy.map(|strategy| strategy.name().to_owned());
        let beginning = strategy.map(|strategy| Beginning {
            strategy: strategy.clone(),
            purpose: purpose.unwrap_or_default(),
            allows_early_end: false,
            first: Some(placed.draft.to_thought()),
        });

        let connection = call.connection;
        let id = session_id.or_else(|| connection.current(SessionKind::Think));
        let change = Some(Change::Think(placed));
        let report = self.0.record(connection, id, beginning, change).await?;
        Ok(answer(&report))
    }
}

/// Begins, changes, lists, shows and exports sessions.
pub(super) struct ThinkSession(pub(super) Arc<ThinkSessions>);

/// The arguments that all operations of `think_session` have.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Common {
    /// What to do.
    operation: Option<String>,
    /// The session. By default, the one that this client used last.
    session_id: Option<SessionId>,
}

/// The operations of `think_session` that don't change a session that has begun.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Query {
    New {
        /// The strategy: of a new session, to change to, of a part, or to list.
        strategy: Option<String>,
        /// What the session is for, in a line that lists and searches show.
        purpose: Option<String>,
        /// Whether branches of a new session may end before a final stage.
        allow_early_end: Option<bool>,
        #[serde(flatten)]
        first: Option<Draft>,
    },
    Show {
        /// The name of a branch. By default, the current one; for `fork`, a new name.
        branch: Option<String>,
        #[serde(flatten)]
        window: Window,
    },
    Resume {},
    List(ListArguments),
    Search(ListArguments),
    Export {
        /// The form of an export. The default is `markdown`.
        format: Option<SessionFormat>,
    },
    Remove {},
    Strategies {
        strategy: Option<String>,
    },
}

const DESCRIPTION: &str = "\
Manages the sessions of `think`.
- new: begins a session with `strategy`, and with a `purpose` and a first `thought` if you have them
- show: where a session is, and its thoughts, a page at a time (`branch`, `offset`, `limit`)
- resume: continues an earlier session
- fork: a new `branch` that continues from the thought `from`
- switch: makes `branch` the current one
- score: gives a branch a `score` from 0 to 10; select_best switches to the best one
- merge: joins `branches` into the branch `into` with a `thought`; of values that differ, the last one counts
- prune: abandons `branch`
- change_strategy: continues with another `strategy`, with a `thought` that explains why
- begin_part: starts a nested `strategy`; once it has ended, the outer one continues
- undo: removes the last thought
- list, search: sessions by `query`, `strategy` and `status`
- export: the session as `format` json, markdown or mermaid
- remove: deletes a session, also one of another tool
- strategies: all strategies, or all stages of `strategy`";

#[async_trait]
impl ServerTool for ThinkSession {
    fn definition(&self) -> Tool {
        let mut input = (*schema_of::<Common>()).clone();
        let mut names = Vec::new();
        if let Some(Value::Object(properties)) = input.get_mut("properties") {
            for (name, operation) in operations() {
                names.push(name);
                let own = operation.get("properties").and_then(Value::as_object);
                for (name, schema) in own.into_iter().flatten() {
                    properties.entry(name).or_insert_with(|| schema.clone());
                }
            }
        }
        input.insert("required".to_owned(), json!(["operation"]));
        set_choices(&mut input, "operation", names);
        set_strategies(&mut input, self.0.strategies());

        let mut tool = tool(
            "think_session",
            "Manage sessions of think",
            DESCRIPTION,
            input,
        );
        if let Some(annotations) = &mut tool.annotations {
            annotations.destructive_hint = Some(true);
        }
        tool
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut rest = call.arguments;
        let max_bytes = self.0.limits().thought_bytes;
        let common: Common = arguments::take(&mut rest, max_bytes)?;
        let names = operations().into_iter().map(|(name, _)| name);
        let names = NameList::or(names.collect::<Vec<_>>());
        let operation = common.operation;
        let operation = operation.ok_or_else(|| arguments::missing("operation", &names))?;
        let id = common.session_id;

        if variants::<Change>().contains_key(&operation) {
            let change = arguments::read_variant(&operation, rest, max_bytes)?;
            let id = id_or_current(call.connection, id)?;
            let report = self.0.record(call.connection, Some(id), None, Some(change));
            return Ok(answer(&report.await?));
        }
        if !variants::<Query>().contains_key(&operation) {
            return Err(arguments::wrong("operation", names, &operation.into()));
        }
        let query = arguments::read_variant(&operation, rest, max_bytes)?;
        query_answer(&self.0, call.connection, id, query).await
    }
}

/// Returns the operations of `think_session` with the schemas of their arguments.
fn operations() -> Map<String, Value> {
    let mut operations = variants::<Query>();
    operations.extend(variants::<Change>());
    operations
}

fn set_strategies(input: &mut JsonObject, strategies: &Strategies) {
    let names = strategies.iter().flat_map(Strategy::names);
    set_choices(input, "strategy", names.map(str::to_owned).collect());
}

async fn query_answer(
    sessions: &ThinkSessions,
    connection: &Connection,
    id: Option<SessionId>,
    query: Query,
) -> Result<CallToolResponse, ToolFailure> {
    match query {
        Query::New {
            strategy,
            purpose,
            allow_early_end,
            first,
        } => {
            let strategy = match &strategy {
                Some(name) => sessions.strategy(name)?,
                None => return Err(arguments::missing("strategy", sessions.strategy_names())),
            };
            let beginning = Beginning {
                strategy: strategy.clone(),
                purpose: purpose.unwrap_or_default(),
                allows_early_end: allow_early_end.unwrap_or(false),
                first: first.as_ref().map(Draft::to_thought),
            };
            let report = sessions
                .record(connection, id, Some(beginning), None)
                .await?;
            Ok(answer(&report))
        }
        Query::Show { branch, window } => {
            let id = id_or_current(connection, id)?;
            shown(sessions, connection, &id, branch.as_deref(), window).await
        }
        Query::Resume {} => {
            let id = id_or_current(connection, id)?;
            let shown = shown(sessions, connection, &id, None, Window::RECENT).await?;
            connection.set_current(SessionKind::Think, id);
            Ok(shown)
        }
        Query::List(arguments) => listed(sessions, connection, arguments, false).await,
        Query::Search(arguments) => listed(sessions, connection, arguments, true).await,
        Query::Export { format } => {
            let id = id_or_current(connection, id)?;
            let format = format.unwrap_or(SessionFormat::Markdown);
            let bytes = sessions.limits().export_bytes;
            let begun = sessions.read(connection, &id).await?;
            let export = export::export(&begun, &id, format, bytes)?;
            Ok(described(export, json!({"session": id})))
        }
        Query::Remove {} => remove(sessions, connection, id).await,
        Query::Strategies { strategy } => strategies(sessions, strategy.as_deref()),
    }
}

/// Returns where a session is, and some of its thoughts.
async fn shown(
    sessions: &ThinkSessions,
    connection: &Connection,
    id: &SessionId,
    name: Option<&str>,
    window: Window,
) -> Result<CallToolResponse, ToolFailure> {
    let begun = sessions.read(connection, id).await?;
    let session = &begun.session;
    let branch = found(session, name)?;
    let what = What::Nothing;
    let report = Report::new(Some(id), session, Done { branch, what });
    let page = Page::new(session, name.map(|_| branch), window);

    let branches = session.branches().iter().map(Branch::id);
    let branches = branches.map(|id| BranchReport::new(session, id));
    let branches: Vec<_> = branches.take(BRANCHES).collect();
    let mut data = fields_of(&report);
    data.insert("purpose".to_owned(), begun.purpose.clone().into());
    data.insert("branches".to_owned(), json!(branches));
    data.extend(page.fields());
    Ok(described(
        format!("{page}\n\n{report}"),
        Value::Object(data),
    ))
}

/// Removes a session of any kind.
async fn remove(
    sessions: &ThinkSessions,
    connection: &Connection,
    id: Option<SessionId>,
) -> Result<CallToolResponse, ToolFailure> {
    let id = id.ok_or_else(|| arguments::missing("sessionId", "the id of a session"))?;
    if sessions.0.remove(connection.owner(), &id).await? {
        let data = json!({"removed": id});
        return Ok(described(format!("The session `{id}` is removed."), data));
    }
    Err(ToolFailure::message(format_args!(
        "there is no session `{id}`"
    )))
}

fn strategies(
    sessions: &ThinkSessions,
    name: Option<&str>,
) -> Result<CallToolResponse, ToolFailure> {
    let known = sessions.strategies();
    Ok(
        match name.map(|name| sessions.strategy(name)).transpose()? {
            Some(one) => described(tables::text(one), tables::data(one)),
            None => described(tables::list_text(known), tables::list_data(known)),
        },
    )
}

fn answer(report: &Report) -> CallToolResponse {
    described(report.to_string(), Value::Object(fields_of(report)))
}

fn description(strategies: &Strategies) -> String {
    let list = tables::list_text(strategies);
    format!(
        "Records one thought of your reasoning and checks it against a strategy: a table of \
         stages, each with its parameters and the stages that may follow. Every answer lists the \
         next stages with their prompts and parameters; write the next thought for one of them. A \
         thought that the strategy does not allow is refused with the reason, and nothing \
         changes. Begin with `strategy` and the first thought. `think_session` branches, merges, \
         undoes and exports.\n\nStrategies:\n{list}"
    )
}
