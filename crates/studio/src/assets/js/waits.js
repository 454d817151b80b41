// The questions of a run that waits, each with a form.

class Waits {
  constructor(runId, ondelivered) {
    this.runId = runId;
    this.ondelivered = ondelivered;
    /** The forms by their waits. */
    this.shown = new Map();
    this.message = el('div', { 'aria-live': 'polite' });
    this.forms = el('div', {});
    this.element = el('section', { class: 'waits', 'aria-label': 'Questions of the run' }, this.message, this.forms);
  }

  /** Shows the forms. Those that are shown already keep what was typed. */
  update(waits) {
    const before = this.shown;
    this.shown = new Map();
    for (const wait of waits ?? []) {
      const key = JSON.stringify(wait);
      const form = before.get(key) ?? this.form(wait);
      if (!before.delete(key)) this.forms.append(form);
      this.shown.set(key, form);
    }
    for (const form of before.values()) form.remove();
  }

  form(wait) {
    const field = formOf(wait.schema && JSON.parse(wait.schema));
    const problem = el('div', {});
    const send = el('button', { type: 'submit', class: 'plain-button primary' }, 'Send the answer');
    const form = el(
      'form',
      { class: 'wait', novalidate: true },
      el('h2', {}, 'The run waits for ', el('bdi', {}, wait.event)),
      el('p', { class: 'muted' }, el('bdi', {}, wait.step), wait.until ? `, until ${date(wait.until)}` : ''),
      wait.why && question(wait.why, { class: 'wait-why' }),
      field.element,
      problem,
      send,
    );

    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      replace(problem);
      send.disabled = true;
      try {
        await this.deliver(wait, field.read());
      } catch (error) {
        replace(problem, errorNote(error.message));
      }
      send.disabled = false;
    });
    return form;
  }

  async deliver(wait, answer) {
    const body = { id: this.runId, step: wait.step, event: wait.event, answer };
    const { resumed, why_not: whyNot } = await call('/api/run/answers', undefined, body);
    const after = resumed ? 'The run continues.' : `The run isn't resumed here: ${whyNot}.`;
    replace(this.message, el('p', { class: 'note', role: 'status' }, `The answer was delivered. ${after}`));
    this.ondelivered();
  }
}
