use cogwork_llm::ReplyFormat;
use cogwork_plan::Plan;
use cogwork_typed::ask::Rung;

use crate::reply::{FLAT_LEVELS, flat_reply_with_calls, reply_or_calls};
use crate::{Reply, ReplyBounds};

/// Returns whether a reply on this rung can contain the plan.
pub(crate) fn holds(rung: Rung, plan: &Plan, bounds: ReplyBounds) -> bool {
    match rung {
        Rung::Schema => bounds.hold(plan),
        Rung::FlatSchema => plan.walk().all(|entry| entry.depth <= FLAT_LEVELS),
        _ => true,
    }
}

/// Returns the response format that a request on this rung requires. `tools` are those that the
/// model may call in its reply.
pub(crate) fn reply_format(
    rung: Rung,
    bounds: ReplyBounds,
    tools: &[String],
) -> Option<ReplyFormat> {
    match rung {
        Rung::Schema if !tools.is_empty() => {
            Some(ReplyFormat::schema("reply", reply_or_calls(bounds, tools)))
        }
        Rung::FlatSchema if !tools.is_empty() => {
            Some(ReplyFormat::schema("reply", flat_reply_with_calls(tools)))
        }
        Rung::Schema => Some(ReplyFormat::schema("reply", Reply::json_schema(bounds))),
        Rung::FlatSchema => Some(ReplyFormat::schema("reply", Reply::flat_json_schema())),
        Rung::Json => Some(ReplyFormat::Json),
        _ => None,
    }
}
