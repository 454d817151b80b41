//! The names of steps in a record.

/// A number in the name of a step: that of the step, or of a step around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment<'a> {
    /// The path to the flow that counts, up to its item or branch.
    way: &'a str,
    number: u64,
    /// The name of the step up to this number.
    visited: &'a str,
}

/// Returns the numbers in the name of a step, the outermost first.
fn moments(step: &str) -> impl Iterator<Item = Moment<'_>> {
    // Other characters `#` are escaped in names.
    step.match_indices('#').filter_map(|(mark, _)| {
        let before = step.get(..mark)?;
        let after = step.get(mark + 1..)?;
        let digits = after
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(after.len());

        let way = before.rfind(']').and_then(|end| before.get(..=end));
        Some(Moment {
            way: way.unwrap_or_default(),
            number: after.get(..digits)?.parse().ok()?,
            visited: step.get(..=mark + digits)?,
        })
    })
}

/// Returns the number of a step, or of the outermost step around it.
pub(super) fn outermost_number(step: &str) -> u64 {
    moments(step).next().map_or(0, |moment| moment.number)
}

/// Returns the path of the node of a step, without the name of the flow and without items.
pub(super) fn node(step: &str) -> &str {
    let path = step.split('#').next().unwrap_or_default();
    path.split_once('/').map_or(path, |(_, node)| node)
}

/// Returns the name of the step around a call inside `exec`. Returns `None` if this isn't a call.
pub(super) fn step_around_call(step: &str) -> Option<&str> {
    let mark = step.rfind('#')?;
    let dot = step.get(mark..)?.find('.')?;
    step.get(..mark + dot)
}

/// Returns whether a step comes after another one in the same flow, or is inside of such a step.
pub(super) fn comes_after(step: &str, other: &str) -> bool {
    moments(other).any(|other| {
        moments(step).any(|moment| moment.way == other.way && moment.number > other.number)
    })
}

/// Two visits to different nodes at the same moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OtherVisit<'a> {
    pub(super) visited: &'a str,
    pub(super) recorded: &'a str,
    /// The number of the outermost step.
    pub(super) number: u64,
}

/// Returns the visit of a recorded step that excludes that of `step` in the same run, if there is
/// one.
pub(super) fn other_visit<'a>(step: &'a str, recorded: &'a str) -> Option<OtherVisit<'a>> {
    let visits = moments(step).flat_map(|one| moments(recorded).map(move |other| (one, other)));
    let mut others = visits.filter(|(one, other)| {
        one.way == other.way && one.number == other.number && one.visited != other.visited
    });
    let (one, other) = others.next()?;

    Some(OtherVisit {
        visited: one.visited,
        recorded: other.visited,
        number: outermost_number(step),
    })
}

/// Returns whether `step` is the step around the call `call`, or another call in it.
pub(super) fn is_around_or_with(step: &str, call: &str) -> bool {
    let Some(around) = step_around_call(call) else {
        return false;
    };

    step.strip_prefix(around)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
