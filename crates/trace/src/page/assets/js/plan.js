// A plan as a tree, with what changed since the previous thought.

const STATUS = {
  __proto__: null,
  Done: { icon: '✓', name: 'done', className: 'done' },
  Pending: { icon: '○', name: 'pending', className: 'pending' },
  'Verification Needed': { icon: '?', name: 'verification needed', className: 'doubt' },
};

function planStatus(step) {
  const status = String(step.status ?? 'Pending');
  if (STATUS[status]) return STATUS[status];
  return /verif/i.test(status)
    ? STATUS['Verification Needed']
    : { icon: '·', name: status, className: 'pending' };
}

/** Returns the steps of a plan in order, with their depth and path. */
function flattenPlan(plan) {
  const rows = [];
  const open = [{ steps: plan, at: 0, path: '' }];
  while (open.length > 0 && rows.length < 5000) {
    const level = open.at(-1);
    const step = level.steps[level.at];
    if (step === undefined) {
      open.pop();
      continue;
    }
    level.at += 1;
    const path = `${level.path}${level.at}`;
    rows.push({ step, path, depth: open.length - 1 });
    const inner = step.sub_steps ?? [];
    if (inner.length > 0) open.push({ steps: inner, at: 0, path: `${path}.` });
  }
  return rows;
}

/** Counts the steps that have no sub-steps. */
function planProgress(plan) {
  const all = flattenPlan(plan);
  const rows = all.filter(({ step }) => !((step.sub_steps ?? []).length > 0));
  return {
    done: rows.filter(({ step }) => step.status === 'Done').length,
    all: rows.length,
  };
}

const SIGNS = { __proto__: null, added: '+', removed: '−', refined: '≡', moved: '↕' };

const CHANGE = {
  __proto__: null,
  added: () => 'added',
  refined: (change) => `broken into ${plural(change.sub_steps, 'sub-step')}`,
  status_changed: (change) => `${change.from} → ${change.to}`,
  result_changed: (change) => fromTo('result', change),
  mark_changed: (change) => fromTo('mark', change),
  reworded: (change) => `reworded from “${change.from}”`,
  moved: (change) => `moved from ${change.from}`,
};

function fromTo(name, { from, to }) {
  if (to === null || to === undefined) return `${name} dropped: ${from}`;
  if (from === null || from === undefined) return `${name} set`;
  return `${name} was: ${from}`;
}

function planView(plan, changes) {
  const added = new Set(ofKind(changes, 'added').map(({ path }) => path));
  const items = flattenPlan(plan).map((row) => {
    const ofRow = changes.filter(({ change, path }) => path === row.path && change !== 'removed');
    return planRow(row, ofRow, isAdded(row.path, added));
  });
  const removed = ofKind(changes, 'removed');
  const attributes = { class: 'plan plan-removed', role: 'list', 'aria-label': 'Removed steps' };
  return [
    el('ol', { class: 'plan', role: 'list' }, items),
    removed.length > 0 && el('ol', attributes, removed.map(removedRow)),
  ];
}

function ofKind(changes, kind) {
  return changes.filter(({ change }) => change === kind);
}

function isAdded(path, added) {
  for (let part = path; part; part = part.slice(0, Math.max(0, part.lastIndexOf('.')))) {
    if (added.has(part)) return true;
  }
  return false;
}

function planRow({ step, path, depth }, changes, added) {
  const status = planStatus(step);
  const marks = changes.filter(({ change }) => change !== 'added');
  const className = added ? 'added' : changes.length > 0 ? 'changed' : '';
  const row = el(
    'li',
    { class: `plan-row ${className}`, 'aria-level': depth + 1 },
    el(
      'span',
      { class: 'plan-sign', 'aria-hidden': 'true' },
      added ? '+' : changes.length > 0 && (SIGNS[changes[0].change] ?? '~'),
    ),
    el(
      'span',
      {
        class: `plan-status ${status.className}`,
        role: 'img',
        'aria-label': status.name,
        title: status.name,
      },
      status.icon,
    ),
    el('span', { class: 'plan-path' }, path),
    el(
      'div',
      { class: 'plan-text' },
      el('bdi', { class: 'plan-description' }, step.description ?? ''),
      added && el('span', { class: 'tag added' }, 'new'),
      marks.map((change) => {
        const text = CHANGE[change.change]?.(change) ?? change.change;
        return el('span', { class: 'tag changed' }, el('bdi', {}, oneLine(text, 200)));
      }),
      step.result && el('div', { class: 'plan-result', dir: 'auto' }, step.result),
      step.mark &&
        el('div', { class: 'plan-mark', dir: 'auto' }, `to verify: ${step.mark}`),
    ),
  );
  row.style.setProperty('--depth', String(Math.min(depth, 10)));
  return row;
}

function removedRow(change) {
  return el(
    'li',
    { class: 'plan-row removed' },
    el('span', { class: 'plan-sign', 'aria-hidden': 'true' }, '−'),
    el('span', { class: 'plan-path' }, change.path),
    el(
      'div',
      { class: 'plan-text' },
      el('del', {}, el('bdi', {}, change.description ?? '')),
      el('span', { class: 'tag removed' }, 'removed'),
    ),
  );
}

function progressBar({ done, all }) {
  const bar = el(
    'span',
    { class: 'progress', role: 'img', 'aria-label': `${done} of ${all} steps done` },
    el('i', {}),
  );
  bar.firstChild.style.width = all > 0 ? `${(100 * done) / all}%` : '0';
  return bar;
}
