//! The calls of the tool: begins, shows, continues and concludes sessions.

use cogwork_text::{Name, NameList, OneLine};
use cogwork_tools::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::json;

use crate::arguments::missing;
use crate::failure::{Failure, on_own_thread};
use crate::markdown::Shown;
use crate::method::Method;
use crate::resources;
use crate::store::{Changed, NewSession, SessionId, SessionKind, SessionStore, Stored};
use crate::tool::{Caller, ServerTool, definition, set_keyword};

use super::entry::{Entry, GuidedSession, HostToolSettings, Reply, Settings};
use super::replay::replay;
use super::text::View;

pub(crate) const NAME: &str = "reason";

const DESCRIPTION: &str = "\
Solves a hard problem by a strategy: it asks, and you reason and reply. Begin with `problem`. Each result has the next \
question, what is wrong with a reply, or the answer. With `sessionId` alone, it shows the open question again; without \
arguments, that of the last session, or before the first one, all sessions.

`loop` (the default) keeps a plan that is corrected in each thought; `chain_of_thought` takes steps and checks the \
answer; `linear` revises and verifies a hypothesis; `step_back` finds the principle; `scratchpad` calculates; \
`self_ask` asks smaller questions; `tree_of_thoughts` compares approaches; `react` and `rewoo` use your `tools`.";

/// The maximum number of characters of the title of a session.
const TITLE: usize = 200;

/// The replies that a session takes by default.
const MAX_REPLIES: u32 = 100;

/// The maximum number of tools of the host.
const MAX_TOOLS: usize = 64;

/// The arguments of a call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Call {
    /// The whole problem
    problem: Option<String>,
    strategy: Option<String>,
    /// Tools of yours that questions may ask you to call
    tools: Option<Vec<HostToolSettings>>,
    #[schemars(range(min = 1, max = 1_000))]
    max_replies: Option<u32>,
    /// One to continue, or an id for a new one
    session_id: Option<SessionId>,
    /// The id of the question that `reply` is for
    question: Option<String>,
    reply: Option<String>,
    /// Whether a tool failed
    failed: Option<bool>,
    /// Ends early, with `reply` as the answer
    conclude: Option<bool>,
}

/// Returns the tool.
pub(crate) fn tool(store: SessionStore) -> ServerTool {
    let mut tool = definition::<Call>(NAME, "Reason by a strategy", DESCRIPTION);
    let names: Vec<_> = Method::guided().map(Method::as_str).collect();
    set_keyword(&mut tool, "strategy", "enum", json!(names));

    let max_bytes = store.limits.argument_bytes;
    ServerTool::function(tool, max_bytes, move |call: Call, caller| {
        let store = store.clone();
        async move { answer(&store, call, &caller).await }
    })
}

async fn answer(store: &SessionStore, call: Call, caller: &Caller) -> Result<String, Failure> {
    let connection = &caller.connection;
    let has_reply = call.reply.is_some();
    let id = match call.session_id.clone() {
        Some(id) => Some(id),
        None => {
            let current = connection.current(store, SessionKind::Guided).await?;
            current.map(|header| header.id)
        }
    };

    // The order matters: with a reply, the problem is only a repetition.
    let view = if call.problem.is_some() && !has_reply {
        begin(store, call, caller).await?
    } else if let Some(id) = id {
        match has_reply || call.conclude == Some(true) {
            true => go_on(store, call, caller, id).await?,
            // Without a reply, the question is shown again.
            false => look(store, caller, id).await?,
        }
    } else if has_reply {
        return Err(Failure::new(
            "there is no current session; expected `problem`, to begin one, or the `sessionId` of \
             an earlier one",
        ));
    } else {
        return resources::list_text(store, &connection.owner).await;
    };

    connection.set_current(SessionKind::Guided, view.id.clone());
    Ok(view.to_string())
}

async fn begin(store: &SessionStore, call: Call, caller: &Caller) -> Result<View, Failure> {
    let settings = settings(&call)?;
    // Lists have one line for each session.
    let title = OneLine::new(&settings.problem).with_max_chars(TITLE);
    let new = NewSession {
        is_named: call.session_id.is_some(),
        title: title.to_string(),
        strategy: settings.method.to_string(),
    };
    let id = call.session_id.unwrap_or_else(SessionId::random);
    let view_id = id.clone();

    let change = move |session: &mut GuidedSession| {
        // The host may have chosen the id of a session that it forgot.
        if session.settings.is_some() {
            return Err(Failure::new(format_args!(
                "the session `{view_id}` already exists; expected another `sessionId`"
            )));
        }
        let view = view(view_id, session, settings.clone(), None, true)?;
        // One that could not even ask its first question isn't created.
        match &view.progress.end {
            Some(end) => Err(Failure::new(&end.reason)),
            None => Ok(Changed::new(Entry::Begin(settings), view, false)),
        }
    };
    let owner = &caller.connection.owner;
    store.change(owner, &id, Some(new), change).await
}

fn settings(call: &Call) -> Result<Settings, Failure> {
    let problem = call.problem.clone().unwrap_or_default();
    if problem.trim().is_empty() {
        return Err(Failure::new("`problem` is empty; expected a text"));
    }

    let method = match &call.strategy {
        None => Method::Loop,
        Some(name) => Method::guided()
            .find(|method| Method::named(name) == Some(*method))
            .ok_or_else(|| {
                let known = Method::guided().map(Method::as_str).collect::<Vec<_>>();
                let known = NameList::or(known);
                let name = Name(name);
                Failure::new(format_args!("`strategy`: found `{name}`; expected {known}"))
            })?,
    };

    let tools = call.tools.clone().unwrap_or_default();
    if method.needs_tools() && tools.is_empty() {
        let expected = format_args!("at least one tool of yours for `{method}`");
        return Err(missing("tools", expected));
    }
    if !tools.is_empty() && !method.takes_tools() {
        return Err(Failure::new(format_args!(
            "`tools`: `{method}` uses none; expected `loop`, `react` or `rewoo` as the `strategy`"
        )));
    }
    if tools.len() > MAX_TOOLS {
        let count = tools.len();
        return Err(Failure::new(format_args!(
            "`tools`: found {count}; expected at most {MAX_TOOLS}"
        )));
    }
    Ok(Settings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        problem,
        method,
        max_replies: call.max_replies.unwrap_or(MAX_REPLIES),
        tools,
    })
}

/// Shows a session.
async fn look(store: &SessionStore, caller: &Caller, id: SessionId) -> Result<View, Failure> {
    let stored = store.get(&caller.connection.owner, &id).await?;
    let view = on_own_thread(move || {
        let session: GuidedSession = stored.state()?;
        let settings = begun(&session)?;
        view(id, &session, settings, None, true)
    });
    view.await
}

/// Gives a session a reply, or concludes it.
async fn go_on(
    store: &SessionStore,
    call: Call,
    caller: &Caller,
    id: SessionId,
) -> Result<View, Failure> {
    let own = id.clone();
    let change = move |session: &mut GuidedSession| {
        let settings = begun(session)?;
        let method = settings.method;
        if let Some(other) = &call.strategy
            && Method::named(other) != Some(method)
        {
            return Err(Failure::new(format_args!(
                "`strategy`: found `{}`, but the session follows `{method}`; expected another \
                 `sessionId`, or `problem` without a reply to begin one",
                Name(other)
            )));
        }
        if call
            .max_replies
            .is_some_and(|most| most != settings.max_replies)
        {
            let most = settings.max_replies;
            return Err(Failure::new(format_args!(
                "`maxReplies` is {most} since the session began; expected no other"
            )));
        }
        let before = view(own.clone(), session, settings.clone(), None, true)?;
        if before.progress.end.is_some() {
            return Err(Failure::new(format_args!(
                "the session has ended, so it takes no replies.\n{before}"
            )));
        }

        if call.conclude == Some(true) {
            let answer = call.reply;
            session.conclude(answer.clone());
            let view = view(own, session, settings, None, false)?;
            return Ok(Changed::new(Entry::Conclude { answer }, view, true));
        }

        let reply = reply(call)?;
        let view = view(own, session, settings, Some(reply.clone()), false)?;
        let has_ended = view.progress.end.is_some();
        Ok(Changed::new(Entry::Reply(reply), view, has_ended))
    };

    let owner = &caller.connection.owner;
    store.change(owner, &id, None, change).await
}

/// Returns the reply with the question that it is for.
fn reply(call: Call) -> Result<Reply, Failure> {
    let question = call.question;
    Ok(Reply {
        question: question.ok_or_else(|| missing("question", "the id of the open question"))?,
        reply: call.reply.unwrap_or_default(),
        failed: call.failed.unwrap_or(false),
    })
}

fn begun(session: &GuidedSession) -> Result<Settings, Failure> {
    let settings = session.settings.clone();
    settings.ok_or_else(|| Failure::new("the session has no beginning; begin a new one"))
}

fn view(
    id: SessionId,
    session: &GuidedSession,
    settings: Settings,
    new: Option<Reply>,
    is_whole: bool,
) -> Result<View, Failure> {
    Ok(View {
        id,
        progress: replay(session, &settings, new)?,
        settings,
        is_whole,
    })
}

/// Returns what a resource shows of a session. May take as long as reading its replies does.
pub(crate) fn shown(stored: &Stored) -> Result<Shown, Failure> {
    let session: GuidedSession = stored.state()?;
    let settings = begun(&session)?;
    let progress = replay(&session, &settings, None)?;

    let mut shown = Shown::of(&stored.header);
    shown.problem = Some(settings.problem);
    if let Some(end) = progress.end {
        shown
            .facts
            .push(("Outcome", end.status.as_str().to_owned()));
        shown.facts.push(("Reason", end.reason));
        shown.answer = progress.best.map(|best| best.answer);
    }
    Ok(shown.with_steps(progress.steps, 0))
}
