// What the reports of strategies change in the model of a run.

const SOLVING = {
  __proto__: null,
  table(run, report) {
    run.addTable(report);
  },

  stage(run, report, step) {
    const before = run.thoughts.length;
    const text = report.text ?? '';
    const branch = branchOf(run, report.branch);
    const thought = addThought(run, step, {
      kind: 'stage',
      number: report.thought ?? 0,
      text,
      work: text,
      stage: report.stage ?? '',
      branch: branch.name,
      parents: report.parents ?? [],
      revises: report.revises,
      score: report.score,
      parameters: report.parameters ?? {},
      merges: report.merges?.map(textOf),
      plan: [],
    });
    if (run.thoughts.length === before) return;
    run.stages.push(thought);
    branch.thoughts += 1;
    branch.merges = thought.merges ?? branch.merges;
  },

  branch(run, report) {
    // Without content, branches have no names.
    const branch = branchOf(run, report.name || `branch ${report.id}`);
    branch.status = report.status ?? branch.status;
    for (const field of ['from', 'score', 'into']) {
      branch[field] = report[field] ?? branch[field];
    }
  },

  pruned(run, report) {
    branchOf(run, report.branch).status = 'pruned';
  },

  ended: REASONING.ended,
};

/** Returns the branch with this name, which is created if it is new. */
function branchOf(run, name) {
  const key = name || 'main';
  let branch = run.branches.get(key);
  if (!branch) {
    branch = { name: key, index: run.branches.size, status: 'open', thoughts: 0 };
    run.branches.set(key, branch);
  }
  return branch;
}
