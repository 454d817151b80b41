//! The names of steps in a record.

use cogwork_flow::engine::Moment;

/// Returns the path of the node of a step, without the name of the flow and without items.
pub(super) fn node(step: &str) -> &str {
    let path = step.split('#').next().unwrap_or_default();
    path.split_once('/').map_or(path, |(_, node)| node)
}

/// Returns the name of the step around a call inside `exec`. Returns `None` if this isn't a call.
pub(super) fn step_around_call(step: &str) -> Option<&str> {
    // Names may contain dots, but the first one after the last `#` begins the call.
    let mark = step.rfind('#')?;
    let dot = step.get(mark..)?.find('.')?;
    step.get(..mark + dot)
}

/// Returns whether a step comes after another one in the same flow, or is inside of such a step.
pub(super) fn comes_after(step: &str, other: &str) -> bool {
    Moment::all_of(other).any(|other| {
        let mut moments = Moment::all_of(step);
        moments.any(|moment| moment.way == other.way && moment.number > other.number)
    })
}

/// Returns whether `step` is the step around the call `call`, or another call in it.
pub(super) fn is_around_or_with(step: &str, call: &str) -> bool {
    let Some(around) = step_around_call(call) else {
        return false;
    };

    // Step 1 isn't the one around the calls of step 10.
    step.strip_prefix(around)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
