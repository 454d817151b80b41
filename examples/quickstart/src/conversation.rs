//! Reads a request: the problem, the last plan, and the number of thoughts.

use cogwork_llm::{Messages, Role};
use cogwork_plan::Plan;

use super::working::Last;
use super::writing::EVALUATION;

/// The longest plan that is read, in bytes. The longest one written here is a tenth of it.
const MAX_PLAN: usize = 1 << 20;

/// The most characters of a plan that could open a bracket or name an anchor. The plans written
/// here need a few in quotes at most, and the YAML reader is slow on many.
const MAX_OPENING: usize = 64;

/// The problem of the newest user message that holds one, and the last plan after it.
/// `None`: no message holds a problem.
pub(super) fn read(messages: &Messages) -> Option<(&str, Option<Last>)> {
    let messages: Vec<_> = messages.iter().collect();
    let said = |role: Role, text: &str, opening: &str, closing: &str| {
        if role == Role::User {
            between(text, opening, closing).is_some()
        } else {
            false
        }
    };

    let stated = messages
        .iter()
        .rposition(|message| said(message.role(), message.text(), "<problem>", "</problem>"))?;
    let problem = between(messages.get(stated)?.text(), "<problem>", "</problem>")?;
    let later = messages.get(stated + 1..).unwrap_or_default();
    let planned = later
        .iter()
        .rposition(|message| said(message.role(), message.text(), "<plan>", "</plan>"));
    let last = planned.and_then(|index| {
        let text = between(later.get(index)?.text(), "<plan>", "</plan>")?;
        let thoughts = later
            .get(..index)?
            .iter()
            .filter(|message| message.role() == Role::Assistant);
        Some(Last {
            plan: plan(text),
            thought: last_number(thoughts.map(|message| message.text())),
        })
    });

    Some((problem, last))
}

/// The number of the last thought. Each but the first says which one it evaluates; counting would
/// go wrong where the history leaves the oldest out.
fn last_number<'a>(thoughts: impl DoubleEndedIterator<Item = &'a str> + Clone) -> usize {
    let evaluated = thoughts.clone().next_back().and_then(|last| {
        let (_, after) = last.split_once(EVALUATION)?;
        after
            .split(':')
            .next()?
            .parse::<usize>()
            .ok()?
            .checked_add(1)
    });
    evaluated.unwrap_or_else(|| thoughts.count())
}

/// From the first opening tag to the last closing one: a text may mention the tags itself.
fn between<'a>(text: &'a str, opening: &str, closing: &str) -> Option<&'a str> {
    let start = text.find(opening)? + opening.len();
    text.get(start..text.rfind(closing)?)
}

/// Reads a plan as the loop hands it over. What no plan of this backend can hold is refused
/// before the YAML reader sees it: great size, deep nesting in brackets, many aliases.
fn plan(text: &str) -> Option<Plan> {
    if text.len() > MAX_PLAN {
        return None;
    }

    let opening = |pair: &&[u8]| match pair {
        [b'[' | b'{', _] => true,
        // A multiplication sign is between spaces.
        [b'&' | b'*', next] => !next.is_ascii_whitespace(),
        _ => false,
    };

    if text.as_bytes().windows(2).filter(opening).count() > MAX_OPENING {
        return None;
    }

    serde_yaml::from_str(text).ok()
}
