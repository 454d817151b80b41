//! The names of steps in a record.

/// Returns the numbers in the name of a step, those of the steps around it first. Each comes with the
/// path to the flow that counts, up to its item or branch.
fn moments(step: &str) -> impl Iterator<Item = (&str, u64)> {
    // Other characters `#` are escaped in names.
    step.match_indices('#').filter_map(|(mark, _)| {
        let before = step.get(..mark)?;
        let after = step.get(mark + 1..)?;
        let digits = after
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(after.len());

        // Counting starts anew inside each item and branch, so their path belongs to the number.
        let way = before.rfind(']').and_then(|end| before.get(..=end));
        let number = after.get(..digits)?.parse().ok()?;
        Some((way.unwrap_or_default(), number))
    })
}

/// Returns the number of a step, or of the outermost step around it.
pub(super) fn outermost_number(step: &str) -> u64 {
    moments(step).next().map_or(0, |(_, number)| number)
}

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
    moments(other).any(|(other_way, other)| {
        moments(step).any(|(way, number)| way == other_way && number > other)
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
