use cogwork_ask::{Format, Rung};
use cogwork_llm::{Capabilities, ReplyFormat};
use cogwork_plan::Plan;

use crate::reply::FLAT_LEVELS;
use crate::{Reply, ReplyBounds};

/// Returns the rungs for a turn, tightest first. A rung is omitted if its schema cannot contain
/// `plan`, because the reply has to repeat the whole plan.
pub(crate) fn rungs(
    format: Format,
    capabilities: Capabilities,
    plan: Option<&Plan>,
    bounds: ReplyBounds,
) -> Vec<Rung> {
    let mut rungs = format.rungs(capabilities);
    rungs.retain(|rung| plan.is_none_or(|plan| holds(*rung, plan, bounds)));
    rungs
}

/// Returns whether a reply on this rung can contain the plan.
fn holds(rung: Rung, plan: &Plan, bounds: ReplyBounds) -> bool {
    match rung {
        Rung::Schema => bounds.hold(plan),
        Rung::FlatSchema => plan.walk().all(|entry| entry.depth <= FLAT_LEVELS),
        _ => true,
    }
}

/// Returns the response format that a request on this rung requires.
pub(crate) fn reply_format(rung: Rung, bounds: ReplyBounds) -> Option<ReplyFormat> {
    match rung {
        Rung::Schema => Some(ReplyFormat::schema("reply", Reply::json_schema(bounds))),
        Rung::FlatSchema => Some(ReplyFormat::schema("reply", Reply::flat_json_schema())),
        Rung::Json => Some(ReplyFormat::Json),
        _ => None,
    }
}
