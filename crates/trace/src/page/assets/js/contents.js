// The lists of thoughts, steps, branches, calls, tool calls and notable events.

const ROW_HEIGHT = 54;

class Contents {
  constructor({ run, onselect }) {
    this.run = run;
    this.entries = LISTS.map((kind) => this.entry(kind, onselect));
    this.tabs = new Tabs({
      label: 'Lists',
      tabs: this.entries.map((entry) => entry.tab),
    });
    this.element = el(
      'nav',
      { class: 'browser', 'aria-label': 'Contents of the run' },
      this.tabs.bar,
      this.tabs.panels,
    );
  }

  entry(kind, onselect) {
    const list = new VirtualList({
      label: kind.label,
      rowHeight: ROW_HEIGHT,
      row: kind.row,
      onselect: (item) => onselect({ kind: kind.kind, index: item.index }),
    });
    const tab = {
      id: kind.kind,
      label: kind.label,
      count: 0,
      panel: el('div', {}, list.element),
      onshow: () => list.refresh(),
    };
    return { ...kind, list, tab };
  }

  /** Renders the lists. Those that are empty have no tab. */
  update() {
    for (const entry of this.entries) {
      const items = entry.items(this.run);
      entry.positions = new Map(items.map((item, position) => [item.index, position]));
      entry.list.set(items);
      this.tabs.setCount(entry.kind, items.length, entry.isAlways);
    }
    if (this.current.tab.button.hidden) this.tabs.show(this.visible[0].kind);
  }

  get visible() {
    return this.entries.filter((entry) => !entry.tab.button.hidden);
  }

  get current() {
    return this.entries.find((entry) => entry.kind === this.tabs.current);
  }

  /** Marks the row of an entry, and shows its list. */
  mark({ kind, index }) {
    const entry = this.entries.find((candidate) => candidate.kind === kind);
    const position = entry?.positions?.get(index);
    if (position === undefined) return;
    if (this.tabs.current !== kind) this.tabs.show(kind);
    entry.list.mark(position);
  }

  /** Shows a list, by its position among those that aren't empty. */
  show(position) {
    const entry = this.visible[position];
    if (!entry) return;
    this.tabs.show(entry.kind);
    entry.list.element.focus();
  }

  move(by) {
    const { list } = this.current;
    list.select(list.selected + by);
  }
}
