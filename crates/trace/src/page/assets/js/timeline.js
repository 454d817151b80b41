// Bars over time: a row for each node, a bar for each step, and the calls to models inside.

const LANE_HEIGHT = 22;
const MOST_LANES = 60;
const SMALLEST_BAR = 2;
const LARGEST_TIMELINE = 20_000;

class Timeline {
  constructor({ run, onselect }) {
    this.run = run;
    this.onselect = onselect;
    this.zoom = 1;
    this.current = -1;

    this.drawing = svg('svg', { class: 'timeline-drawing', role: 'img' });
    this.marker = svg('rect', { class: 'current-bar', height: LANE_HEIGHT - 6, rx: 3 });
    this.scroll = el(
      'div',
      {
        class: 'timeline-scroll',
        tabindex: '0',
        role: 'group',
        'aria-label': 'Timeline. Plus and minus zoom, the arrow keys scroll.',
      },
      this.drawing,
    );
    this.labels = el('div', { class: 'timeline-labels', 'aria-hidden': 'true' });
    this.element = el(
      'div',
      { class: 'timeline' },
      el(
        'div',
        { class: 'figure-tools' },
        button('Zoom out', 'minus', () => this.zoomBy(1 / 2)),
        button('Show everything', 'everything', () => this.zoomBy(0)),
        button('Zoom in', 'plus', () => this.zoomBy(2)),
      ),
      el('div', { class: 'timeline-body' }, this.labels, this.scroll),
      legend(),
    );

    this.scroll.addEventListener('keydown', (event) => this.key(event));
    this.drawing.addEventListener('click', (event) => this.click(event));
    new ResizeObserver(() => this.draw()).observe(this.scroll);
  }

  update() {
    this.lanes = lanesOf(this.run);
    replace(
      this.labels,
      this.lanes.rows.map((row) =>
        el('div', { class: 'lane-label', title: row.place }, oneLine(row.label, 40)),
      ),
    );
    this.draw();
  }

  /** Zooms around the middle of the view. */
  zoomBy(factor) {
    const { clientWidth, scrollLeft } = this.scroll;
    const middle = (scrollLeft + clientWidth / 2) / this.width;
    const largest = Math.max(1, LARGEST_TIMELINE / clientWidth);
    this.zoom = Math.min(largest, Math.max(1, this.zoom * factor));
    this.draw();
    this.scroll.scrollLeft = middle * this.width - clientWidth / 2;
  }

  key(event) {
    if (event.key === '+' || event.key === '=') this.zoomBy(2);
    else if (event.key === '-') this.zoomBy(1 / 2);
    else if (event.key === '0') this.zoomBy(0);
    else if (event.key === 'ArrowRight') this.scroll.scrollLeft += 80;
    else if (event.key === 'ArrowLeft') this.scroll.scrollLeft -= 80;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  get width() {
    return this.scroll.clientWidth * this.zoom;
  }

  /** Returns where a moment is in the drawing. */
  x(seconds) {
    return (seconds / (this.run.now || 1)) * this.width;
  }

  /** Marks a step, and scrolls it into view. */
  show(index) {
    this.current = index;
    const step = this.run.steps[index];
    if (!step || !this.lanes) return;

    const { scrollLeft, clientWidth } = this.scroll;
    const x = this.x(step.at);
    if (x < scrollLeft || x > scrollLeft + clientWidth)
      this.scroll.scrollLeft = x - clientWidth / 3;
    this.mark();
  }

  mark() {
    const step = this.run.steps[this.current];
    const lane = step && this.lanes.of.get(step.place);
    this.marker.toggleAttribute('hidden', lane === undefined);
    if (lane === undefined) return;

    const width = Math.max(SMALLEST_BAR, this.x(step.took));
    fill(this.marker, { x: this.x(step.at), y: lane * LANE_HEIGHT + 3, width }, []);
  }

  draw() {
    if (!this.lanes || this.scroll.clientWidth === 0) return;
    const height = this.lanes.rows.length * LANE_HEIGHT + 20;
    const label = `${plural(this.run.steps.length, 'step')} in ${duration(this.run.now)}`;
    fill(this.drawing, { width: this.width, height, 'aria-label': label }, []);

    this.hits = [];
    this.drawing.replaceChildren(
      ...this.axis(height),
      ...this.bars(),
      ...this.resumes(height),
      this.marker,
    );
    this.mark();
  }

  bars() {
    const drawn = [];
    const ends = this.lanes.rows.map(() => -Infinity);
    for (const step of this.run.steps) {
      const lane = this.lanes.of.get(step.place);
      const x = this.x(step.at);
      const width = Math.max(SMALLEST_BAR, this.x(step.took));

      // Steps that share a pixel are one bar, so the number of elements depends on the width only.
      if (x + width <= ends[lane] + 0.5 && step.status !== 'failed') continue;
      ends[lane] = Math.max(ends[lane], Math.floor(x + width));
      this.hits.push({ left: x, right: x + width, lane, step });
      drawn.push(...this.bar(step, lane, x, width));
    }
    return drawn;
  }

  bar(step, lane, x, width) {
    const y = lane * LANE_HEIGHT + 3;
    const bar = svg('rect', {
      x,
      y,
      width,
      height: LANE_HEIGHT - 6,
      rx: Math.min(3, width / 2),
      class: `bar ${step.status} ${step.isFromJournal ? 'replayed' : ''}`,
    });
    if (width < 6) return [bar];

    const calls = step.calls.slice(0, 50).map((call) =>
      svg('rect', {
        x: this.x(call.at),
        y: y + 5,
        width: Math.max(1, this.x(call.took ?? 0)),
        height: LANE_HEIGHT - 16,
        rx: 1,
        class: call.error ? 'call-bar failed' : 'call-bar',
      }),
    );
    return [bar, ...calls];
  }

  axis(height) {
    const span = this.run.now || 1;
    const tick = niceTick((span * 110) / this.width);
    const ticks = Array.from({ length: Math.floor(span / tick) + 1 }, (_, index) => index * tick);

    return ticks.flatMap((at) => {
      const x = this.x(at);
      const line = svg('line', { x1: x, x2: x, y1: 0, y2: height - 16, class: 'grid' });
      if (x > this.width - 40) return [line];
      const label = at === 0 ? '0' : duration(at);
      return [line, svg('text', { x: x + 3, y: height - 4, class: 'tick' }, label)];
    });
  }

  /** Returns a line for each time that the run was resumed, with a label if there is room. */
  resumes(height) {
    let end = -Infinity;
    return this.run.resumes.map((resume) => {
      const x = this.x(resume.at);
      const text = `resumed after ${duration(resume.pause)}`;
      const hasRoom = x > end && x + textWidth(text) < this.width;
      if (hasRoom) end = x + textWidth(text);
      return svg(
        'g',
        { class: 'resume' },
        svg('line', { x1: x, x2: x, y1: 0, y2: height - 16 }),
        hasRoom && svg('text', { x: x + 4, y: 11 }, text),
      );
    });
  }

  /** Selects the step that is closest in its lane. */
  click(event) {
    const box = this.drawing.getBoundingClientRect();
    const x = event.clientX - box.left;
    const lane = Math.floor((event.clientY - box.top) / LANE_HEIGHT);
    const near = this.hits.filter((hit) => hit.lane === lane);
    const distance = (hit) => Math.max(0, hit.left - x, x - hit.right);
    near.sort((a, b) => distance(a) - distance(b));
    if (near[0]) this.onselect(near[0].step);
  }
}

/** Returns the rows of the timeline, and that of each place. The last row has all other places. */
function lanesOf(run) {
  const of = new Map();
  const rows = [];
  for (const step of run.steps) {
    if (of.has(step.place)) continue;
    if (rows.length < MOST_LANES) rows.push({ parts: step.place.split('/').map(unescapeName) });
    of.set(step.place, rows.length - 1);
  }

  for (const row of rows) {
    row.place = row.parts.join('/');
    row.label = distinctEnd(row.parts, rows);
  }
  return { of, rows };
}

/** Returns the shortest end of a place that no other place has. */
function distinctEnd(parts, rows) {
  const end = (of, length) => of.slice(-length).join('/');
  let length = 1;
  const isSame = (row) => row.parts !== parts && end(row.parts, length) === end(parts, length);
  while (length < parts.length && rows.some(isSame)) length += 1;
  return end(parts, length);
}

/** Returns a distance between ticks of 1, 2 or 5 times a power of ten. */
function niceTick(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

function legend() {
  const entries = [
    ['bar-mark', 'step'],
    ['call-mark', 'call to a model'],
    ['failed-mark', 'failed'],
    ['waiting-mark', 'waits'],
    ['replayed-mark', 'from the journal'],
  ];
  return el(
    'p',
    { class: 'legend' },
    entries.map(([className, text]) =>
      el(
        'span',
        { class: 'legend-entry' },
        el('i', { class: `legend-mark ${className}` }),
        text,
      ),
    ),
  );
}
