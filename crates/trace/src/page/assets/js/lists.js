// The lists of a run, and their rows.

/** The statuses of steps and runs. */
const STATUSES = {
  __proto__: null,
  open: { icon: '…', text: 'open', className: 'warn' },
  running: { icon: '…', text: 'running', className: 'warn' },
  done: { icon: '✓', text: 'done', className: 'good' },
  ended: { icon: '✓', text: 'ended', className: 'good' },
  failed: { icon: '×', text: 'failed', className: 'bad' },
  waiting: { icon: '‖', text: 'waits', className: 'warn' },
  paused: { icon: '‖', text: 'waiting', className: 'warn' },
  damaged: { icon: '!', text: 'damaged', className: 'bad' },
};

function statusText({ icon, text }) {
  return `${icon} ${text}`;
}

/** Returns the tag of a step, or of a run in the studio. */
function runTag(status) {
  return el('span', { class: `tag ${STATUSES[status].className}` }, statusText(STATUSES[status]));
}

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
  return tag ? statusText(tag) : branch.status;
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
        el('span', { class: `step-status ${step.status}` }, statusText(STATUSES[step.status])),
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
    items: (run) => (run.branches.size > 1 ? [...run.branches.values()] : []),
    row: (branch) =>
      row(String(branch.index + 1), branch.name, [
        `${branchStatus(branch)} · ${plural(branch.thoughts, 'thought')}`,
        branch.score !== undefined && ` · score ${branch.score}`,
        branch.from !== undefined && ` · from thought ${branch.from}`,
        branch.merges && ` · merges ${branch.merges.length}`,
      ]),
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
