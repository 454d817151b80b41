//! The definitions of the tools, and their calls.

use cogwork_strategies::session::ThoughtId;
use cogwork_strategies::{Strategies, Strategy};
use cogwork_text::{Name, NameList};
use cogwork_tools::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::change::{Change, Thinking, draft};
use super::session::{Beginning, record};
use crate::arguments::missing;
use crate::failure::Failure;
use crate::resources::{Format, list_text, render, strategy_text};
use crate::store::{SessionHeader, SessionId, SessionKind, SessionStore};
use crate::tool::{Caller, ServerTool, definition, set_keyword};

pub(crate) const NAME: &str = "think";

pub(crate) const MANAGE: &str = "think_session";

const DESCRIPTION: &str = "\
Records one thought of your reasoning and checks it against a strategy: a table of stages, each with its parameters \
and the stages that may follow. Begin with `strategy` and the first thought. Every answer lists the next stages with \
their prompts and parameters; write the next thought for one of them. Stages before it that need nothing, and ids that \
the branch has already, may be left out. A thought that the strategy does not allow is refused with the reason, and \
nothing changes.";

const MANAGE_DESCRIPTION: &str = "\
Manages the sessions of `think`.
- show: a session of any tool, as `format` markdown or json
- list: the newest sessions
- remove: deletes a session of any tool
- strategies: all strategies, or the stages of `strategy`
- switch: makes `branch` the current one; without it, the one with the best score
- score: gives a branch a `score` from 0 to 10
- merge: joins `branches` into the branch `branch` with a `thought`; of values that differ, the last one counts
- prune: abandons `branch`
- undo: removes the last thought, and the branch that it began";

/// The arguments of `think`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Call {
    thought: String,
    /// One of the next stages that the last answer has listed. Without it, the thought stays in the
    /// stage of its branch.
    stage: Option<String>,
    /// The parameters of the stage by name
    #[schemars(with = "Option<Map<String, Value>>")]
    parameters: Option<Map<String, Value>>,
    /// The number of the earlier thought that this one replaces
    #[schemars(range(min = 1))]
    revises: Option<usize>,
    /// By default, the current one
    branch: Option<String>,
    /// The number of the thought from which a new branch begins
    #[schemars(range(min = 1))]
    branch_from: Option<usize>,
    /// Begins a session, unless the last one follows this strategy and isn't complete
    strategy: Option<String>,
    /// Begins another session, for this purpose
    purpose: Option<String>,
    /// By default, the one that was used last
    session_id: Option<SessionId>,
}

/// Returns the tool that adds a thought to a session.
pub(crate) fn tool(store: SessionStore) -> ServerTool {
    let list = listed(&store.strategies);
    let description = format!("{DESCRIPTION}\n\nStrategies:\n{list}");
    let tool = definition::<Call>(NAME, "Think in stages", description);
    let max_bytes = store.limits.argument_bytes;

    ServerTool::function(tool, max_bytes, move |call: Call, caller| {
        let store = store.clone();
        async move { think(&store, call, &caller).await }
    })
}

async fn think(store: &SessionStore, call: Call, caller: &Caller) -> Result<String, Failure> {
    let strategy = call.strategy.as_deref();
    let strategy = strategy.map(|name| named(store, name)).transpose()?;
    if call.purpose.is_some() && strategy.is_none() {
        return Err(missing(
            "strategy",
            "one for the session that `purpose` begins",
        ));
    }

    let is_named = call.session_id.is_some();
    let last = caller.connection.current(store, SessionKind::Think).await?;
    let goes_on = |last: &SessionHeader| match strategy {
        None => true,
        Some(strategy) => {
            // Models repeat the strategy with each thought.
            let is_same = last.strategy == strategy.name();
            is_same && !last.is_complete && call.purpose.is_none()
        }
    };
    let id = match (call.session_id, last) {
        (Some(id), _) => id,
        (None, Some(last)) if goes_on(&last) => last.id,
        (None, _) if strategy.is_some() => SessionId::random(),
        (None, _) => return Err(no_session()),
    };

    let mut draft = draft(call.thought, call.stage, call.parameters);
    draft.revises = call.revises.map(ThoughtId);
    let beginning = strategy.map(|strategy| Beginning {
        strategy: strategy.clone(),
        purpose: call.purpose.unwrap_or_default(),
    });
    let change = Change::Think(Thinking {
        draft,
        branch: call.branch,
        from: call.branch_from.map(ThoughtId),
    });
    record(store, &caller.connection, id, is_named, beginning, change).await
}

/// The arguments of `think_session`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ManageCall {
    operation: Operation,
    /// By default, the one that was used last
    session_id: Option<SessionId>,
    branch: Option<String>,
    branches: Option<Vec<String>>,
    thought: Option<String>,
    stage: Option<String>,
    #[schemars(with = "Option<Map<String, Value>>")]
    parameters: Option<Map<String, Value>>,
    #[schemars(range(min = 0.0, max = 10.0))]
    score: Option<f64>,
    format: Option<Format>,
    strategy: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Show,
    List,
    Remove,
    Strategies,
    Switch,
    Score,
    Merge,
    Prune,
    Undo,
}

/// Returns the tool that changes, lists, shows and removes sessions.
pub(crate) fn manage_tool(store: SessionStore) -> ServerTool {
    let mut tool = definition::<ManageCall>(MANAGE, "Manage sessions", MANAGE_DESCRIPTION);
    set_keyword(&mut tool, "operation", "type", json!("string"));
    if let Some(annotations) = &mut tool.annotations {
        annotations.destructive_hint = Some(true);
    }

    let max_bytes = store.limits.argument_bytes;
    ServerTool::function(tool, max_bytes, move |call: ManageCall, caller| {
        let store = store.clone();
        async move { manage(&store, call, &caller).await }
    })
}

async fn manage(
    store: &SessionStore,
    call: ManageCall,
    caller: &Caller,
) -> Result<String, Failure> {
    let connection = &caller.connection;
    let owner = &connection.owner;
    let current = connection.current(store, SessionKind::Think).await?;
    let current = current.map(|header| header.id);
    let id = call.session_id.clone().or(current);
    let id = id.ok_or_else(no_session);

    let change = match call.operation {
        Operation::List => return list_text(store, owner).await,
        Operation::Strategies => {
            return match &call.strategy {
                Some(name) => Ok(strategy_text(named(store, name)?)),
                None => Ok(listed(&store.strategies)),
            };
        }
        Operation::Show => {
            let stored = store.get(owner, &id?).await?;
            return render(stored, call.format.unwrap_or_default()).await;
        }
        Operation::Remove => {
            // Never the current one by default: a removal cannot be undone.
            let id = call.session_id;
            let id = id.ok_or_else(|| missing("sessionId", "the id of a session"))?;
            store.remove(owner, &id).await?;
            return Ok(format!("The session `{id}` is removed."));
        }
        Operation::Switch => Change::Switch(call.branch),
        Operation::Score => Change::Score {
            branch: call.branch,
            score: needed("score", call.score, "a number from 0 to 10")?,
        },
        Operation::Merge => Change::Merge {
            branches: needed("branches", call.branches, "a list of branches")?,
            into: call.branch,
            draft: draft(
                needed("thought", call.thought, "a text")?,
                call.stage,
                call.parameters,
            ),
        },
        Operation::Prune => Change::Prune(needed("branch", call.branch, "the name of a branch")?),
        Operation::Undo => Change::Undo,
    };
    record(store, connection, id?, true, None, change).await
}

fn needed<T>(name: &str, argument: Option<T>, expected: &str) -> Result<T, Failure> {
    argument.ok_or_else(|| missing(name, expected))
}

fn no_session() -> Failure {
    Failure::new(
        "there is no current session; expected a `strategy`, to begin one, or the `sessionId` of \
         an earlier one",
    )
}

/// Returns the strategy with this name.
fn named<'s>(store: &'s SessionStore, name: &str) -> Result<&'s Strategy, Failure> {
    store.strategies.get(name).map_err(|_| {
        let names = store.strategies.iter().map(Strategy::name);
        let names = NameList::or(names.collect::<Vec<_>>());
        let name = Name(name);
        Failure::new(format_args!("`strategy`: found `{name}`; expected {names}"))
    })
}

/// Returns all strategies, a line for each.
fn listed(strategies: &Strategies) -> String {
    let lines = strategies.iter().map(|strategy| {
        let name = strategy.name();
        let description = strategy.description();
        format!("- {name}: {description}")
    });
    lines.collect::<Vec<_>>().join("\n")
}
