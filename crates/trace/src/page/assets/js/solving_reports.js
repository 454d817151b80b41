// What the reports of strategies change in the model of a run.

const SOLVING = {
  table(run, report) {
    run.addTable(report);
  },

  stage(run, report, step) {
    const before = run.thoughts.length;
    const text = String(report.text ?? '');
    const branch = branchOf(run, report.branch);
    const thought = addThought(run, step, {
      kind: 'stage',
      number: report.thought,
      text,
      work: text,
      stage: String(report.stage),
      branch: branch.name,
      parents: Array.isArray(report.parents) ? report.parents : [],
      revises: report.revises,
      score: report.score,
      parameters: report.parameters,
      plan: [],
    });
    if (run.thoughts.length > before) run.stages.push(thought);
  },

  branch(run, report) {
    // Without content, branches have no names.
    const branch = branchOf(run, report.name || `branch ${report.id}`);
    for (const field of ['from', 'status', 'score', 'into']) {
      if (report[field] != null) branch[field] = report[field];
    }
  },

  merged(run, report, step) {
    const merged = Array.isArray(report.branches) ? report.branches.map(String) : [];
    branchOf(run, report.into).merges = merged;
    const thought = step?.thoughts.find((other) => other.number === report.thought);
    if (thought) thought.merges = merged;
  },

  pruned(run, report) {
    branchOf(run, report.branch).status = 'pruned';
  },

  ended: REASONING.ended,
};

/** Returns the branch with this name, which is created if it is new. */
function branchOf(run, name) {
  const key = String(name || 'main');
  let branch = run.branches.get(key);
  if (!branch) {
    branch = { name: key, index: run.branches.size, status: 'open' };
    run.branches.set(key, branch);
  }
  return branch;
}
