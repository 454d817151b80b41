// Tokens, cost and time as bars, by node, by thought or by model.

const MEASURES = {
  tokens: { label: 'Tokens', of: (sums) => sums.tokens, format: count },
  time: { label: 'Time', of: (sums) => sums.spanned, format: duration },
  cost: { label: 'Cost', of: (sums) => sums.cost ?? 0, format: money },
  calls: { label: 'Calls', of: (sums) => sums.calls, format: count },
};

class Costs {
  constructor({ run, onselect }) {
    this.run = run;
    this.measure = select(
      'Measure',
      Object.entries(MEASURES).map(([id, { label }]) => [id, label]),
      () => this.update(),
    );
    this.group = select(
      'Grouped by',
      [
        ['node', 'By node'],
        ['thought', 'By thought'],
        ['model', 'By model'],
      ],
      () => this.update(),
    );
    this.list = new VirtualList({
      label: 'Bars',
      rowHeight: 30,
      row: (entry) => this.row(entry),
      onselect: (entry) => entry.step && onselect(entry.step),
    });
    this.element = el(
      'div',
      { class: 'costs' },
      el('div', { class: 'figure-tools' }, this.measure, this.group),
      this.list.element,
    );
  }

  update() {
    const measure = MEASURES[this.measure.value];
    const entries = GROUPS[this.group.value](this.run);
    for (const entry of entries) entry.value = measure.of(entry.sums);
    if (this.group.value !== 'thought') entries.sort((a, b) => b.value - a.value);
    this.most = entries.reduce((most, entry) => Math.max(most, entry.value), 0) || 1;
    this.list.set(entries);
  }

  row(entry) {
    const measure = MEASURES[this.measure.value];
    const bar = el('i', { class: 'cost-bar' });
    bar.style.width = `${(100 * entry.value) / this.most}%`;
    if (this.measure.value === 'tokens' && entry.value > 0) {
      const output = el('i', { class: 'cost-bar-output' });
      output.style.width = `${(100 * entry.sums.output) / entry.value}%`;
      bar.append(output);
    }
    return [
      el('span', { class: 'cost-label', title: entry.label }, oneLine(entry.label, 60)),
      el('span', { class: 'cost-track' }, bar),
      el('span', { class: 'cost-value' }, measure.format(entry.value)),
    ];
  }
}

const GROUPS = {
  node: (run) => groupSteps(run.steps, (step) => [step.place, unescapeName(step.place)]),

  thought(run) {
    const steps = run.steps.filter((step) => step.thoughts.length > 0);
    return groupSteps(steps, (step) => {
      const [first] = step.thoughts;
      const last = step.thoughts.at(-1);
      const name =
        first === last
          ? `Thought ${first.number}`
          : `Thoughts ${first.number} to ${last.number}`;
      return [step.name, name];
    });
  },

  model(run) {
    const groups = new Map();
    for (const call of run.calls) {
      const entry = groups.get(call.model) ?? {
        label: call.model || 'without a name',
        sums: new GroupSums(),
      };
      entry.sums.add(call);
      entry.sums.spanned += call.took ?? 0;
      groups.set(call.model, entry);
    }
    return [...groups.values()];
  },
};

class GroupSums extends Sums {
  constructor() {
    super();
    this.spanned = 0;
  }
}

function groupSteps(steps, name) {
  const groups = new Map();
  for (const step of steps) {
    const [key, label] = name(step);
    const entry = groups.get(key) ?? { label, step, sums: new GroupSums() };
    entry.sums.spanned += step.took;
    entry.sums.addStep(step);
    groups.set(key, entry);
  }
  return [...groups.values()];
}

function select(label, options, onchange) {
  return el(
    'select',
    { 'aria-label': label, onchange },
    options.map(([value, text]) => el('option', { value }, text)),
  );
}
