//! What `think_session` does.

use cogwork_strategies::{Branch, EndRule};
use rmcp::model::CallToolResponse;
use serde_json::{Value, json};

use super::answer::fields_of;
use super::answer::{answer, described};
use super::export::{Exporting, Format, export};
use super::given::{self, NAME, PURPOSE, branch, draft};
use super::list::{self, SessionList};
use super::page::{Page, Window, size};
use super::plans;
use super::report::{BranchReport, Report};
use super::sessions::{Beginning, ThinkSessions, nothing, session_id};
use super::tables;
use crate::arguments::Arguments;
use crate::connection::Connection;
use crate::store::{SessionId, SessionKind};
use crate::tool::ToolFailure;

/// The maximum number of branches that are shown.
const BRANCHES: usize = 100;

/// What a call does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SessionCall {
    New,
    Show,
    Resume,
    Change(plans::Read),
    List,
    Search,
    Export,
    Remove,
    Strategies,
}

impl SessionCall {
    pub(crate) const ALL: [(&str, Self); 17] = [
        ("new", Self::New),
        ("show", Self::Show),
        ("resume", Self::Resume),
        ("fork", Self::Change(plans::fork)),
        ("switch", Self::Change(plans::switch)),
        ("score", Self::Change(plans::score)),
        ("select_best", Self::Change(plans::select_best)),
        ("merge", Self::Change(plans::merge)),
        ("prune", Self::Change(plans::prune)),
        ("change_strategy", Self::Change(plans::change_strategy)),
        ("begin_part", Self::Change(plans::begin_part)),
        ("undo", Self::Change(plans::undo)),
        ("list", Self::List),
        ("search", Self::Search),
        ("export", Self::Export),
        ("remove", Self::Remove),
        ("strategies", Self::Strategies),
    ];
}

/// Reads the arguments of a call, and does what it asks for.
pub(crate) async fn perform(
    sessions: &ThinkSessions,
    connection: &Connection,
    operation: SessionCall,
    arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    match operation {
        SessionCall::New => new(sessions, connection, arguments).await,
        SessionCall::Show => show(sessions, connection, arguments).await,
        SessionCall::Resume => resume(sessions, connection, arguments).await,
        SessionCall::Change(read) => change(sessions, connection, read, arguments).await,
        SessionCall::List => listed(sessions, connection, arguments, false).await,
        SessionCall::Search => listed(sessions, connection, arguments, true).await,
        SessionCall::Export => exported(sessions, connection, arguments).await,
        SessionCall::Remove => remove(sessions, connection, arguments).await,
        SessionCall::Strategies => strategies(sessions, arguments),
    }
}

async fn new(
    sessions: &ThinkSessions,
    connection: &Connection,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    arguments.alias("sessionPurpose", "purpose");
    let id = arguments.session_id("sessionId")?;
    let strategy = given::required_strategy(&mut arguments, sessions.strategies())?;
    let purpose = arguments.text("purpose", PURPOSE)?.unwrap_or_default();
    let early_end = match arguments.flag("allowEarlyEnd")? {
        Some(true) => EndRule::Allow,
        _ => EndRule::Refuse,
    };
    let first = if arguments.has("thought") {
        Some(draft(&mut arguments, sessions.limits())?)
    } else {
        None
    };
    arguments.finish()?;

    let beginning = Beginning {
        strategy,
        purpose,
        early_end,
        first,
    };
    let report = sessions.begin(connection, id, beginning).await?;
    Ok(answer(&report))
}

async fn change(
    sessions: &ThinkSessions,
    connection: &Connection,
    read: plans::Read,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    let id = arguments.session_id("sessionId")?;
    arguments.alias("branchId", "branch");
    let plan = read(&mut arguments, sessions)?;
    arguments.finish()?;

    let id = session_id(connection, id)?;
    let report = sessions.change(connection, &id, plan).await?;
    Ok(answer(&report))
}

async fn show(
    sessions: &ThinkSessions,
    connection: &Connection,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    arguments.alias("branchId", "branch");
    let id = arguments.session_id("sessionId")?;
    let name = arguments.text("branch", NAME)?;
    let window = Window::read(&mut arguments)?;
    arguments.finish()?;

    let id = session_id(connection, id)?;
    shown(sessions, connection, &id, name.as_deref(), window).await
}

async fn resume(
    sessions: &ThinkSessions,
    connection: &Connection,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    let id = arguments.session_id("sessionId")?;
    arguments.finish()?;

    let id = session_id(connection, id)?;
    let shown = shown(sessions, connection, &id, None, Window::RECENT).await?;
    connection.set_current(SessionKind::Think, id);
    Ok(shown)
}

/// Returns where a session is, and some of its thoughts.
async fn shown(
    sessions: &ThinkSessions,
    connection: &Connection,
    id: &SessionId,
    name: Option<&str>,
    window: Window,
) -> Result<CallToolResponse, ToolFailure> {
    let read = sessions.read(connection, id, |begun| {
        let session = &begun.session;
        let of = branch(session, name)?;
        let report = Report::new(Some(id), session, nothing(of));
        let page = Page::new(session, name.map(|_| of), window);

        let branches = session.branches().iter().map(Branch::id);
        let branches = branches.map(|id| BranchReport::new(session, id));
        let branches = branches.take(BRANCHES);
        let mut data = fields_of(&report);
        data.insert("purpose".to_owned(), begun.purpose.clone().into());
        data.insert("branches".to_owned(), json!(branches.collect::<Vec<_>>()));
        data.extend(page.fields());
        Ok(described(
            format!("{page}\n\n{report}"),
            Value::Object(data),
        ))
    });
    read.await
}

async fn listed(
    sessions: &ThinkSessions,
    connection: &Connection,
    mut arguments: Arguments,
    is_search: bool,
) -> Result<CallToolResponse, ToolFailure> {
    let mut filter = list::filter(&mut arguments, sessions.strategies(), is_search)?;
    arguments.finish()?;

    let limit = filter.limit;
    let offset = filter.offset;
    filter.limit = limit.saturating_add(1);

    let mut found = sessions.store().list(connection.owner(), filter).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let list = SessionList {
        sessions: found,
        next_offset: has_more.then(|| offset.saturating_add(limit)),
    };
    Ok(described(list.text(), list.data()))
}

async fn exported(
    sessions: &ThinkSessions,
    connection: &Connection,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    let id = arguments.session_id("sessionId")?;
    let format = arguments.choice("format", &Format::ALL)?;
    let format = format.unwrap_or(Format::Markdown);
    let offset = arguments.integer("offset", 0..=u32::MAX)?.unwrap_or(0);
    arguments.finish()?;

    let id = session_id(connection, id)?;
    let bytes = sessions.limits().export_bytes;
    let read = sessions.read(connection, &id, |begun| {
        let exporting = Exporting {
            id: &id,
            purpose: &begun.purpose,
            session: &begun.session,
            offset: size(offset),
            bytes,
        };
        export(format, &exporting).map_err(too_long)
    });
    let export = read.await?;

    let mut data = json!({"session": id});
    if let (Some(next), Some(data)) = (export.next_offset, data.as_object_mut()) {
        data.insert("nextOffset".to_owned(), next.into());
    }
    Ok(described(export.text, data))
}

fn too_long(message: String) -> ToolFailure {
    let data = json!({"error": {"kind": "too_long", "message": message}});
    ToolFailure::Described { message, data }
}

async fn remove(
    sessions: &ThinkSessions,
    connection: &Connection,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    let id = arguments.session_id("sessionId")?;
    let id = id.ok_or_else(|| arguments.missing("sessionId", "the id of a session"))?;
    arguments.finish()?;

    if sessions.remove(connection, &id).await? {
        let data = json!({"removed": id});
        return Ok(described(format!("The session `{id}` is removed."), data));
    }
    Err(ToolFailure::message(format_args!(
        "there is no session `{id}`"
    )))
}

fn strategies(
    sessions: &ThinkSessions,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ToolFailure> {
    let known = sessions.strategies();
    let one = given::strategy(&mut arguments, known)?;
    arguments.finish()?;

    Ok(match one {
        Some(one) => described(tables::text(&one), tables::data(&one)),
        None => described(tables::list_text(known), tables::list_data(known)),
    })
}
