// The drawings: the graph of the flow and tables of stages, the timeline, and the bars of cost.

class Figures {
  constructor({ run, player, onstep, onplace }) {
    this.run = run;
    this.player = player;
    this.onplace = onplace;
    this.timeline = new Timeline({ run, onselect: onstep });
    this.costs = new Costs({ run, onselect: onstep });
    this.graphs = [];
    // What is folded in each graph, also after it is drawn again.
    this.folds = new Map();
    this.element = el('div', { class: 'figures' });
    this.charts = this.chartTabs();
  }

  /** Renders the charts, and the graphs again if there are new ones. */
  update() {
    const { length } = this.run.tables;
    if (length !== this.drawn) this.draw();
    this.drawn = length;

    this.timeline.update();
    this.costs.update();
    this.element.style.setProperty('--figure-height', `${this.height()}px`);
  }

  /** Shows a moment of the run. */
  show(index) {
    for (const { view, walk } of this.graphs) view.show(walk(this.run, index));
    this.timeline.show(index);
  }

  draw() {
    this.graphs = [];
    const tabs = this.graphTabs();
    const drawings = new Tabs({ label: 'Drawings', tabs });
    replace(
      this.element,
      tabs.length > 0 && figure('graph-figure', 'Path of the run', drawings),
      figure('chart-figure', 'Time and cost', this.charts),
      this.player.element,
    );
  }

  graphTabs() {
    const { header, tables } = this.run;
    const tabs = [];
    if (header.graph) {
      tabs.push(this.graphTab('flow', 'Flow', header.graph, pathUntil));
    }
    for (const [index, table] of tables.entries()) {
      const label = `Stages of ${oneLine(table.strategy, 30)}`;
      tabs.push(this.graphTab(`table-${index}`, label, tableGraph(table), stageWalk));
    }
    return tabs;
  }

  graphTab(id, label, graph, walk) {
    if (!this.folds.has(id)) this.folds.set(id, new Map());
    const view = new GraphView({
      graph,
      folds: this.folds.get(id),
      label: `${label}, drawn as a graph`,
      onselect: this.onplace,
    });
    this.graphs.push({ view, walk });
    return { id, label, panel: el('div', {}, view.element) };
  }

  chartTabs() {
    const timeline = {
      id: 'timeline',
      label: 'Timeline',
      panel: el('div', {}, this.timeline.element),
      onshow: () => this.timeline.draw(),
    };
    const costs = { id: 'costs', label: 'Costs', panel: el('div', {}, this.costs.element) };
    return new Tabs({ label: 'Charts', tabs: [timeline, costs] });
  }

  /** Returns a height for the drawings that neither wastes nor takes too much room. */
  height() {
    const drawing = Math.max(0, ...this.graphs.map(({ view }) => view.height + 56));
    const lanes = lanesOf(this.run).rows.length * LANE_HEIGHT + 110;
    return Math.min(340, Math.max(200, drawing, lanes));
  }
}

function figure(className, label, tabs) {
  const attributes = { class: `figure ${className}`, 'aria-label': label };
  return el('section', attributes, tabs.bar, tabs.panels);
}
