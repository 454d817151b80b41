//! The steps that a reply leaves undone when it ends the reasoning.

use cogwork_plan::{Status, WalkEntry};
use cogwork_text::OneLine;

use crate::Reply;

/// The maximum number of steps that are listed. The others are counted.
const NAMED: usize = 20;
/// The maximum number of characters of a description that are shown.
const WIDTH: usize = 200;

/// Returns the steps that a final reply leaves undone, as one line each; none if the reply is not
/// final. A step with open sub-steps is not listed itself.
pub(crate) fn open_steps(reply: &Reply) -> Vec<String> {
    // More thoughts follow, in which they can be done.
    if reply.next_thought_needed {
        return Vec::new();
    }

    let mut open: Vec<WalkEntry<'_>> = Vec::new();

    // Whether the walk is still below the last open step.
    let mut beneath = false;
    for entry in reply.planning.walk() {
        beneath = beneath && open.last().is_some_and(|last| last.depth < entry.depth);
        if entry.step.status != Status::Done {
            if beneath {
                // The innermost open step says what is to be done, those around it follow from it.
                open.pop();
            }

            open.push(entry);
            beneath = true;
        }
    }

    let line = |entry: &WalkEntry<'_>| {
        let path = entry.path();
        let status = entry.step.status;
        let description = OneLine::new(&entry.step.description).with_max_chars(WIDTH);
        format!("{path} {description} ({status})")
    };

    let more = open.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("and {more} more"));
    open.iter().take(NAMED).map(line).chain(more).collect()
}
