//! The tool `answer`.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{CallToolResponse, Tool};
use serde_json::Value;

use super::entry::StopReason;
use super::offered::OfferedReply;
use super::own_thread::on_own_thread;
use super::schema;
use super::service::Guided;
use super::view::{View, Wanted};
use crate::ServerLimits;
use crate::arguments::{ArgumentError, Arguments};
use crate::store::{Owner, SessionId, SessionKind};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

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
