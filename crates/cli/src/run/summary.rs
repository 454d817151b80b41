//! What is known after a run was interrupted.

use cogwork_agents::FlowState;
use cogwork_cot::Reasoning;
use cogwork_text::Name;

/// Returns lines with the nodes that have an output, the thoughts of unfinished reasonings, and the
/// cost so far.
pub(crate) fn lines(state: &FlowState) -> Vec<String> {
    let unfinished = state
        .reasonings()
        .iter()
        .filter(|(_, reasoning)| reasoning.solution().is_none() && !reasoning.thoughts().is_empty())
        .map(|(node, reasoning)| thoughts(node, reasoning));

    std::iter::once(outputs(state)).chain(unfinished).collect()
}

fn outputs(state: &FlowState) -> String {
    let nodes: Vec<String> = state
        .outputs()
        .keys()
        .map(|node| format!("`{}`", Name(node)))
        .collect();
    let done = match nodes.as_slice() {
        [] => "no node has an output yet".to_owned(),
        nodes => format!("there are outputs of {}", nodes.join(", ")),
    };

    let calls = counted(u64::from(state.calls()), "call");
    let tokens = counted(state.usage().total_tokens(), "token");
    format!("{done}, after {calls} and {tokens}")
}

fn thoughts(node: &str, reasoning: &Reasoning) -> String {
    let thoughts = counted(reasoning.thoughts().len() as u64, "thought");
    let progress = reasoning
        .plan()
        .map(|plan| format!(", {}", plan.progress()))
        .unwrap_or_default();
    let spent = reasoning.spent();

    format!("`{}` has {thoughts}{progress}, after {spent}", Name(node))
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
