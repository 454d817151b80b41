// The reports of nodes, by their source. Sources, types and other words of a record are looked up in
// tables without a prototype, where a word such as `constructor` finds nothing.

/** The output of a node of a flow from a file. */
const OUTPUT = {
  __proto__: null,
  output(run, report, step) {
    if (step) step.output = report.text;
  },
};

/** The outcomes of nodes, as they are in the journal, and the items of batches. */
const FLOW = {
  __proto__: null,
  outcome(run, report, step, event) {
    if (!step) return;
    const outcome = textOf(report.outcome);
    const item = itemOf(step, event.step);
    if (item) item.outcome = outcome;
    else step.output ??= outcome;
  },

  item(run, report, step, event) {
    const item = step && itemOf(step, event.step);
    if (item) item.text = report.text;
  },
};

/** Returns the item of a step that an event is about. */
function itemOf(step, name) {
  const index = /\[(\d+)\]$/.exec(name)?.[1];
  return index && (step.items[index] ??= { index: Number(index) });
}

const TOOL = {
  __proto__: null,
  tool_call: addToolCall,
  tool_result: addToolResult,
};

const REPORTS = {
  __proto__: null,
  reasoning: REASONING,
  chat: CHAT,
  solving: SOLVING,
  tool: TOOL,
  output: OUTPUT,
  flow: FLOW,
};
