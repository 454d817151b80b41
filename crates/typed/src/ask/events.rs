use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse};
use serde::Serialize;

use crate::ask::{Repair, seconds};

/// An event of a call to a model. The events are the
/// [reports](cogwork_flow::watch::EventKind::Reported) with the source `chat` in the events of a run.
///
/// [`Asking`](crate::ask::Asking) reports its calls, and [`Reporting`](crate::ask::Reporting) those of other
/// code. Calls whose response is on record, so that they aren't made again, aren't reported.
///
/// An event is serialised as one object with a `type`: `sent`, `replied`, `failed` or `judged`.
/// Times are in seconds. Each contains the whole request; a record of a run contains each message
/// only once.
///
/// Later versions may add types and fields; readers should ignore those that they don't know. The
/// texts come from a model and may contain anything: escape them before showing them in a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatEvent {
    /// A call begins.
    Sent {
        /// The call.
        #[serde(flatten)]
        call: ChatCall,
    },
    /// A call returned a reply.
    Replied {
        /// The call.
        #[serde(flatten)]
        call: ChatCall,
        /// The response.
        response: ChatResponse,
        /// How long the call took.
        #[serde(serialize_with = "seconds::serialize")]
        took: Duration,
    },
    /// A call failed.
    Failed {
        /// The call.
        #[serde(flatten)]
        call: ChatCall,
        /// The error, in one line.
        error: String,
        /// The part of the reply that arrived before the error.
        #[serde(skip_serializing_if = "String::is_empty")]
        text_so_far: String,
        /// How long the call took.
        #[serde(serialize_with = "seconds::serialize")]
        took: Duration,
    },
    /// A reply was judged.
    Judged {
        /// The number of the call.
        call: u64,
        /// The verdict.
        verdict: ChatVerdict,
        /// What is wrong with the reply, in one line.
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
        /// The changes that made a usable reply readable.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<Repair>,
    },
}

/// A call in a [`ChatEvent`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChatCall {
    /// The number of the call, which is unique in this process.
    #[serde(rename = "call")]
    pub number: u64,
    /// The name of the question; empty if it has none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: String,
    /// The request.
    pub request: ChatRequest,
}

/// The verdict in a [`ChatEvent`]; see [`Verdict`](crate::ask::Verdict).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatVerdict {
    /// The reply can be used.
    Usable,
    /// The reply is a step towards a usable one.
    Continue,
    /// The reply cannot be used.
    Unusable,
}

/// An event of a call to a tool. The events are the [reports](cogwork_flow::watch::EventKind::Reported) with
/// the source `tool` in the events of a run.
///
/// The calls of a chain of thought are reported as its own events instead. Calls whose result is on
/// record, so that they aren't made again, aren't reported.
///
/// An event is serialised as one object with a `type`, `tool_call` or `tool_result`. Later versions
/// may add types and fields; readers should ignore those that they don't know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEvent {
    /// A tool is called.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The input, as the model wrote it; usually a JSON object.
        input: String,
    },
    /// A tool returned or failed.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The output, or a description of the failure.
        output: String,
        /// Whether the call failed.
        failed: bool,
        /// How long the call took; in JSON, in seconds.
        #[serde(serialize_with = "seconds::serialize")]
        took: Duration,
    },
}
