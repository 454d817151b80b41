// A dialog that forks a run.

/** Returns the number of the outermost step in the name of a step. */
function outermostStep(name) {
  return /#(\d+)/.exec(name ?? '')?.[1];
}

class ForkDialog {
  constructor(runId) {
    this.runId = runId;
    this.step = el('input', { id: 'fork-at', type: 'number', min: 1, required: true });
    this.problem = el('div', {});
    this.send = el('button', { type: 'submit', class: 'plain-button primary' }, 'Fork');
    this.dialog = el('dialog', { class: 'help fork', 'aria-label': 'Fork this run' }, this.form());
    document.body.append(this.dialog);
  }

  form() {
    const about =
      'The steps before this one come from the journal, without a call. It and the later ones are executed ' +
      'anew, by the flow as it is now. To edit an outcome or the state, use the command cogwork fork.';
    const form = el(
      'form',
      {},
      el('h2', {}, 'Fork this run'),
      el('p', { class: 'muted' }, about),
      namedField('Step', this.step),
      this.problem,
      dialogButtons(this.send, () => this.dialog.close()),
    );
    form.addEventListener('submit', (event) => this.submit(event));
    return form;
  }

  /** Opens the dialog at the step with this number. */
  open(at) {
    this.step.value = at ?? '1';
    replace(this.problem);
    this.dialog.showModal();
  }

  async submit(event) {
    event.preventDefault();
    this.send.disabled = true;
    try {
      const body = { id: this.runId, at: Number(this.step.value) };
      const { run } = await call('/api/run/forks', undefined, body);
      location.assign(addressOf({ run }));
    } catch (error) {
      replace(this.problem, errorNote(error.message));
    }
    this.send.disabled = false;
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

    const fork = plainButton(`Fork at step ${at}`, () => this.onfork(at), 'fork-here');
    return [details, el('p', { class: 'fork-place' }, fork)];
  }
}
