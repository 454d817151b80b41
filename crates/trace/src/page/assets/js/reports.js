// The reports of nodes, by their source. Sources, types and other words of a record are looked up in
// tables without a prototype, where a word such as `constructor` finds nothing.

const TOOL = { __proto__: null, tool_call: addedTool, tool_result: addedResult };

function addedTool(run, report, step) {
  addToolCall(run, step, report);
}

function addedResult(run, report, step) {
  addToolResult(run, step, report);
}

/** The output of a node of a flow from a file. */
const OUTPUT = {
  __proto__: null,
  output(run, report, step) {
    if (step) step.output = asText(report.text);
  },
};

const REPORTS = {
  __proto__: null,
  reasoning: REASONING,
  chat: CHAT,
  solving: SOLVING,
  tool: TOOL,
  output: OUTPUT,
};
