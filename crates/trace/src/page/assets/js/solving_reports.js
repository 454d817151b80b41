// What the reports of strategies change in the model of a run.

const SOLVING = {
  __proto__: null,
  table(run, report) {
    run.addTable(report);
  },

  stage(run, report, step) {
    const before = run.thoughts.length;
    const text = report.text ?? '';
    const { parents = [], sources } = report.merged ?? {};
    const branch = branchOf(run, branchName(run, step, report.branch));
    const thought = addThought(run, step, {
      kind: 'stage',
      number: report.id ?? 0,
      text,
      work: text,
      stage: report.stage ?? '',
      branch: branch.name,
      parents: report.parent === undefined ? parents : [report.parent, ...parents],
      revises: report.revises,
      parameters: report.parameters ?? {},
      merges: sources?.map((id) => branchName(run, step, id)),
      plan: [],
    });
    if (run.thoughts.length === before) return;
    run.stages.push(thought);
    branch.thoughts += 1;
    branch.merges = thought.merges ?? branch.merges;
  },

  branch(run, report, step) {
    if (report.name) run.branchNames.set(branchKey(step, report.id), report.name);
    const branch = branchOf(run, branchName(run, step, report.id));
    const { status = branch.status, from, score } = report;
    const into = status.merged;
    Object.assign(branch, { status: into === undefined ? status : 'merged', into, from, score });
  },

  ended: REASONING.ended,
};

/** Returns the name of a branch of a node. */
function branchName(run, step, id) {
  return run.branchNames.get(branchKey(step, id)) ?? (id ? `branch ${id}` : 'main');
}

/** Several nodes may have branches with the same number. */
function branchKey(step, id) {
  return `${step?.scope}/${step?.node} ${id}`;
}

/** Returns the branch with this name, which is created if it is new. */
function branchOf(run, name) {
  let branch = run.branches.get(name);
  if (!branch) {
    branch = { name, index: run.branches.size, status: 'open', thoughts: 0 };
    run.branches.set(name, branch);
  }
  return branch;
}
