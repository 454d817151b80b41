// Calls, tokens, time and cost of each node.

class Costs {
  constructor({ run, onselect }) {
    this.run = run;
    this.onselect = onselect;
    this.rows = el('tbody', {});
    const heads = ['Node', 'Visits', 'Time', 'Calls', 'Read', 'Written', 'Cost'];
    this.element = el(
      'div',
      { class: 'costs', tabindex: '0', role: 'group', 'aria-label': 'Costs by node' },
      el(
        'table',
        {},
        el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, head)))),
        this.rows,
      ),
    );
  }

  update() {
    const places = new Map();
    for (const step of this.run.steps) {
      const place = places.get(step.place) ?? { step, visits: 0, time: 0, sums: new Sums() };
      place.visits += 1;
      place.time += step.took;
      place.sums.addStep(step);
      places.set(step.place, place);
    }

    const sorted = [...places.values()].sort((a, b) => b.time - a.time);
    replace(this.rows, sorted.slice(0, MOST_LANES).map((place) => this.row(place)));
  }

  row({ step, visits, time, sums }) {
    const name = el(
      'button',
      { type: 'button', class: 'link', onclick: () => this.onselect(step) },
      el('bdi', {}, oneLine(unescapeName(step.place), 60)),
    );
    const figures = [
      count(visits),
      duration(time),
      count(sums.calls),
      count(sums.input),
      count(sums.output),
      money(sums.cost),
    ];
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, name),
      figures.map((figure) => el('td', {}, figure)),
    );
  }
}
