// What the reports of calls of tools change in the model of a run.

function addToolCall(run, report, step) {
  const tool = {
    index: run.tools.length,
    id: report.id,
    name: report.name ?? '',
    input: textOf(report.input ?? report.arguments),
    thought: report.thought,
    step,
    at: run.now,
  };
  run.tools.push(tool);
  step?.tools.push(tool);
}

function addToolResult(run, report, step) {
  const name = report.name ?? '';
  const open = step?.tools.find(
    (tool) => tool.name === name && tool.id === report.id && tool.output === undefined,
  );
  const tool = open ?? {
    index: run.tools.length,
    name,
    input: '',
    step,
    at: run.now,
  };
  if (!open) {
    run.tools.push(tool);
    step?.tools.push(tool);
  }
  tool.output = textOf(report.output);
  tool.failed = report.failed === true;
  tool.took = report.took ?? run.now - tool.at;
  if (tool.failed) run.addProblem('tool', step, `${tool.name}: ${tool.output}`);
}
