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
    const inner = asObjects(step.sub_steps);
    if (inner.length > 0) open.push({ steps: inner, at: 0, path: `${path}.` });
  }
  return rows;
}

/** Counts the steps that have no sub-steps. */
function planProgress(plan) {
  const all = flattenPlan(plan);
  const rows = all.filter(({ step }) => !(asObjects(step.sub_steps).length > 0));
  return {
    done: rows.filter(({ step }) => step.status === 'Done').length,
    all: rows.length,
  };
}

const CHANGE = {
  __proto__: null,
  added: () => ({ sign: '+', className: 'added', text: 'added' }),
  removed: () => ({ sign: '−', className: 'removed', text: 'removed' }),
  refined: (change) => ({
    sign: '≡',
    className: 'changed',
    text: `broken into ${plural(change.sub_steps, 'sub-step')}`,
  }),
  status_changed: (change) => ({
    sign: '~',
    className: 'changed',
    text: `${change.from} → ${change.to}`,
  }),
  result_changed: (change) => ({
    sign: '~',
    className: 'changed',
    text: fromTo('result', change),
  }),
  mark_changed: (change) => ({
    sign: '~',
    className: 'changed',
    text: fromTo('mark', change),
  }),
  reworded: (change) => ({
    sign: '~',
    className: 'changed',
    text: `reworded from “${change.from}”`,
  }),
  moved: (change) => ({
    sign: '↕',
    className: 'changed',
    text: `moved from ${change.from}`,
  }),
};

function fromTo(name, { from, to }) {
  if (to === null || to === undefined) return `${name} dropped: ${from}`;
  if (from === null || from === undefined) return `${name} set`;
  return `${name} was: ${from}`;
}

function readChange(change) {
  return (
    CHANGE[change.change]?.(change) ?? {
      sign: '~',
      className: 'changed',
      text: String(change.change),
    }
  );
}

function planView(plan, changes) {
  const byPath = new Map();
  const removed = [];
  for (const change of changes) {
    if (change.change === 'removed') removed.push(change);
    else if (byPath.has(String(change.path)))
      byPath.get(String(change.path)).push(readChange(change));
    else byPath.set(String(change.path), [readChange(change)]);
  }

  const rows = flattenPlan(plan);
  const added = new Set(
    changes
      .filter((change) => change.change === 'added')
      .map((change) => String(change.path)),
  );
  const items = rows.map((row) =>
    planRow(row, byPath.get(row.path) ?? [], isAdded(row.path, added)),
  );
  return [
    el('ol', { class: 'plan', role: 'list' }, items),
    removed.length > 0 &&
      el(
        'ol',
        { class: 'plan plan-removed', role: 'list', 'aria-label': 'Removed steps' },
        removed.map(removedRow),
      ),
  ];
}

function isAdded(path, added) {
  for (let part = path; part; part = part.slice(0, Math.max(0, part.lastIndexOf('.')))) {
    if (added.has(part)) return true;
  }
  return false;
}

function planRow({ step, path, depth }, changes, added) {
  const status = planStatus(step);
  const marks = changes.filter((change) => change.className !== 'added');
  const className = added ? 'added' : changes.length > 0 ? 'changed' : '';
  const row = el(
    'li',
    { class: `plan-row ${className}`, 'aria-level': depth + 1 },
    el(
      'span',
      { class: 'plan-sign', 'aria-hidden': 'true' },
      added ? '+' : (changes[0]?.sign ?? ''),
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
      marks.map((change) =>
        el(
          'span',
          { class: `tag ${change.className}` },
          el('bdi', {}, oneLine(change.text, 200)),
        ),
      ),
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
