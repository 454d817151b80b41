// Tabs: a row of buttons, of which the arrows move to the next one, and a panel for each.

class Tabs {
  /** Each tab is `{ id, label, panel, onshow }`. */
  constructor({ label, tabs, onchange }) {
    this.tabs = tabs;
    this.onchange = onchange;
    this.bar = el('div', { class: 'tabs', role: 'tablist', 'aria-label': label });
    this.panels = el('div', { class: 'tab-panels' });

    for (const tab of tabs) {
      tab.button = el(
        'button',
        {
          type: 'button',
          role: 'tab',
          id: `tab-${tab.id}`,
          'aria-controls': `panel-${tab.id}`,
          onclick: () => this.show(tab.id),
        },
        tab.label,
        tab.count === undefined
          ? undefined
          : el('span', { class: 'count' }, count(tab.count)),
      );
      fill(
        tab.panel,
        { role: 'tabpanel', id: `panel-${tab.id}`, 'aria-labelledby': `tab-${tab.id}` },
        [],
      );
      this.bar.append(tab.button);
      this.panels.append(tab.panel);
    }
    this.bar.addEventListener('keydown', (event) => this.key(event));
    if (tabs.length > 0) this.show(tabs[0].id);
  }

  show(id) {
    if (!this.tabs.some((tab) => tab.id === id)) return;
    this.current = id;
    for (const tab of this.tabs) {
      const isShown = tab.id === id;
      tab.button.setAttribute('aria-selected', String(isShown));
      tab.button.tabIndex = isShown ? 0 : -1;
      tab.panel.hidden = !isShown;
      if (isShown) tab.onshow?.();
    }
    this.onchange?.(id);
  }

  /** Sets the number next to a label. A tab without entries is hidden, unless it is always shown. */
  setCount(id, number, isAlways) {
    const { button } = this.tabs.find((tab) => tab.id === id);
    button.hidden = number === 0 && !isAlways;
    button.querySelector('.count').textContent = count(number);
  }

  key(event) {
    const shown = this.tabs.filter((tab) => !tab.button.hidden);
    const at = shown.findIndex((tab) => tab.id === this.current);
    const last = shown.length - 1;
    const to = {
      ArrowRight: at === last ? 0 : at + 1,
      ArrowLeft: at === 0 ? last : at - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;

    event.preventDefault();
    event.stopPropagation();
    this.show(shown[to].id);
    shown[to].button.focus();
  }
}
