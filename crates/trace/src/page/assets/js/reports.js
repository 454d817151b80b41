// The reports of nodes, by their source. Sources, types and other words of a record are looked up in
// tables without a prototype, where a word such as `constructor` finds nothing.

/** The output of a node of a flow from a file. */
const OUTPUT = {
  __proto__: null,
  output(run, report, step) {
    if (step) step.output = report.text;
  },
};

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
};
