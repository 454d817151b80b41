// One run, as it is recorded.

class RunPage {
  constructor(root, runId) {
    this.runId = runId;
    this.root = root;
    this.notes = el('div', { class: 'studio-notes', 'aria-live': 'polite' });
    this.growing = new Growing();
    this.waits = new Waits(runId, () => this.refresh());
    this.actions = el('span', { class: 'studio-actions' });
    this.top = el('div', { class: 'studio-top', id: 'content' }, this.notes, this.waits.element, this.growing.element);
    replace(
      root,
      el('header', { class: 'bar' }, homeLink(), this.actions),
      this.top,
      el('p', { class: 'loading' }, 'Reading the events …'),
    );
    this.follow();
    this.refresh();
    every(2000, () => this.refresh());
  }

  follow() {
    this.live = new LiveRun(this.runId, {
      line: (line) => this.line(line),
      piece: (piece) => this.growing.add(piece),
      current: () => this.ready(),
      refused: ({ error }) => this.fail(`The run cannot be shown: ${error}`),
    });
  }

  line(line) {
    if (!this.app) {
      const parts = { lead: homeLink(), actions: this.actions, top: this.top };
      this.app = new ForkableApp(this.root, line, parts, (at) => this.openFork(at));
      this.app.build();
      return;
    }

    this.app.apply(line);
    if (line.type === 'reported') this.growing.end(line);
    this.app.changed();
  }

  ready() {
    this.app?.update();
    document.documentElement.dataset.ready = 'true';
  }

  fail(message) {
    replace(this.notes, errorNote(message));
  }

  async refresh() {
    try {
      const answer = await call('/api/run', { id: this.runId });
      const { run, is_running: isRunning, can_resume: canResume, can_fork: canFork } = answer;
      this.waits.update(run.waits);
      if (!isRunning) this.growing.clear();
      if (run.status === 'damaged') this.fail(`The run is damaged: ${run.error}`);
      // Nothing follows, and a browser opens only six connections to a server.
      if (run.status === 'ended' && !isRunning && this.app) this.live.close();

      // What is the same stays, with its focus.
      const shown = JSON.stringify([run.status, run.forked_from, isRunning, canResume, canFork]);
      if (shown === this.shown) return;
      this.shown = shown;
      document.body.classList.toggle('can-fork', canFork);
      replace(
        this.actions,
        this.original(run),
        runTag(isRunning ? 'running' : run.status),
        canResume && this.control(run, isRunning),
        canFork && this.forkButton(),
      );
      if (!this.app) document.title = visibleString(this.runId);
    } catch (error) {
      this.shown = undefined;
      replace(this.actions, el('span', { class: 'bad-text', role: 'alert' }, error.message));
    }
  }

  original({ forked_from: origin }) {
    if (!origin) return undefined;
    const address = addressOf({ compare: origin.run, with: this.runId });
    return el('a', { href: address }, `Compare with the original, forked at step ${origin.step}`);
  }

  forkButton() {
    const fork = () => {
      const selection = this.app?.selection;
      const item = selection && this.app.itemOf(selection);
      this.openFork(outermostStep(item?.step?.name ?? item?.name));
    };
    return plainButton('Fork', fork);
  }

  openFork(at) {
    this.fork ??= new ForkDialog(this.runId);
    this.fork.open(at);
  }

  /** Returns the button that cancels a run, or resumes one that stopped. */
  control(run, isRunning) {
    if (run.status === 'ended' || run.status === 'damaged') return undefined;
    const [label, path] = isRunning || run.status === 'paused' ? ['Cancel', '/api/run/cancel'] : ['Resume', '/api/run/resume'];
    const act = async () => {
      await call(path, undefined, { id: this.runId }).catch((error) => this.fail(error.message));
      this.refresh();
    };
    return plainButton(label, act);
  }
}

/** The texts that are being written, until they are on record. */
class Growing {
  constructor() {
    this.texts = new Map();
    this.element = el('section', { class: 'growing', 'aria-label': 'Being written', hidden: true });
  }

  add({ step, text, is_start: isStart }) {
    let entry = this.texts.get(step);
    if (!entry || isStart) {
      entry?.element.remove();
      const content = el('p', { class: 'prose work', dir: 'auto' });
      entry = { content, element: el('div', {}, el('p', { class: 'muted' }, el('bdi', {}, step)), content) };
      this.texts.set(step, entry);
      this.element.append(entry.element);
    }
    append(entry.content, [String(text)]);
    this.element.hidden = false;
  }

  end({ step, report }) {
    if (!['thought', 'chat', 'stage'].includes(report?.type)) return;
    this.texts.get(step)?.element.remove();
    this.texts.delete(step);
    this.element.hidden = this.texts.size === 0;
  }

  /** Removes all texts, since nobody writes any more. */
  clear() {
    this.texts.clear();
    replace(this.element);
    this.element.hidden = true;
  }
}
