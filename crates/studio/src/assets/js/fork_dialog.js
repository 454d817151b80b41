// A dialog that forks a run.

/** Returns the number of the outermost step in the name of a step. */
function outermostStep(name) {
  return /#(\d+)/.exec(name ?? '')?.[1];
}

class ForkDialog {
  constructor(runId) {
    this.runId = runId;
    // What was typed instead of a recorded text, by step and part.
    this.typed = new Map();
    this.parts = {};
    this.step = this.control('at', el('input', { type: 'text', inputmode: 'numeric', autocomplete: 'off' }));
    // Not when the control is left, because the button that is clicked would move.
    this.step.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.load(), 400);
    });
    this.model = this.control('model', el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', placeholder: 'as in the flow' }));
    this.outcome = new EditedJson(this.control('outcome', el('select', {})), 'The outcome, as JSON');
    this.state = new EditedJson(this.control('state', el('select', {})), 'The state, as JSON');
    this.accept = el('input', { type: 'checkbox', id: 'fork-flow' });
    this.parts.flow = { problem: el('div', {}) };
    this.recorded = el('div', { 'aria-live': 'polite' });
    this.problem = el('div', {});
    this.send = el('button', { type: 'submit', class: 'plain-button primary' }, 'Fork');
    this.form = this.build();
    this.form.addEventListener('submit', (event) => this.submit(event));
    this.dialog = el('dialog', { class: 'help fork', 'aria-label': 'Fork this run' }, this.form);
    document.body.append(this.dialog);
  }

  /** Gives a control a name, and a place for its problems. */
  control(part, control) {
    control.id = `fork-${part}`;
    this.parts[part] = { control, problem: el('div', { id: `fork-${part}-problem` }) };
    control.setAttribute('aria-describedby', `fork-${part}-problem`);
    return control;
  }

  build() {
    this.modelField = this.field('model', 'Model');
    this.outcomeField = this.field('outcome', 'Outcome of this step', this.outcome.element);
    this.stateField = this.field('state', 'State before this step', this.state.element);
    this.changes = prose('', { class: 'field-about' });
    this.flowField = el(
      'div',
      { class: 'field', hidden: true },
      this.changes,
      el('label', { for: 'fork-flow' }, this.accept, ' Use the changed flow'),
      this.parts.flow.problem,
    );
    return el(
      'form',
      { novalidate: true },
      el('h2', {}, 'Fork this run'),
      el('p', { class: 'muted' }, 'The steps before this one come from the record, without a call. It and the later ones are executed anew.'),
      this.field('at', 'Step'),
      this.recorded,
      this.modelField,
      this.outcomeField,
      this.stateField,
      this.flowField,
      this.problem,
      el(
        'div',
        { class: 'dialog-buttons' },
        this.send,
        el('button', { type: 'button', class: 'plain-button', onclick: () => this.dialog.close() }, 'Cancel'),
      ),
    );
  }

  field(part, label, more) {
    const { control, problem } = this.parts[part];
    return el('div', { class: 'field' }, el('label', { for: control.id }, label), control, more, problem);
  }

  /** Opens the dialog at the step with this number. What was typed before is still there. */
  open(at) {
    this.step.value = at ?? '1';
    this.dialog.showModal();
    this.load();
  }

  /** Returns the number of the step. */
  at() {
    const text = this.step.value.trim();
    if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
    throw Object.assign(new Error('the step is a whole number, counted from 1'), { part: 'at' });
  }

  /** Shows what is recorded of the step. Returns whether that is possible. */
  async load() {
    const number = (this.number ?? 0) + 1;
    this.number = number;
    clearTimeout(this.typing);
    this.keep();
    this.clear();
    try {
      const choices = await call('/api/run/forks', { id: this.runId, at: this.at() });
      if (number === this.number) this.show(choices);
      return true;
    } catch (error) {
      if (number === this.number) this.fail(error);
      return false;
    }
  }

  show(choices) {
    this.shownAt = choices.at;
    const typed = this.typed.get(choices.at) ?? {};
    const outcomes = choices.outcomes.map(({ step, text }) => ({ name: step, text }));
    this.outcome.show('Execute this step', outcomes, typed.outcome);
    this.state.show('As recorded', choices.state ? [{ name: 'Edited', text: choices.state }] : [], typed.state);
    this.outcomeField.hidden = outcomes.length === 0;
    this.stateField.hidden = !choices.state;
    this.modelField.hidden = !choices.has_models;
    this.flowField.hidden = !choices.flow_changes;
    replace(this.changes, visible(choices.flow_changes ?? ''));
    const notes = [choices.problem, choices.note].filter(Boolean);
    replace(this.recorded, notes.map((note) => el('p', { class: 'field-about' }, el('bdi', {}, note))));
  }

  /** Keeps what was typed for the step that is shown. */
  keep() {
    if (this.shownAt === undefined) return;
    this.typed.set(this.shownAt, { outcome: this.outcome.typed(), state: this.state.typed() });
  }

  clear() {
    replace(this.problem);
    for (const { control, problem } of Object.values(this.parts)) {
      replace(problem);
      control?.removeAttribute('aria-invalid');
    }
  }

  /** Shows an error next to the part at fault. */
  fail(error) {
    const part = this.parts[error.part];
    const isShown = part && !part.problem.closest('[hidden]');
    replace(isShown ? part.problem : this.problem, errorNote(error.message));
    if (!isShown) return;

    part.control?.setAttribute('aria-invalid', 'true');
    const edited = { outcome: this.outcome, state: this.state }[error.part];
    edited?.point(error.message);
  }

  request() {
    const request = { at: this.at(), changed_flow: !this.flowField.hidden && this.accept.checked };
    const model = this.model.value.trim();
    if (model && !this.modelField.hidden) request.model = model;
    const outcome = this.outcome.value();
    if (outcome) request.outcomes = [{ step: outcome.name, text: outcome.text }];
    const state = this.state.value();
    if (state) request.state = state.text;
    return request;
  }

  async submit(event) {
    event.preventDefault();
    this.send.disabled = true;
    this.clear();
    try {
      // What is edited belongs to the step that is shown.
      if (this.at() !== this.shownAt && !(await this.load())) {
        this.send.disabled = false;
        return;
      }
      const { run } = await call('/api/run/forks', undefined, { id: this.runId, fork: this.request() });
      location.assign(addressOf({ run }));
    } catch (error) {
      this.fail(error);
      this.send.disabled = false;
    }
  }
}

/** A choice between keeping a recorded text and editing one. */
class EditedJson {
  constructor(select, label) {
    this.select = select;
    this.text = el('textarea', { rows: 10, class: 'raw', spellcheck: 'false', 'aria-label': label, hidden: true });
    this.texts = new Map();
    this.recorded = [];
    this.chosen = '';
    this.element = this.text;
    select.addEventListener('change', () => this.choose(select.value));
  }

  show(nothing, recorded, typed) {
    this.recorded = recorded;
    this.texts = new Map(typed?.texts ?? []);
    const options = recorded.map(({ name }, index) => el('option', { value: index }, name));
    replace(this.select, el('option', { value: '' }, nothing), options);
    this.chosen = '';
    this.choose(typed?.chosen ?? '');
  }

  choose(index) {
    this.keep();
    this.chosen = index;
    this.select.value = index;
    this.text.hidden = index === '';
    if (index !== '') this.text.value = this.texts.get(index) ?? this.recorded[Number(index)].text;
  }

  keep() {
    if (this.chosen !== '') this.texts.set(this.chosen, this.text.value);
  }

  typed() {
    this.keep();
    return { texts: this.texts, chosen: this.chosen };
  }

  value() {
    if (this.chosen === '') return undefined;
    return { name: this.recorded[Number(this.chosen)].name, text: this.text.value };
  }

  /** Moves the cursor to the place that an error names. */
  point(message) {
    const place = /line (\d+) column (\d+)/.exec(message);
    if (!place || this.text.hidden) return;
    const before = this.text.value.split('\n').slice(0, Number(place[1]) - 1);
    const at = before.reduce((sum, line) => sum + line.length + 1, 0) + Number(place[2]);
    this.text.focus();
    this.text.setSelectionRange(at, at);
  }
}

/** The page of a run, with a button on each thought, step and call to fork the run there. */
class ForkableApp extends App {
  constructor(root, header, parts, onfork) {
    super(root, header, parts);
    this.onfork = onfork;
  }

  detailsOf(kind, item) {
    const details = super.detailsOf(kind, item);
    const at = outermostStep(kind === 'step' ? item.name : item.step?.name);
    if (!at) return details;

    const fork = el('button', { type: 'button', class: 'plain-button fork-here', onclick: () => this.onfork(at) }, `Fork at step ${at}`);
    return [details, el('p', { class: 'fork-place' }, fork)];
  }
}
