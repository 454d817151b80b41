// A list of any length, of which only the rows in view are elements.

const ROWS_AROUND = 6;
let listCount = 0;

class VirtualList {
  /** `row(item, index)` returns the children of a row. Clicks and keys call `onselect`. */
  constructor({ label, rowHeight, row, onselect, rowLabel }) {
    Object.assign(this, { rowHeight, row, onselect, rowLabel });
    this.id = `list-${(listCount += 1)}`;
    this.items = [];
    this.selected = -1;
    this.shown = new Map();

    this.space = el('div', { class: 'list-space', role: 'presentation' });
    this.element = el(
      'div',
      { class: 'list', role: 'listbox', tabindex: '0', 'aria-label': label },
      this.space,
    );
    this.element.addEventListener('scroll', () => this.render(), { passive: true });
    this.element.addEventListener('keydown', (event) => this.key(event));
    this.space.addEventListener('click', (event) => this.click(event));
    new ResizeObserver(() => this.render()).observe(this.element);
  }

  set(items) {
    this.items = items;
    this.selected = Math.min(this.selected, items.length - 1);
    const height = `${items.length * this.rowHeight}px`;
    this.space.style.height = height;
    this.element.style.setProperty('--content', height);
    this.refresh();
  }

  /** Renders all visible rows again. */
  refresh() {
    for (const node of this.shown.values()) node.remove();
    this.shown.clear();
    this.render();
  }

  render() {
    const height = this.element.clientHeight;
    if (height === 0) return;
    const first = Math.max(
      0,
      Math.floor(this.element.scrollTop / this.rowHeight) - ROWS_AROUND,
    );
    const rows = Math.ceil(height / this.rowHeight) + 2 * ROWS_AROUND;
    const last = Math.min(this.items.length, first + rows);

    for (const [index, node] of this.shown) {
      if (index >= first && index < last) continue;
      node.remove();
      this.shown.delete(index);
    }
    for (let index = first; index < last; index += 1) {
      if (!this.shown.has(index)) this.add(index);
    }
  }

  add(index) {
    const item = this.items[index];
    const node = el(
      'div',
      {
        id: `${this.id}-${index}`,
        class: 'list-row',
        role: 'option',
        'aria-setsize': this.items.length,
        'aria-posinset': index + 1,
        'aria-selected': index === this.selected ? 'true' : 'false',
        'aria-label': this.rowLabel?.(item, index),
        'data-index': index,
      },
      this.row(item, index),
    );
    node.style.height = `${this.rowHeight}px`;
    node.style.transform = `translateY(${index * this.rowHeight}px)`;
    this.shown.set(index, node);
    this.space.append(node);
  }

  /** Marks a row as selected and scrolls it into view, without calling `onselect`. */
  mark(index) {
    this.shown.get(this.selected)?.setAttribute('aria-selected', 'false');
    this.selected = index;
    if (index < 0) {
      this.element.removeAttribute('aria-activedescendant');
      return;
    }

    const top = index * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    if (top + this.rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + this.rowHeight - clientHeight;
    this.render();
    this.shown.get(index)?.setAttribute('aria-selected', 'true');
    this.element.setAttribute('aria-activedescendant', `${this.id}-${index}`);
  }

  select(index) {
    if (index < 0 || index >= this.items.length) return;
    this.mark(index);
    this.onselect(this.items[index], index);
  }

  click(event) {
    const row = event.target.closest('.list-row');
    if (row) this.select(Number(row.dataset.index));
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
    const last = this.items.length - 1;
    const to = {
      ArrowDown: this.selected + 1,
      ArrowUp: this.selected - 1,
      PageDown: this.selected + page,
      PageUp: this.selected - page,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;

    event.preventDefault();
    event.stopPropagation();
    this.select(Math.min(last, Math.max(0, to)));
  }
}
