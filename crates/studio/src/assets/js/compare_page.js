// Two runs side by side.

class ComparePage {
  constructor(root, one, other) {
    this.root = root;
    this.ids = [one, other];
    document.title = 'Two runs';
    this.content = el('main', { class: 'compare', id: 'content' }, el('p', { class: 'loading' }, 'Reading the records …'));
    replace(root, el('header', { class: 'bar' }, homeLink(), el('h1', {}, 'Two runs'), themeButton()), this.content);
    this.load();
  }

  async load() {
    try {
      this.show(await Promise.all(this.ids.map(readRun)));
    } catch (error) {
      replace(this.content, errorNote(error.message));
    }
    document.documentElement.dataset.ready = 'true';
  }

  show(runs) {
    replace(
      this.content,
      pair('Runs', 'h2', runs.map((run, index) => this.heading(run, index))),
      figuresTable(runs, this.ids),
      pair('Inputs', 'h2', textPair(...runs.map((run) => run.problem))),
      pair('Answers', 'h2', textPair(...runs.map(answerOf))),
      thoughtPairs(runs),
    );
  }

  heading(run, index) {
    const id = this.ids[index];
    const link = el('a', { href: addressOf({ run: id }) }, el('bdi', {}, id));
    return el('div', {}, link, ' ', el('bdi', { class: 'muted' }, run.flow), ' ', statusTag(run));
  }
}

const SIDES = ['First', 'Second'];

/** Returns two contents next to each other, below a title. */
function pair(title, level, [left, right]) {
  return el(
    'section',
    { class: 'pair', 'aria-label': title },
    el(level, {}, title),
    [left, right].map((content, index) => {
      const side = SIDES[index];
      const attributes = { class: 'pair-side', role: 'group', 'aria-label': side, 'data-side': side };
      return el('div', attributes, content);
    }),
  );
}

function textPair(left, right) {
  if (left === undefined && right === undefined) return [muted('none'), muted('none')];
  if (left === undefined) return [muted('none'), prose(right)];
  if (right === undefined) return [prose(left), muted('none')];
  if (left === right) return [[el('span', { class: 'tag good' }, 'the same'), prose(left)], prose(right)];

  const parts = differences(left, right);
  return [sideOf(parts, 'left', left), sideOf(parts, 'right', right)];
}

function muted(text) {
  return el('p', { class: 'muted' }, text);
}

const FIGURES = [
  ['Time', (run) => run.now, duration],
  ['Steps', (run) => run.steps.length, count],
  ['Thoughts', (run) => run.thoughts.length, count],
  ['Calls', (run) => run.totals().calls, count],
  ['Tool calls', (run) => run.tools.length, count],
  ['Tokens', (run) => run.totals().tokens, count],
  ['Cost', (run) => run.totals().cost, money],
];

function figuresTable([left, right], ids) {
  const rows = FIGURES.map(([name, of, format]) => {
    const one = of(left);
    const other = of(right);
    const ratio = one > 0 && other !== undefined ? `${(100 * other / one).toFixed(0)} %` : '–';
    const cells = [format(one), format(other), ratio].map((text) => el('td', {}, text));
    return el('tr', {}, el('th', { scope: 'row' }, name), cells);
  });
  const names = SIDES.map((side, index) => [`${side} `, el('bdi', { class: 'muted' }, oneLine(ids[index], 30))]);
  const heads = [el('td', {}), [...names, 'Second of first'].map((head) => el('th', { scope: 'col' }, head))];
  return el(
    'table',
    { class: 'figures-table' },
    el('caption', { class: 'hidden-text' }, 'What the runs took'),
    el('thead', {}, el('tr', {}, heads)),
    el('tbody', {}, rows),
  );
}

const MOST_PAIRS = 500;

function thoughtPairs([left, right]) {
  const most = Math.min(Math.max(left.thoughts.length, right.thoughts.length), MOST_PAIRS);
  return Array.from({ length: most }, (_, index) => {
    const texts = [left, right].map((run) => run.thoughts[index]?.work);
    return pair(`Thought ${index + 1}`, 'h3', textPair(...texts));
  });
}
