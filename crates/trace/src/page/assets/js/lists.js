// The lists of a run, and their rows.

const STEP_TAGS = {
  __proto__: null,
  open: { text: '… not finished', className: 'warn' },
  done: { text: '✓ done', className: 'good' },
  failed: { text: '× failed', className: 'bad' },
  waiting: { text: '‖ waits', className: 'warn' },
};

const BRANCH_TAGS = {
  __proto__: null,
  open: { icon: '○', text: 'open', className: '' },
  done: { icon: '✓', text: 'complete', className: 'good' },
  complete: { icon: '✓', text: 'complete', className: 'good' },
  pruned: { icon: '×', text: 'pruned', className: 'muted-tag' },
  merged: { icon: '→', text: 'merged', className: 'changed' },
};

const PROBLEMS = {
  __proto__: null,
  error: { icon: '×', text: 'Error', className: 'bad' },
  retry: { icon: '↺', text: 'Retry', className: 'warn' },
  'asked again': { icon: '?', text: 'Asked again', className: 'warn' },
  repair: { icon: '≈', text: 'Repaired reply', className: 'changed' },
  tool: { icon: '×', text: 'Failed tool call', className: 'bad' },
  wait: { icon: '‖', text: 'Wait', className: '' },
  resumed: { icon: '»', text: 'Resumed', className: '' },
  lost: { icon: '…', text: 'Lost events', className: 'warn' },
  left_out: { icon: '…', text: 'Left out', className: 'warn' },
};

function branchStatus(branch) {
  const tag = BRANCH_TAGS[branch.status];
  return tag ? `${tag.icon} ${tag.text}` : String(branch.status);
}

function row(lead, title, meta) {
  return [
    el('span', { class: 'row-lead' }, lead),
    el(
      'span',
      { class: 'row-body' },
      el('bdi', { class: 'row-title' }, title),
      el('span', { class: 'row-meta' }, meta),
    ),
  ];
}

const LISTS = [
  {
    kind: 'thought',
    label: 'Thoughts',
    items: (run) => run.thoughts,
    row: (thought) =>
      row(
        String(thought.number),
        oneLine(thought.work || thought.text, 120),
        thoughtMeta(thought),
      ),
  },
  {
    kind: 'step',
    label: 'Steps',
    isAlways: true,
    items: (run) => run.steps,
    row: (step) =>
      row(String(step.index + 1), step.node, [
        el('span', { class: `step-status ${step.status}` }, STEP_TAGS[step.status].text),
        ` · ${duration(step.took)}`,
        step.action !== undefined &&
          step.action !== 'default' &&
          ` · ${oneLine(step.action, 30)}`,
        step.isReplayed && ' · from the journal',
        step.isNested && ` · ${oneLine(step.scope, 50)}`,
        step.output && ` · ${oneLine(step.output, 80)}`,
      ]),
  },
  {
    kind: 'branch',
    label: 'Branches',
    items: (run) => (run.branches.size > 1 ? branchTree(run) : []),
    row: (branch) => branchRow(branch),
  },
  {
    kind: 'call',
    label: 'Calls',
    items: (run) => run.calls,
    row: (call) =>
      row(
        String(call.number),
        oneLine(callTitle(call), 100),
        [
          `${callMeta(call)} `,
          verdictTag(call),
        ],
      ),
  },
  {
    kind: 'tool',
    label: 'Tools',
    items: (run) => run.tools,
    row: (tool) =>
      row(
        tool.failed ? '×' : '✓',
        `${tool.name} ${oneLine(argumentsLine(tool.input), 100)}`,
        oneLine(tool.output ?? 'no result', 100),
      ),
  },
  {
    kind: 'problem',
    label: 'Notable',
    items: (run) => run.problems,
    row: (problem) => {
      const kind = PROBLEMS[problem.kind] ?? {
        icon: '·',
        text: problem.kind,
        className: '',
      };
      return row(
        el('span', { class: `problem-icon ${kind.className}` }, kind.icon),
        oneLine(problem.text, 120),
        `${kind.text} · ${duration(problem.at)}${problem.step ? ` · ${oneLine(problem.step.name, 60)}` : ''}`,
      );
    },
  },
];

function thoughtMeta(thought) {
  const changes = thought.changes.length;
  const parts = [
    thought.stage,
    thought.branch !== undefined &&
      thought.branch !== 'main' &&
      `branch ${thought.branch}`,
    thought.score !== undefined && `score ${thought.score}`,
    thought.plan.length > 0 && planMeta(thought.plan),
    changes > 0 && plural(changes, 'change'),
    thought.step.tools.length > 0 && plural(thought.step.tools.length, 'tool call'),
    thought.complaints.length > 0 && 'asked again',
    thought.isLast && 'last',
  ];
  return parts.filter(Boolean).join(' · ');
}

function planMeta(plan) {
  const { done, all } = planProgress(plan);
  return `${done}/${all} done`;
}

/** Returns the branches in the order of a tree, with their depth. */
function branchTree(run) {
  const counts = new Map();
  const branchOfThought = new Map();
  for (const thought of run.stages) {
    branchOfThought.set(thought.number, thought.branch);
    counts.set(thought.branch, (counts.get(thought.branch) ?? 0) + 1);
  }

  const roots = [];
  const children = new Map();
  for (const branch of run.branches.values()) {
    const parent =
      branch.from === undefined
        ? undefined
        : (branchOfThought.get(branch.from) ?? 'main');
    const isRoot =
      parent === undefined || parent === branch.name || !run.branches.has(parent);
    if (isRoot) roots.push(branch);
    else if (children.has(parent)) children.get(parent).push(branch);
    else children.set(parent, [branch]);
  }

  const ordered = inTreeOrder(roots, children);
  const reached = new Set(ordered);
  // Branches that are descended from each other cannot be reached from a root.
  for (const branch of run.branches.values()) {
    if (!reached.has(branch)) ordered.push(Object.assign(branch, { depth: 0 }));
  }

  const best =
    ordered.reduce((most, branch) => Math.max(most, branch.score ?? 0), 0) || 1;
  for (const branch of ordered) {
    Object.assign(branch, {
      thoughts: counts.get(branch.name) ?? 0,
      share: (branch.score ?? 0) / best,
    });
  }
  return ordered;
}

function inTreeOrder(roots, children) {
  const ordered = [];
  const open = roots.map((branch) => [branch, 0]).reverse();
  while (open.length > 0) {
    const [branch, depth] = open.pop();
    branch.depth = depth;
    ordered.push(branch);
    for (const child of (children.get(branch.name) ?? []).toReversed())
      open.push([child, depth + 1]);
  }
  return ordered;
}

function branchRow(branch) {
  const bar = el('i', {});
  bar.style.width = `${100 * Math.max(0, branch.share)}%`;
  const body = el(
    'span',
    { class: `row-body branch ${branch.status === 'pruned' ? 'pruned' : ''}` },
    el('bdi', { class: 'row-title' }, branch.name),
    el(
      'span',
      { class: 'row-meta' },
      `${branchStatus(branch)} · ${plural(branch.thoughts, 'thought')}`,
      branch.score !== undefined && ` · score ${branch.score}`,
      branch.from !== undefined && ` · from thought ${branch.from}`,
      branch.merges && ` · merges ${branch.merges.length}`,
    ),
  );
  const score = el('span', { class: 'branch-score', 'aria-hidden': 'true' }, bar);
  body.style.setProperty('--depth', String(Math.min(branch.depth, 12)));
  return [body, score];
}
