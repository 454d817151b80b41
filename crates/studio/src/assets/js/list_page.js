// The list of runs.

const FILTERS = [
  ['', 'All'],
  ['open', 'Open'],
  ['paused', 'Waiting'],
  ['failed', 'Failed'],
  ['ended', 'Ended'],
  ['damaged', 'Damaged'],
];

class ListPage {
  constructor(root, flows) {
    this.status = '';
    this.page = 0;
    this.chosen = new Set();
    this.search = el('input', { type: 'search', placeholder: 'Search runs', 'aria-label': 'Search runs', maxlength: 200 });
    this.search.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.show(0), 250);
    });
    this.filters = el('div', { class: 'filters', role: 'group', 'aria-label': 'Status' });
    this.problem = el('div', {});
    this.rows = el('tbody', {});
    this.count = el('span', { class: 'muted', role: 'status' });
    this.pages = el('div', { class: 'pages' });
    this.compare = plainButton('Compare', () => this.openComparison());
    this.compare.disabled = true;
    this.starter = flows.length > 0 ? new Starter(flows) : undefined;

    document.title = 'Runs';
    const main = el('main', { class: 'runs', id: 'content' }, this.problem, this.table(), this.pages);
    replace(root, this.bar(), main, this.starter?.dialog);
    this.show(0);
    every(3000, () => this.load());
  }

  bar() {
    return el(
      'header',
      { class: 'bar studio-head' },
      el('h1', {}, 'Runs'),
      this.count,
      this.filters,
      this.search,
      this.compare,
      this.starter && plainButton('Start a flow', () => this.starter.dialog.showModal(), 'primary'),
      themeButton(),
    );
  }

  table() {
    const heads = ['', 'Run', 'Input', 'Answer', 'Status', 'Started', 'Time', 'Tokens', 'Cost'];
    const cells = heads.map((head) => (head ? el('th', { scope: 'col' }, head) : el('td', {})));
    return el(
      'table',
      { class: 'runs-table' },
      el('caption', { class: 'hidden-text' }, 'Recorded runs, the newest first'),
      el('thead', {}, el('tr', {}, cells)),
      this.rows,
    );
  }

  show(page) {
    this.page = page;
    replace(this.filters, FILTERS.map(([status, label]) => el('button', {
      type: 'button',
      'aria-pressed': String(status === this.status),
      onclick: () => {
        this.status = status;
        this.show(0);
      },
    }, label)));
    this.load();
  }

  async load() {
    const query = { status: this.status, search: this.search.value, page: this.page };
    const number = (this.number ?? 0) + 1;
    this.number = number;
    try {
      const listed = await call('/api/runs', query);
      if (number !== this.number) return;
      replace(this.problem);
      this.showRuns(listed);
    } catch (error) {
      if (number === this.number) replace(this.problem, errorNote(error.message));
    }
    document.documentElement.dataset.ready = 'true';
  }

  showRuns({ runs, has_more: hasMore }) {
    const focused = document.activeElement?.closest?.('tr')?.dataset.run;
    const isChoice = document.activeElement?.type === 'checkbox';
    const rows = runs.map((run) => this.row(run));
    replace(this.rows, rows.length > 0 ? rows : el('tr', {}, el('td', { colspan: 9, class: 'empty' }, this.nothing())));
    const row = rows.find((candidate) => focused !== undefined && candidate.dataset.run === focused);
    row?.querySelector(isChoice ? 'input' : 'a')?.focus();

    const known = plural(this.page * 50 + runs.length, 'run');
    this.count.textContent = runs.length > 0 ? `${hasMore ? 'more than ' : ''}${known}` : '';
    replace(
      this.pages,
      this.page > 0 && plainButton('Newer', () => this.show(this.page - 1)),
      hasMore && plainButton('Older', () => this.show(this.page + 1)),
    );
  }

  nothing() {
    if (this.search.value) return 'No run matches. The newest 1,000 runs are searched.';
    return this.status ? 'No run matches.' : 'Nothing is recorded here yet.';
  }

  row(run) {
    const totals = run.totals ?? {};
    const number = (totals.input_tokens ?? 0) + (totals.output_tokens ?? 0);
    const tokens = number > 0 ? count(number) : '–';
    const cells = [
      ['Input', this.excerpt(run.input)],
      ['Answer', this.excerpt(run.answer)],
      ['Status', [runTag(run.status), this.about(run)]],
      ['Started', el('time', { title: date(run.started) }, age(run.started))],
      ['Time', duration(totals.seconds)],
      ['Tokens', tokens],
      ['Cost', money(totals.cost)],
    ];
    const row = el(
      'tr',
      {},
      el('td', {}, this.choice(run)),
      el(
        'th',
        { scope: 'row' },
        el('a', { href: addressOf({ run: run.id }) }, el('bdi', {}, oneLine(run.id, 80))),
        el('bdi', { class: 'row-about', title: oneLine(run.flow, 500) }, oneLine(run.flow, 60)),
      ),
      cells.map(([label, content]) => {
        const attributes = { 'data-label': label, class: content === '–' && 'no-value' };
        return el('td', attributes, content);
      }),
    );
    row.dataset.run = run.id;
    return row;
  }

  excerpt(text) {
    return text ? el('bdi', { class: 'excerpt', title: oneLine(text, 500) }, oneLine(text, 160)) : '–';
  }

  about(run) {
    const text = run.error ?? run.waits?.map((wait) => wait.event).join(', ');
    return text && el('span', { class: 'row-about', title: oneLine(text, 500) }, el('bdi', {}, oneLine(text, 80)));
  }

  choice(run) {
    const box = el('input', { type: 'checkbox', 'aria-label': `Compare run ${run.id}` });
    box.checked = this.chosen.has(run.id);
    box.addEventListener('change', () => {
      if (box.checked) this.chosen.add(run.id);
      else this.chosen.delete(run.id);
      this.compare.disabled = this.chosen.size !== 2;
    });
    return box;
  }

  openComparison() {
    const [one, other] = this.chosen;
    location.assign(addressOf({ compare: one, with: other }));
  }
}

/** A dialog that starts a flow. */
class Starter {
  constructor(flows) {
    this.flow = el('select', { id: 'start-flow' }, flows.map((name) => el('option', { value: name }, name)));
    this.input = el('textarea', { id: 'start-input', rows: 6, dir: 'auto' });
    this.name = el('input', { id: 'start-name', type: 'text', maxlength: 200, dir: 'auto', autocomplete: 'off' });
    this.problem = el('div', {});
    this.send = el('button', { type: 'submit', class: 'plain-button primary' }, 'Start');
    const form = el(
      'form',
      {},
      el('h2', {}, 'Start a flow'),
      namedField('Flow', this.flow),
      namedField('Input', this.input),
      namedField(['Name of the run', el('span', { class: 'muted' }, ' (optional)')], this.name),
      this.problem,
      dialogButtons(this.send, () => this.dialog.close()),
    );
    form.addEventListener('submit', (event) => this.start(event));
    this.dialog = el('dialog', { class: 'help', 'aria-label': 'Start a flow' }, form);
  }

  async start(event) {
    event.preventDefault();
    this.send.disabled = true;
    try {
      const id = this.name.value.trim() || undefined;
      const body = { flow: this.flow.value, input: this.input.value, id };
      const { run } = await call('/api/runs', undefined, body);
      location.assign(addressOf({ run }));
    } catch (error) {
      replace(this.problem, errorNote(error.message));
    }
    this.send.disabled = false;
  }
}
