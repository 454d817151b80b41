// The page as a whole: the model, the views, and what is selected.

class App {
  constructor(root, header) {
    this.run = new Run(header);
    this.root = root;
    this.selection = undefined;
    this.search = new Search(this);
    this.help = helpDialog();
    this.player = new Player({ run: this.run, onmove: (index) => this.moveTo(index) });
    this.timeline = new Timeline({ run: this.run, onselect: (step) => this.selectStep(step) });
    this.costs = new Costs({ run: this.run, onselect: (step) => this.selectStep(step) });
    this.detail = el('article', { class: 'detail', id: 'detail', 'aria-label': 'Details' });
  }

  /** Applies an event. The views follow with `update`, or with the next frame after `changed`. */
  apply(event) {
    this.run.apply(event);
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
    this.figures = el('div', { class: 'figures' });
    this.browser = el('nav', { class: 'browser', 'aria-label': 'Contents of the run' });
    replace(
      this.root,
      this.bar(),
      el('main', { id: 'main' }, this.summary, this.figures, el('div', { class: 'columns' }, this.browser, this.detail)),
      this.help,
    );
    this.buildFigures();
    this.buildLists();
    installKeys(this);
  }

  bar() {
    const { run } = this;
    return el(
      'header',
      { class: 'bar' },
      el('h1', {}, el('bdi', {}, run.flow || 'run'), el('span', { class: 'run-id' }, el('bdi', {}, run.id))),
      this.statusPlace,
      el('span', { class: 'started' }, run.header.started ? date(run.header.started) : ''),
      this.search.element,
      button('Light or dark', 'theme', () => this.toggleTheme()),
      button('Keys', 'help', () => this.help.showModal()),
    );
  }

  buildFigures() {
    const { run } = this;
    this.graphs = [];
    const left = [];
    if (run.header.graph) left.push(this.graphTab('flow', 'Flow', run.header.graph, pathUntil));
    for (const [index, table] of run.tables.entries()) {
      const name = oneLine(String(table.strategy ?? 'strategy'), 30);
      left.push(this.graphTab(`table-${index}`, `Stages of ${name}`, tableGraph(table), stageWalk));
    }
    const right = [
      { id: 'timeline', label: 'Timeline', panel: el('div', {}, this.timeline.element), onshow: () => this.timeline.draw() },
      { id: 'costs', label: 'Tokens, cost and time', panel: el('div', {}, this.costs.element), onshow: () => this.costs.list.refresh() },
    ];
    const drawings = new Tabs({ label: 'Drawings', tabs: left });
    const charts = new Tabs({ label: 'Charts', tabs: right });
    replace(
      this.figures,
      left.length > 0 && el('section', { class: 'figure graph-figure', 'aria-label': 'Path of the run' }, drawings.bar, drawings.panels),
      el('section', { class: 'figure chart-figure', 'aria-label': 'Time and cost' }, charts.bar, charts.panels),
      this.player.element,
    );
    this.figures.style.setProperty('--figure-height', `${this.figureHeight()}px`);
  }

  /** Returns a height for the drawings that neither wastes nor takes too much room. */
  figureHeight() {
    const drawing = Math.max(0, ...this.graphs.map(({ view }) => view.height + 20));
    const lanes = lanesOf(this.run).rows.length * LANE_HEIGHT + 110;
    return Math.min(320, Math.max(200, drawing, lanes));
  }

  graphTab(id, label, graph, walk) {
    const taken = new Set(this.run.steps.map((step) => `${step.place} ${step.action}`));
    const view = new GraphView({ graph, taken, label: `${label}, drawn as a graph`, onselect: (place) => this.selectPlace(place) });
    this.graphs.push({ view, walk });
    return { id, label, panel: el('div', {}, view.element) };
  }

  buildLists() {
    const kinds = LISTS.map((kind) => ({ ...kind, all: kind.items(this.run) })).filter((kind) => kind.isAlways || kind.all.length > 0);
    this.lists = kinds.map((kind) => {
      const list = new VirtualList({
        label: kind.label,
        rowHeight: 54,
        row: kind.row,
        onselect: (item) => this.select({ kind: kind.kind, index: item.index }),
      });
      return { ...kind, list };
    });
    const tabs = this.lists.map(({ kind, label, list, all }) => ({
      id: kind, label, count: all.length, panel: el('div', {}, list.element), onshow: () => list.refresh(),
    }));
    this.listTabs = new Tabs({ label: 'Lists', tabs });
    replace(this.browser, this.listTabs.bar, this.listTabs.panels);
  }

  /** Renders everything from the model. */
  update() {
    const { run } = this;
    replace(this.statusPlace, statusTag(run));
    replace(this.summary, summaryView(run));
    this.player.update();
    this.timeline.update();
    this.costs.update();
    for (const entry of this.lists) {
      entry.all = entry.items(run);
      entry.positions = new Map(entry.all.map((item, position) => [item.index, position]));
      entry.list.set(entry.all);
    }
    if (!this.selection) this.selectFirst();
  }

  selectFirst() {
    const last = this.run.steps.length - 1;
    this.moveTo(last, { isOnlyShown: true });
    this.player.show(Math.max(0, last));

    const fromHash = /^#(\w+)-(\d+)$/.exec(location.hash);
    const wanted = fromHash ? { kind: fromHash[1], index: Number(fromHash[2]) - 1 } : undefined;
    if (wanted && this.itemOf(wanted)) {
      this.select(wanted, { isFirst: true });
      return;
    }
    const thought = this.run.thoughts.at(-1);
    if (thought) this.select({ kind: 'thought', index: thought.index }, { isFirst: true });
    else if (last >= 0) this.select({ kind: 'step', index: last }, { isFirst: true });
  }

  itemOf({ kind, index }) {
    const { run } = this;
    const all = { thought: run.thoughts, step: run.steps, call: run.calls, tool: run.tools, problem: run.problems, branch: [...run.branches.values()] }[kind];
    return all?.[index];
  }

  /** Selects an entry: shows its details, its row and its step. */
  select(selection, { focus = false, isFromPlayer = false, isFirst = false } = {}) {
    const item = this.itemOf(selection);
    if (!item) return;
    this.selection = selection;
    replace(this.detail, DETAILS[selection.kind](this, item));
    this.showRow(selection);
    rememberInAddress(selection);

    const step = this.stepOf(selection, item);
    if (step && !isFromPlayer) {
      this.player.stop();
      this.player.show(step.index);
      this.moveTo(step.index, { isOnlyShown: true });
    }
    if (focus) this.detail.querySelector('.detail-title')?.focus();
    if (!isFromPlayer && !isFirst && isNarrow()) this.detail.scrollIntoView({ block: 'start' });
  }

  stepOf({ kind }, item) {
    if (kind === 'step') return item;
    if (kind === 'branch') return this.run.thoughts.findLast((thought) => thought.branch === item.id)?.step;
    return item.step;
  }

  showRow({ kind, index }) {
    for (const entry of this.lists) {
      const position = entry.kind === kind ? entry.positions?.get(index) : undefined;
      if (position === undefined) continue;
      if (this.listTabs.current !== kind) this.listTabs.show(kind);
      entry.list.mark(position);
    }
  }

  selectStep(step) {
    const isInThoughts = this.listTabs.current === 'thought' && step.thoughts.length > 0;
    if (isInThoughts) this.select({ kind: 'thought', index: step.thoughts[0].index });
    else this.select({ kind: 'step', index: step.index });
  }

  /** Selects the next step at a place of the graph, after the current one. */
  selectPlace(place) {
    const steps = this.run.steps.filter((step) => step.place === place || step.place.startsWith(`${place}/`));
    const stages = this.run.stages.filter((stage) => escapeName(String(stage.stage)) === place).map((stage) => stage.step);
    const all = steps.length > 0 ? steps : stages.filter(Boolean);
    const next = all.find((step) => step.index > this.player.at) ?? all[0];
    if (next) this.selectStep(next);
  }

  /** Shows a moment of the run in the drawings. */
  moveTo(index, { isOnlyShown = false } = {}) {
    for (const { view, walk } of this.graphs) view.show(walk(this.run, index));
    this.timeline.show(index);
    if (isOnlyShown) return;

    const step = this.run.steps[index];
    if (!step) return;
    const isInThoughts = this.listTabs.current === 'thought';
    if (isInThoughts && step.thoughts.length > 0) this.select({ kind: 'thought', index: step.thoughts[0].index }, { isFromPlayer: true });
    else if (!isInThoughts) this.select({ kind: 'step', index }, { isFromPlayer: true });
  }

  showList(position) {
    const entry = this.lists[position];
    if (!entry) return;
    this.listTabs.show(entry.kind);
    entry.list.element.focus();
  }

  moveInList(by) {
    const entry = this.lists.find((candidate) => candidate.kind === this.listTabs.current);
    entry?.list.select(entry.list.selected + by);
  }

  toggleTheme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
  }
}

function isNarrow() {
  return matchMedia('(max-width: 860px)').matches;
}

/** Puts the selection into the address, so that a link leads to it. */
function rememberInAddress({ kind, index }) {
  try {
    history.replaceState(null, '', `#${kind}-${index + 1}`);
  } catch {
    // Some browsers don't allow this for files.
  }
}

async function start() {
  const root = document.getElementById('app');
  try {
    const { header, events } = await readRecord(document.getElementById('record').textContent);
    const app = new App(root, header);
    for (const event of events) app.apply(event);
    app.build();
    app.update();
    document.documentElement.dataset.ready = 'true';
  } catch (error) {
    replace(root, el('p', { class: 'note bad' }, `The record could not be shown: ${error.message}`));
    document.documentElement.dataset.ready = 'failed';
    throw error;
  }
}

start();
