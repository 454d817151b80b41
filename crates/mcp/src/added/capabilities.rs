//! The capabilities of the server and of a handler.

use rmcp::model::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, SubscriptionFilter, ToolsCapability,
};

/// Returns what one of both can do.
pub(crate) fn joined(own: ServerCapabilities, added: ServerCapabilities) -> ServerCapabilities {
    let mut joined = own;
    joined.experimental = either(joined.experimental, added.experimental, |mut own, added| {
        own.extend(added);
        own
    });
    joined.extensions = either(joined.extensions, added.extensions, |mut own, added| {
        own.extend(added);
        own
    });
    joined.logging = joined.logging.or(added.logging);
    joined.completions = joined.completions.or(added.completions);
    joined.prompts = either(joined.prompts, added.prompts, prompts);
    joined.resources = either(joined.resources, added.resources, resources);
    joined.tools = either(joined.tools, added.tools, tools);
    joined
}

fn prompts(mut own: PromptsCapability, added: PromptsCapability) -> PromptsCapability {
    own.list_changed = own.list_changed.or(added.list_changed);
    own
}

fn resources(mut own: ResourcesCapability, added: ResourcesCapability) -> ResourcesCapability {
    own.list_changed = own.list_changed.or(added.list_changed);
    own.subscribe = own.subscribe.or(added.subscribe);
    own
}

fn tools(mut own: ToolsCapability, added: ToolsCapability) -> ToolsCapability {
    own.list_changed = own.list_changed.or(added.list_changed);
    own
}

/// Returns the notifications that one of both sends.
pub(crate) fn joined_filter(
    own: SubscriptionFilter,
    added: SubscriptionFilter,
) -> SubscriptionFilter {
    let mut joined = own;
    joined.tools_list_changed = joined.tools_list_changed.or(added.tools_list_changed);
    joined.prompts_list_changed = joined.prompts_list_changed.or(added.prompts_list_changed);
    joined.resources_list_changed = joined
        .resources_list_changed
        .or(added.resources_list_changed);
    joined.resource_subscriptions = either(
        joined.resource_subscriptions,
        added.resource_subscriptions,
        |own, added| {
            let new: Vec<_> = added.into_iter().filter(|uri| !own.contains(uri)).collect();
            own.into_iter().chain(new).collect()
        },
    );
    joined
}

/// Returns the one that is there, or both joined.
fn either<T>(own: Option<T>, added: Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (own, added) {
        (Some(own), Some(added)) => Some(join(own, added)),
        (own, added) => own.or(added),
    }
}
