//! Tool calls and their results, as texts for the model.

use cogwork_typed::ask::{ToolUse, cut};

/// The maximum number of characters of an input in the conversation after the thought.
const EARLIER_INPUT: usize = 200;
/// The maximum number of characters of an output in the conversation after the thought.
const EARLIER_OUTPUT: usize = 1_000;
/// The maximum number of characters of all calls of a thought in the conversation after it.
const EARLIER_TOTAL: usize = 8_000;
/// The maximum number of characters of the name of a tool. Longer names are unknown anyway.
const NAME: usize = 64;

/// The mark of a list that was shortened.
const CUT: &str = "[…]";

/// Returns the calls of the last reply, with the complete results.
pub(super) fn results(uses: &[ToolUse]) -> String {
    let shown: Vec<String> = uses
        .iter()
        .map(|used| shown(used, EARLIER_INPUT, usize::MAX))
        .collect();
    shown.join("\n")
}

/// Returns the calls of an earlier thought, with shortened results. If they are too long, the first
/// ones are omitted.
pub(super) fn earlier_results(uses: &[ToolUse]) -> String {
    let mut left = EARLIER_TOTAL;
    let mut newest_first = Vec::new();

    // The newest results matter most.
    for used in uses.iter().rev() {
        let text = shown(used, EARLIER_INPUT, EARLIER_OUTPUT);
        let Some(rest) = left.checked_sub(text.chars().count()) else {
            newest_first.push(CUT.to_owned());
            break;
        };

        left = rest;
        newest_first.push(text);
    }

    newest_first.reverse();
    newest_first.join("\n")
}

fn shown(used: &ToolUse, max_input: usize, max_output: usize) -> String {
    // The name is what the model wrote, and may be anything.
    let name: String = used.name.chars().take(NAME).collect();
    let input = cut(used.arguments.trim(), max_input);
    let output = cut(used.result.trim_end(), max_output);
    let tag = if used.failed { "failure" } else { "result" };

    format!("<call tool=\"{name}\">\n{input}\n</call>\n<{tag}>\n{output}\n</{tag}>")
}
