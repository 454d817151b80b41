//! The tools `begin` and `answer`.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_text::NameList;
use rmcp::model::{CallToolResponse, Tool};
use serde_json::{Value, json};

use super::entry::StopReason;
use super::entry::{Budget, Settings, ToolSettings};
use super::offered::OfferedReply;
use super::schema;
use super::service::Guided;
use super::service::on_own_thread;
use super::view::{View, Wanted};
use crate::ServerLimits;
use crate::arguments::{ArgumentError, Arguments};
use crate::method::Method;
use crate::store::{Owner, SessionId, SessionKind};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// Begins a session.
pub(super) struct BeginTool(pub(super) Arc<Guided>);

/// The maximum number of tools.
const MAX_TOOLS: usize = 64;

#[async_trait]
impl ServerTool for BeginTool {
    fn definition(&self) -> Tool {
        schema::begin(self.0.limits())
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = Arguments::new(call.arguments);
        let id = arguments.session_id("sessionId")?;
        let settings = settings(&mut arguments, self.0.limits(), self.0.now())?;
        arguments.finish()?;

        let guided = Arc::clone(&self.0);
        let owner = call.connection.owner().clone();
        let begun = on_own_thread(async move { guided.begin(&owner, id, settings).await });
        let view = begun.await?;

        let id = view.session_id.clone();
        call.connection.set_current(SessionKind::Guided, id);
        schema::response(&view)
    }
}

fn settings(
    arguments: &mut Arguments,
    limits: &ServerLimits,
    now: u64,
) -> Result<Settings, ToolFailure> {
    let problem = arguments.required_text("problem", limits.thought_bytes)?;
    if problem.trim().is_empty() {
        let found = Value::String(problem);
        return Err(arguments
            .fault("problem", "a text that isn't empty", &found)
            .into());
    }

    let names: Vec<_> = Method::all().map(Method::as_str).collect();
    let method = arguments.named("strategy", NameList::or(names), Method::named)?;
    let settings = Settings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began: now,
        problem,
        method: method.unwrap_or(Method::Loop),
        budget: budget(arguments, limits)?,
        tools: tools(arguments, limits)?,
    };

    if settings.method.needs_tools() && settings.tools.is_empty() {
        let expected = format_args!("at least one tool of yours for `{}`", settings.method);
        return Err(arguments.missing("tools", expected).into());
    }
    Ok(settings)
}

fn budget(arguments: &mut Arguments, limits: &ServerLimits) -> Result<Budget, ToolFailure> {
    let most = |limit: usize| u32::try_from(limit).unwrap_or(u32::MAX);
    let most_replies = most(limits.replies);
    let most_thoughts = most(limits.thoughts);
    let most_seconds = Budget::MOST_SECONDS;

    let mut given = arguments.nested("budget")?;
    let replies = given.integer("replies", 1..=most_replies)?;
    let thoughts = given.integer("thoughts", 1..=most_thoughts)?;
    let tokens = given.integer("tokens", 1..=u32::MAX)?;
    let seconds = given.integer("seconds", 1..=most_seconds)?;
    given.finish()?;

    Ok(Budget {
        replies: replies.unwrap_or(Budget::REPLIES.min(most_replies)),
        thoughts: thoughts.unwrap_or(Budget::THOUGHTS.min(most_thoughts)),
        tokens: tokens.unwrap_or(Budget::TOKENS).into(),
        seconds: seconds.unwrap_or(Budget::SECONDS).into(),
    })
}

fn tools(
    arguments: &mut Arguments,
    limits: &ServerLimits,
) -> Result<Vec<ToolSettings>, ToolFailure> {
    let given = arguments.objects("tools")?.unwrap_or_default();
    if given.len() > MAX_TOOLS {
        let expected = format_args!("at most {MAX_TOOLS} tools");
        let found = json!(given.len());
        return Err(arguments.fault("tools", expected, &found).into());
    }

    let tools = given.into_iter().map(|tool| read_tool(tool, limits));
    Ok(tools.collect::<Result<_, ArgumentError>>()?)
}

fn read_tool(mut tool: Arguments, limits: &ServerLimits) -> Result<ToolSettings, ArgumentError> {
    let most = limits.thought_bytes;
    let name = tool.required_text("name", most)?;
    let description = tool.text("description", most)?;
    let schema = tool.object("inputSchema", most)?;
    tool.finish()?;

    Ok(ToolSettings {
        name,
        description: description.unwrap_or_default(),
        schema: schema.map_or_else(|| json!({"type": "object"}), Value::Object),
    })
}

/// Continues a session.
pub(super) struct AnswerTool(pub(super) Arc<Guided>);

/// The maximum number of replies in a call. Fewer questions are open at the same time.
const MAX_REPLIES: usize = 64;

/// What a call wants.
struct Request {
    replies: Vec<OfferedReply>,
    conclude: bool,
    wanted: Wanted,
}

#[async_trait]
impl ServerTool for AnswerTool {
    fn definition(&self) -> Tool {
        schema::answer()
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = Arguments::new(call.arguments);
        let named = arguments.session_id("sessionId")?;
        let request = Request::read(arguments, self.0.limits())?;

        let current = || call.connection.current(SessionKind::Guided);
        let Some(id) = named.or_else(current) else {
            return Err(ToolFailure::message(
                "no session has begun on this connection; call `begin`, or give the `sessionId` \
                 of an earlier one",
            ));
        };

        let guided = Arc::clone(&self.0);
        let owner = call.connection.owner().clone();
        let view = on_own_thread(async move { request.send(&guided, &owner, &id).await });
        let view = view.await?;

        let id = view.session_id.clone();
        call.connection.set_current(SessionKind::Guided, id);
        schema::response(&view)
    }
}

impl Request {
    fn read(mut arguments: Arguments, limits: &ServerLimits) -> Result<Self, ToolFailure> {
        let mut replies = Vec::new();
        replies.extend(read_reply(&mut arguments, limits)?);

        let several = arguments.objects("replies")?.unwrap_or_default();
        if several.len() > MAX_REPLIES {
            let expected = format_args!("at most {MAX_REPLIES} replies");
            let found = Value::from(several.len());
            return Err(arguments.fault("replies", expected, &found).into());
        }
        for mut reply in several {
            match read_reply(&mut reply, limits)? {
                Some(read) => replies.push(read),
                None => return Err(reply.missing("reply", "a text").into()),
            }
            reply.finish()?;
        }

        let request = Self {
            replies,
            conclude: arguments.flag("conclude")?.unwrap_or(false),
            wanted: Wanted {
                full: arguments.flag("full")?.unwrap_or(false),
                trace: arguments.flag("trace")?.unwrap_or(false),
            },
        };
        arguments.finish()?;

        if request.conclude && !request.replies.is_empty() {
            return Err(ToolFailure::message(
                "`conclude` withdraws the open questions; send it without replies",
            ));
        }
        Ok(request)
    }

    async fn send(
        self,
        guided: &Guided,
        owner: &Owner,
        id: &SessionId,
    ) -> Result<View, ToolFailure> {
        let wanted = self.wanted;
        if self.conclude {
            return guided.stop(owner, id, StopReason::Asked, wanted).await;
        }
        if self.replies.is_empty() {
            return guided.look(owner, id, wanted).await;
        }
        guided.reply(owner, id, self.replies, wanted).await
    }
}

/// Reads a reply, if there is one. An object is a reply in JSON.
fn read_reply(
    arguments: &mut Arguments,
    limits: &ServerLimits,
) -> Result<Option<OfferedReply>, ArgumentError> {
    let question = arguments.text("question", limits.thought_bytes)?;
    let failed = arguments.flag("failed")?.unwrap_or(false);
    let reply = match arguments.value("reply") {
        None => return Ok(None),
        Some(Value::String(text)) => text,
        Some(json @ Value::Object(_)) => json.to_string(),
        Some(other) => return Err(arguments.fault("reply", "a text", &other)),
    };

    let most = limits.thought_bytes;
    if reply.len() > most {
        let bytes = reply.len();
        let expected = format_args!("at most {most} bytes, but it has {bytes}");
        return Err(arguments.fault("reply", expected, &Value::String(reply)));
    }

    Ok(Some(OfferedReply {
        question,
        reply,
        failed,
    }))
}
