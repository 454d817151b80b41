// Search over everything in the page.

const MOST_RESULTS = 200;

/** Yields what can be found: a selection, where it is, and its texts. */
function* searchable(run) {
  for (const thought of run.thoughts) {
    const plan = flattenPlan(thought.plan).flatMap(({ step }) => [
      step.description,
      step.result,
      step.mark,
    ]);
    const texts = [
      thought.text,
      thought.stage,
      ...Object.values(thought.parameters ?? {}).map(textOf),
      ...plan,
    ];
    yield {
      kind: 'thought',
      index: thought.index,
      where: `Thought ${thought.number}`,
      texts,
    };
  }
  for (const step of run.steps) {
    const texts = [
      step.name,
      unescapeName(step.name),
      step.error,
      ...step.notes,
      ...step.attempts.map((attempt) => attempt.error),
      ...step.reports.map(textOf),
    ];
    yield { kind: 'step', index: step.index, where: `Step ${step.index + 1}`, texts };
  }
  for (const call of run.calls) {
    const texts = [
      call.reply,
      call.error,
      call.thinking,
      call.problem,
      call.model,
      call.name,
      call.id,
      ...call.toolCalls.map(textOf),
      ...call.embedded,
      ...call.repairs.map((repair) => repair.what),
    ];
    yield { kind: 'call', index: call.index, where: `Call ${call.number}`, texts };
  }
  for (const message of run.messages.values()) {
    if (message.call === undefined) continue;
    yield {
      kind: 'call',
      index: message.call,
      where: 'Message',
      texts: [textOf(message.content), ...asList(message.tool_calls).map(textOf)],
    };
  }
  for (const call of callsWithNewTools(run)) {
    const texts = run.toolLists.get(call.settings.tools).map(textOf);
    yield { kind: 'call', index: call.index, where: 'Offered tools', texts };
  }
  for (const tool of run.tools) {
    yield {
      kind: 'tool',
      index: tool.index,
      where: 'Tool call',
      texts: [tool.name, tool.input, tool.output],
    };
  }
  for (const branch of run.branches.values()) {
    yield { kind: 'branch', index: branch.index, where: 'Branch', texts: [branch.name] };
  }
  for (const problem of run.problems) {
    yield {
      kind: 'problem',
      index: problem.index,
      where: PROBLEMS[problem.kind]?.text ?? problem.kind,
      texts: [problem.text],
    };
  }
}

/** Returns the first call with each list of tools. */
function callsWithNewTools(run) {
  const first = new Map();
  for (const call of run.calls) {
    const id = call.settings.tools;
    if (run.toolLists.has(id) && !first.has(id)) first.set(id, call);
  }
  return [...first.values()];
}

function searchRun(run, query) {
  const wanted = query.trim().toLowerCase();
  const results = [];
  if (wanted === '') return { results, isCut: false };

  for (const entry of searchable(run)) {
    for (const value of entry.texts) {
      const text = asText(value);
      if (!text) continue;
      const at = text.toLowerCase().indexOf(wanted);
      if (at < 0) continue;
      if (results.length === MOST_RESULTS) return { results, isCut: true };
      results.push({ ...entry, text, at, length: wanted.length });
      break;
    }
  }
  return { results, isCut: false };
}

function excerpt({ text, at, length }) {
  const start = Math.max(0, at - 40);
  const squeezed = (part) => part.replace(/\s+/g, ' ');
  return el(
    'bdi',
    { class: 'excerpt' },
    start > 0 ? '…' : '',
    squeezed(text.slice(start, at)),
    el('mark', {}, squeezed(text.slice(at, at + length))),
    squeezed(text.slice(at + length, at + length + 80)),
  );
}

class Search {
  constructor(app) {
    this.app = app;
    this.input = el('input', {
      type: 'search',
      id: 'search',
      placeholder: 'Search',
      autocomplete: 'off',
      spellcheck: 'false',
      role: 'combobox',
      'aria-label': 'Search the run',
      'aria-expanded': 'false',
      'aria-controls': 'search-results',
      oninput: () => this.later(),
      onkeydown: (event) => this.key(event),
      onfocus: () => this.later(),
    });
    this.list = new VirtualList({
      label: 'Search results',
      rowHeight: 52,
      row: (result) => [
        el('span', { class: 'row-lead where' }, result.where),
        excerpt(result),
      ],
      onselect: () => {},
    });
    this.list.element.tabIndex = -1;
    this.list.element.id = 'search-results';
    this.list.space.addEventListener('click', () => this.open());
    this.status = el('p', {
      class: 'search-status',
      role: 'status',
      'aria-live': 'polite',
    });
    this.popup = el(
      'div',
      { class: 'search-popup', hidden: true },
      this.status,
      this.list.element,
    );
    this.element = el(
      'div',
      { class: 'search', role: 'search', 'aria-label': 'Search' },
      this.input,
      this.popup,
    );
    document.addEventListener('pointerdown', (event) => {
      if (!this.element.contains(event.target)) this.close();
    });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(), 120);
  }

  find() {
    const query = this.input.value;
    if (query.trim() === '') return this.close();

    const { results, isCut } = searchRun(this.app.run, query);
    this.popup.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
    replace(
      this.status,
      isCut
        ? `The first ${count(results.length)} results`
        : plural(results.length, 'result'),
    );
    this.list.element.style.height = `${Math.min(results.length * 52, 416)}px`;
    this.list.selected = -1;
    this.list.set(results);
    this.list.mark(results.length > 0 ? 0 : -1);
    this.pointAt();
  }

  pointAt() {
    const active = this.list.element.getAttribute('aria-activedescendant');
    if (active) this.input.setAttribute('aria-activedescendant', active);
    else this.input.removeAttribute('aria-activedescendant');
  }

  key(event) {
    event.stopPropagation();
    if (event.key === 'Escape') {
      if (this.popup.hidden) this.input.blur();
      this.close();
    } else if (event.key === 'Enter') {
      clearTimeout(this.timer);
      if (this.popup.hidden) this.find();
      else this.open();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const to = this.list.selected + (event.key === 'ArrowDown' ? 1 : -1);
      event.preventDefault();
      if (to >= 0 && to < this.list.items.length) this.list.mark(to);
      this.pointAt();
    }
  }

  open() {
    const result = this.list.items[this.list.selected];
    if (!result) return;
    this.close();
    this.app.select({ kind: result.kind, index: result.index }, { focus: true });
  }

  close() {
    this.popup.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }
}
