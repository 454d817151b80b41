// The page as a whole: the model, the views, and what is selected.

class App {
  /** A server may add to the bar (`lead`, and `actions` with the status) and below it (`top`). */
  constructor(root, header, { lead, actions, top } = {}) {
    this.run = new Run(header);
    this.root = root;
    Object.assign(this, { lead, actions, top });
    this.selection = undefined;
    this.search = new Search(this);
    this.help = helpDialog();
    this.player = new Player({ run: this.run, onmove: (index) => this.moveTo(index) });
    this.figures = new Figures({
      run: this.run,
      player: this.player,
      onstep: (step) => this.selectStep(step),
      onplace: (place) => this.selectPlace(place),
    });
    this.contents = new Contents({
      run: this.run,
      onselect: (selection) => this.select(selection),
    });
    this.detail = el('article', {
      class: 'detail',
      id: 'detail',
      tabindex: '-1',
      'aria-label': 'Details',
    });
    // What somebody reads isn't replaced.
    this.detail.addEventListener('focusin', () => {
      this.isFollowing = false;
    });
  }

  /**
   * Applies an event. The views follow with `update`, or with the next frame after `changed`. An event
   * that the model cannot read, because a record was edited, is noted.
   */
  apply(event) {
    try {
      this.run.apply(event);
    } catch (error) {
      this.run.addProblem(
        'left_out',
        undefined,
        `an event cannot be shown: ${error.message}`,
      );
    }
  }

  changed() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.update();
    });
  }

  /** Builds the page. */
  build() {
    const { run } = this;
    document.title = visibleString(`${run.flow} · ${run.id}`);
    this.statusPlace = el('span', { class: 'status-place' });
    this.summary = el('section', { class: 'summary', 'aria-label': 'Summary' });
    replace(
      this.root,
      this.bar(),
      this.top,
      el(
        'main',
        { id: 'main' },
        this.summary,
        this.figures.element,
        el('div', { class: 'columns' }, this.contents.element, this.detail),
      ),
      this.help,
    );
    installKeys(this);
  }

  bar() {
    const { run } = this;
    return el(
      'header',
      { class: 'bar' },
      this.lead,
      el(
        'h1',
        {},
        el('bdi', {}, run.flow || 'run'),
        el('span', { class: 'run-id' }, el('bdi', {}, run.id)),
      ),
      this.actions ?? this.statusPlace,
      el(
        'span',
        { class: 'started' },
        run.header.started ? date(run.header.started) : '',
      ),
      this.search.element,
      button('Light or dark', 'theme', toggleTheme),
      button('Keys', 'help', () => this.help.showModal()),
    );
  }

  /** Renders everything from the model. */
  update() {
    const { run } = this;
    replace(this.statusPlace, statusTag(run));
    replace(this.summary, summaryView(run));
    this.player.update();
    this.figures.update();
    this.contents.update();
    if (!this.selection) this.selectFirst();
    else if (this.isFollowing) this.selectLast();
    else this.figures.show(this.player.at);
  }

  selectFirst() {
    this.selectLast();

    const fromHash = /^#(\w+)-(\d+)$/.exec(location.hash);
    const wanted = fromHash
      ? { kind: fromHash[1], index: Number(fromHash[2]) - 1 }
      : undefined;
    if (wanted) this.select(wanted, { isFirst: true });
  }

  /**
   * Selects where the run is: the failure, the wait, or the newest thought or step. It follows the later
   * ones until something else is selected.
   */
  selectLast() {
    const { run } = this;
    const last = run.steps.length - 1;
    this.moveTo(last, { isOnlyShown: true });
    this.player.show(Math.max(0, last));

    const stopped = run.status.step;
    const thought = run.thoughts.at(-1);
    const isInThoughts = thought && !run.steps.slice(thought.step.index + 1).some(hasContent);
    if (stopped) this.select({ kind: 'step', index: stopped.index }, { isFirst: true });
    else if (isInThoughts)
      this.select({ kind: 'thought', index: thought.index }, { isFirst: true });
    else if (last >= 0) this.select({ kind: 'step', index: last }, { isFirst: true });
    this.isFollowing = true;
  }

  itemOf({ kind, index }) {
    const { run } = this;
    const all = {
      thought: run.thoughts,
      step: run.steps,
      call: run.calls,
      tool: run.tools,
      problem: run.problems,
      branch: [...run.branches.values()],
    }[kind];
    return all?.[index];
  }

  /** Selects an entry: shows its details, its row and its step. */
  select(selection, { focus = false, isFromPlayer = false, isFirst = false } = {}) {
    const item = this.itemOf(selection);
    if (!item) return;
    this.selection = selection;
    this.isFollowing = false;
    replace(this.detail, this.detailsOf(selection.kind, item));
    this.contents.mark(selection);
    if (!isFirst) rememberInAddress(selection);

    const step = this.stepOf(selection, item);
    if (step && !isFromPlayer) {
      this.player.stop();
      this.player.show(step.index);
      this.moveTo(step.index, { isOnlyShown: true });
    }
    if (focus) this.detail.querySelector('.detail-title')?.focus();
    if (!isFromPlayer && !isFirst && isNarrow())
      this.detail.scrollIntoView({ block: 'start' });
  }

  detailsOf(kind, item) {
    try {
      return DETAILS[kind](this, item);
    } catch (error) {
      return el('p', { class: 'note bad' }, `This cannot be shown: ${error.message}`);
    }
  }

  stepOf({ kind }, item) {
    if (kind === 'step') return item;
    if (kind === 'branch')
      return this.run.thoughts.findLast((thought) => thought.branch === item.name)?.step;
    return item.step;
  }

  selectStep(step) {
    const isInThoughts =
      this.contents.tabs.current === 'thought' && step.thoughts.length > 0;
    if (isInThoughts) this.select({ kind: 'thought', index: step.thoughts[0].index });
    else this.select({ kind: 'step', index: step.index });
  }

  /** Selects the next step at a place of the graph, after the current one. */
  selectPlace(place) {
    const steps = this.run.steps.filter(
      (step) => step.place === place || step.place.startsWith(`${place}/`),
    );
    const stages = this.run.stages
      .filter((stage) => escapeName(stage.stage) === place)
      .map((stage) => stage.step);
    const all = steps.length > 0 ? steps : stages.filter(Boolean);
    const next = all.find((step) => step.index > this.player.at) ?? all[0];
    if (next) this.selectStep(next);
  }

  /** Shows a moment of the run in the drawings. */
  moveTo(index, { isOnlyShown = false } = {}) {
    this.figures.show(index);
    if (isOnlyShown) return;

    const step = this.run.steps[index];
    if (!step) return;
    const isInThoughts = this.contents.tabs.current === 'thought';
    if (isInThoughts && step.thoughts.length > 0)
      this.select(
        { kind: 'thought', index: step.thoughts[0].index },
        { isFromPlayer: true },
      );
    else if (!isInThoughts) this.select({ kind: 'step', index }, { isFromPlayer: true });
  }
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
}

/** Returns whether there is something to read about a step. */
function hasContent(step) {
  return step.output !== undefined || step.calls.length > 0 || step.thoughts.length > 0;
}

function isNarrow() {
  return matchMedia('(max-width: 860px)').matches;
}

let addressTimer;

/**
 * Puts the selection into the address, so that a link leads to it. Browsers limit how often this may
 * be done, so it waits until the selection stays.
 */
function rememberInAddress({ kind, index }) {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    try {
      history.replaceState(null, '', `#${kind}-${index + 1}`);
    } catch {
      // Some browsers don't allow this for files.
    }
  }, 300);
}
