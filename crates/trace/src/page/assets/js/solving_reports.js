// What the reports of strategies change in the model of a run.

const SOLVING = {
  __proto__: null,
  table(run, report) {
    run.addTable(report);
  },

  stage(run, report, step) {
    const before = run.thoughts.length;
    const text = asText(report.text) ?? '';
    const branch = branchOf(run, report.branch);
    const thought = addThought(run, step, {
      kind: 'stage',
      number: asNumber(report.thought) ?? 0,
      text,
      work: text,
      stage: asText(report.stage) ?? '',
      branch: branch.name,
      parents: asList(report.parents).filter((parent) => asNumber(parent) !== undefined),
      revises: asNumber(report.revises),
      score: asNumber(report.score),
      parameters: asObject(report.parameters),
      cut: report.cut,
      plan: [],
    });
    if (run.thoughts.length > before) run.stages.push(thought);
  },

  branch(run, report) {
    // Without content, branches have no names.
    const branch = branchOf(run, report.name || `branch ${asText(report.id)}`);
    branch.status = asText(report.status) ?? branch.status;
    for (const field of ['from', 'score', 'into']) {
      branch[field] = asNumber(report[field]) ?? branch[field];
    }
  },

  merged(run, report, step) {
    const merged = asList(report.branches).map(textOf);
    branchOf(run, report.into).merges = merged;
    const thought = step?.thoughtsByKey.get(thoughtKey('stage', report.thought));
    if (thought) thought.merges = merged;
  },

  pruned(run, report) {
    branchOf(run, report.branch).status = 'pruned';
  },

  ended: REASONING.ended,
};

/** Returns the branch with this name, which is created if it is new. */
function branchOf(run, name) {
  const key = asText(name) || 'main';
  let branch = run.branches.get(key);
  if (!branch) {
    branch = { name: key, index: run.branches.size, status: 'open' };
    run.branches.set(key, branch);
  }
  return branch;
}
