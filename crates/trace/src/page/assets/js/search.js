// Search over everything in the page.

const MOST_RESULTS = 50;

/** Yields what can be found: a selection, where it is, and its texts. */
function* searchable(run) {
  for (const thought of run.thoughts) {
    const plan = flattenPlan(thought.plan).map(({ step }) => step);
    yield [`Thought ${thought.number}`, 'thought', thought, [
      thought.text,
      thought.stage,
      Object.values(thought.parameters ?? {}),
      plan.map((step) => [step.description, step.result, step.mark]),
    ]];
  }
  for (const step of run.steps) {
    yield [`Step ${step.index + 1}`, 'step', step, [
      unescapeName(step.name),
      step.output,
      step.error,
      step.notes,
      step.items.map((item) => [item.text, item.outcome]),
      step.attempts.map((attempt) => attempt.error),
      step.reports,
    ]];
  }
  for (const call of run.calls) {
    yield [`Call ${call.number}`, 'call', call, [
      call.reply,
      call.error,
      call.thinking,
      call.problem,
      call.model,
      call.name,
      call.id,
      call.toolCalls,
      call.repairs.map((repair) => repair.what),
      run.toolLists.get(call.settings.tools),
    ]];
  }
  for (const message of run.messages.values()) {
    const call = run.calls[message.call];
    if (call) yield ['Message', 'call', call, [message.content, message.tool_calls]];
  }
  for (const tool of run.tools) {
    yield ['Tool call', 'tool', tool, [tool.name, tool.input, tool.output]];
  }
  for (const branch of run.branches.values()) {
    yield ['Branch', 'branch', branch, [branch.name]];
  }
  for (const problem of run.problems) {
    yield [PROBLEMS[problem.kind]?.text ?? problem.kind, 'problem', problem, [problem.text]];
  }
}

/** Returns the first text of each entry that contains what is wanted. */
function searchRun(run, wanted) {
  const results = [];
  for (const [where, kind, { index }, values] of searchable(run)) {
    const texts = values.flat(2).filter((value) => value !== undefined).map(textOf);
    const text = texts.find((candidate) => candidate.toLowerCase().includes(wanted));
    if (text === undefined) continue;

    const at = text.toLowerCase().indexOf(wanted);
    results.push({ where, selection: { kind, index }, text, at, length: wanted.length });
    if (results.length === MOST_RESULTS) break;
  }
  return results;
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
      'aria-label': 'Search the run',
      oninput: () => this.later(),
      onfocus: () => this.later(),
    });
    this.status = el('p', { class: 'search-status', role: 'status' });
    this.results = el('ol', { class: 'search-results', role: 'list' });
    this.popup = el('div', { class: 'search-popup', hidden: true }, this.status, this.results);
    this.element = el(
      'div',
      { class: 'search', role: 'search', 'aria-label': 'Search', onkeydown: (event) => this.key(event) },
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
    clearTimeout(this.timer);
    const wanted = this.input.value.trim().toLowerCase();
    if (wanted === '') return this.close();

    const found = searchRun(this.app.run, wanted);
    const isCut = found.length === MOST_RESULTS;
    this.popup.hidden = false;
    replace(this.status, isCut ? `The first ${found.length} results` : plural(found.length, 'result'));
    replace(this.results, found.map((result) => el('li', {}, this.result(result))));
  }

  result(result) {
    return el(
      'button',
      { type: 'button', onclick: () => this.open(result) },
      el('span', { class: 'row-lead where' }, result.where),
      excerpt(result),
    );
  }

  /** The arrows move between the field and the results. Enter in the field opens the first one. */
  key(event) {
    event.stopPropagation();
    const stops = [this.input, ...this.results.querySelectorAll('button')];
    const at = stops.indexOf(document.activeElement);
    if (event.key === 'Escape') {
      if (this.popup.hidden) this.input.blur();
      this.close();
    } else if (event.key === 'Enter' && at === 0) {
      this.find();
      this.results.querySelector('button')?.click();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      stops[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
    }
  }

  open({ selection }) {
    this.close();
    this.app.select(selection, { focus: true });
  }

  close() {
    clearTimeout(this.timer);
    this.popup.hidden = true;
  }
}
