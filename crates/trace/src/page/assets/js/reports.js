// The reports of nodes, by their source.

const TOOL = { tool_call: addedTool, tool_result: addedResult };

function addedTool(run, report, step) {
  addToolCall(run, step, report);
}

function addedResult(run, report, step) {
  addToolResult(run, step, report);
}

const REPORTS = { reasoning: REASONING, chat: CHAT, solving: SOLVING, tool: TOOL };
const ANY_REPORT = {};
